// SPDX-License-Identifier: MIT
//
// DirectoryTimes: when an entry of a directory last came or went through this mount. Such a time is
// shown from here and stored a minute later, when very many have come together, and at unmount; a
// store for each file that is made would cost as much as the file.
#ifndef CELLFS_FS_ATTRIBUTES_DIRECTORY_TIMES_H_
#define CELLFS_FS_ATTRIBUTES_DIRECTORY_TIMES_H_

#include <cstdint>
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
  };

  // True once so many have come together that they should be stored.
  bool Note(const Place& directory, Timestamp time);
  // What came last was put at this time, if that is later; not where a time was set since it came.
  // Whether another time is shown now.
  bool Settle(const Place& directory, Timestamp time);
  // Somebody has set its time.
  void Forget(const Place& directory);

  std::optional<Timestamp> Find(const Place& directory) const;
  std::vector<Change> All() const;
  // It is stored: forgotten here, unless it has changed again.
  void Stored(const Change& change);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Place, Timestamp, PlaceHash> changes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_DIRECTORY_TIMES_H_
