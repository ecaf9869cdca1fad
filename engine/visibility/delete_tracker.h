// SPDX-License-Identifier: MIT
//
// DeleteTracker: remembers the tombstones of a row and family as they are met and tells which puts
// they hide, whatever the order of writing (HBase's ScanDeleteTracker; NEW_VERSION_BEHAVIOR has its
// own, new_version_tracker.h). Relies on cell order: family tombstones come first, and a tombstone
// comes before the puts it hides.
#ifndef CELLFS_ENGINE_VISIBILITY_DELETE_TRACKER_H_
#define CELLFS_ENGINE_VISIBILITY_DELETE_TRACKER_H_

#include <set>
#include <string>

#include "engine/cell.h"

namespace cellfs {

class DeleteTracker {
 public:
  enum class Result {
    kNotDeleted,
    kVersionDeleted,  // this put; an older one of the column may live
    kColumnDeleted,   // this put and all that follow in its column
  };

  void Reset();  // before each row
  void Add(const CellView& tombstone);
  Result IsDeleted(const CellView& put);
  // True where a tombstone met before hides all that this one could (HBASE-30036).
  bool IsRedundant(const CellView& tombstone) const;

 private:
  bool has_family_stamp_ = false;
  Timestamp family_stamp_ = 0;
  std::set<Timestamp> family_version_stamps_;

  // The tombstone in force for the column being walked.
  bool has_column_tombstone_ = false;
  std::string qualifier_;
  CellType type_ = CellType::kDelete;
  Timestamp timestamp_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_DELETE_TRACKER_H_
