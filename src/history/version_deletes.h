// SPDX-License-Identifier: MIT
//
// VersionDeletes: whether what a reader saw of a column at a time depends on when a version was
// deleted. Such a delete (Delete, DeleteFamilyVersion) has the timestamp of what it deletes, so that
// nobody can say whether it was there at the time already: the column is known only where it shows
// the same with those deletes and without them.
//
// Is shown what a FamilyReplay is shown.
#ifndef CELLFS_SRC_HISTORY_VERSION_DELETES_H_
#define CELLFS_SRC_HISTORY_VERSION_DELETES_H_

#include <set>

#include "src/history/replay.h"

namespace cellfs {

// Not thread-safe.
class VersionDeletes {
 public:
  // `family` outlives it.
  VersionDeletes(const FamilySchema& family, ReplayTime time)
      : family_(family), time_(time), with_(family, time), without_(family, time) {}

  void BeginFamily();  // of a row
  void BeginColumn();
  // `loses`: of a tombstone, that the store need not have kept the version that it hides.
  void See(const Cell& cell, bool loses);
  // REQUIRES: all cells of the column were shown.
  bool Matter();
  // The same of columns of the row of which no cell is left.
  bool MatterToUnnamed() const;

 private:
  void SeeDelete(const Cell& tombstone, bool loses);
  bool WouldShow(Timestamp lost) const;

  const FamilySchema& family_;
  const ReplayTime time_;
  FamilyReplay with_;
  FamilyReplay without_;
  // Of versions that may have been there and are not kept. The family's:
  std::set<Timestamp> family_lost_;
  Timestamp family_up_to_ = -1;
  bool family_has_any_ = false;
  // The column's:
  std::set<Timestamp> lost_;
  Timestamp column_up_to_ = -1;
  bool has_any_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_VERSION_DELETES_H_
