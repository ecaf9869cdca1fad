// SPDX-License-Identifier: MIT
//
// LostStates: from when on a family can still be shown as it was, as far as a rewrite knows. A put
// that it drops was what a reader saw until something newer came: of a time before that nobody can say
// any more what there was. What a TTL has ended is no loss, for it is gone from the past as well.
#ifndef CELLFS_ENGINE_VISIBILITY_LOST_STATES_H_
#define CELLFS_ENGINE_VISIBILITY_LOST_STATES_H_

#include <string>

#include "engine/cell.h"
#include "engine/schema.h"

namespace cellfs {

// Not thread-safe.
class LostStates {
 public:
  LostStates(const FamilySchema& family, Timestamp now);

  // Every cell of the rewrite, in order.
  void See(const CellView& cell, bool stays);
  // Each state of this time or later is whole. Rather too late than too early.
  Timestamp complete_since() const { return complete_since_; }

 private:
  void BeginRow(const CellView& cell);
  void BeginColumn(const CellView& cell);
  void SeePut(const CellView& put, bool stays);
  bool HasExpired(const CellView& put) const;

  const Timestamp now_;
  const Timestamp oldest_unexpired_;
  bool is_first_ = true;
  std::string row_;
  std::string qualifier_;
  Timestamp family_deleted_ = kNone;   // the row's family
  bool has_family_versions_ = false;   // tombstones of the row's DeleteFamilyVersion
  Timestamp version_deleted_ = kNone;  // the last one of the column
  Timestamp superseded_ = kNone;       // up to when what comes next of the column was seen
  Timestamp complete_since_ = 0;

  static constexpr Timestamp kNone = -1;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_LOST_STATES_H_
