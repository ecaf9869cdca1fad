// SPDX-License-Identifier: MIT
//
// What a flush, a minor and a major compaction keep of one family, row by row (HBase's
// CompactionScanQueryMatcher and its kinds, DropDeletesCompactionScanQueryMatcher).
#ifndef CELLFS_ENGINE_MEMORY_NAIVE_REWRITE_H_
#define CELLFS_ENGINE_MEMORY_NAIVE_REWRITE_H_

#include "engine/memory/family_row.h"

namespace cellfs {

struct NaiveRewrite {
  bool major = false;  // else the rules of a flush: tombstones stay
  Timestamp now = 0;
  Timestamp oldest_put = kLatestTimestamp;  // of all of the family's files
  int64_t time_to_purge_deletes = 0;
  // The newest pinned moment's. What is as old as that stays, since the moment may see it, and so
  // do tombstones, since the present may need them against it. 0: no moment is pinned.
  SequenceId keep_up_to = 0;
};

// `cells`: of one row and family, in cell order. Answers those that are kept, in order.
CellList Rewritten(const CellList& cells, const FamilySchema& family, const NaiveRewrite& rewrite);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_NAIVE_REWRITE_H_
