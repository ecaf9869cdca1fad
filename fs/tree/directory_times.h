// SPDX-License-Identifier: MIT
//
// DirectoryTimes: when an entry of a directory last came or went through this mount. Such a time is
// shown from here and stored a minute later, when very many have come together, and at unmount; a
// store for each file that is made would cost as much as the file.
#ifndef CELLFS_FS_TREE_DIRECTORY_TIMES_H_
#define CELLFS_FS_TREE_DIRECTORY_TIMES_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class DirectoryTimes {
 public:
  struct Change {
    Place directory;
    Timestamp time = 0;  // milliseconds
    bool was_kept = false;
  };

  // True once so many have come together that they should be stored.
  bool Note(const Place& directory, Timestamp time);
  // What came last was put at this time, if that is later; not where a time was set since it came.
  // Whether another time is shown now.
  bool Settle(const Place& directory, Timestamp time);
  // The first cell of the directory was put, or went. What it shows by itself (Node::first_time) it
  // shows from now on because of this.
  void Keep(const Place& directory, const std::atomic<Timestamp>& first_time);
  // Somebody has set its time.
  void Forget(const Place& directory);
  // The table has gone, with all that was in it.
  void ForgetTable(const TableName& table);

  // The table has another name: the times in it go along.
  void MoveTable(const TableName& from, const TableName& to);

  std::optional<Timestamp> Find(const Place& directory) const;
  std::vector<Change> All() const;
  // It is stored, or shown by the directory itself: forgotten here, unless something came since.
  void Stored(const Change& change);

 private:
  struct Noted {
    Timestamp time = 0;
    bool was_kept = false;
  };

  mutable std::mutex mutex_;
  std::unordered_map<Place, Noted, PlaceHash> changes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_DIRECTORY_TIMES_H_
