// SPDX-License-Identifier: MIT
//
// RecentChanges: what this mount made of columns within the last hour (temporary_age_ms), so that
// temporary files leave no trace and a save adds one version: which column got its first version
// here, and which has the tombstone that a rename left. Bounded: of very many changes the oldest
// are forgotten, and those columns keep their tombstones.
#ifndef CELLFS_FS_TREE_RECENT_CHANGES_H_
#define CELLFS_FS_TREE_RECENT_CHANGES_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/clock.h"
#include "fs/tree/column_key.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe. Columns are places of any kind in them.
class RecentChanges {
 public:
  RecentChanges(const Clock& clock, int64_t age_ms) : clock_(clock), age_ms_(age_ms) {}

  void NoteCreated(const Place& column, Timestamp version);
  std::optional<Timestamp> CreatedVersion(const Place& column);

  void NoteRenamedAway(const Place& column, Timestamp tombstone);
  std::optional<Timestamp> RenamedAwayTombstone(const Place& column);

  void Forget(const Place& column);

  // A family that mkdir declared in this mount, until somebody says himself what the table's schema
  // is; unbounded, as families are few.
  void NoteDeclared(const Place& family);
  bool WasDeclared(const Place& family) const;
  void ForgetDeclared(const TableName& table);

 private:
  struct Change {
    Timestamp timestamp;
    Timestamp when;
  };
  class Changes {
   public:
    void Note(const Place& column, Change change);
    std::optional<Change> Find(const Place& column) const;
    void Forget(const Place& column);

   private:
    struct Noted {
      ColumnKey column;
      Change change;
    };
    // By ColumnNumber.
    using ByColumn = std::unordered_multimap<uint64_t, Noted>;
    ByColumn::const_iterator FindNoted(const Place& column, uint64_t number) const;
    void ForgetOldest();

    ByColumn changes_;
    std::deque<std::pair<uint64_t, Timestamp>> order_;
  };

  std::optional<Timestamp> Find(const Changes& changes, const Place& column) const;

  const Clock& clock_;
  const int64_t age_ms_;
  mutable std::mutex mutex_;  // a leaf; guards the rest
  Changes created_;
  Changes renamed_away_;
  std::set<std::pair<TableName, std::string>> declared_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_RECENT_CHANGES_H_
