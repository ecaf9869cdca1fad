// SPDX-License-Identifier: MIT
//
// CompactionMatcher: which cells a flush or a compaction of a family keeps (HBase's
// CompactionScanQueryMatcher and its kinds). Pure: shown every cell to be rewritten, in order, it
// answers keep or drop.
#ifndef CELLFS_ENGINE_VISIBILITY_COMPACTION_MATCHER_H_
#define CELLFS_ENGINE_VISIBILITY_COMPACTION_MATCHER_H_

#include <memory>

#include "engine/cell.h"
#include "engine/schema.h"

namespace cellfs {

enum class RewriteKind {
  kMinor,  // a flush, and a compaction that leaves a file out: keeps tombstones
  kMajor,  // drops tombstones too
};

struct Rewrite {
  RewriteKind kind = RewriteKind::kMinor;
  Timestamp now = 0;
  // Of the family's flushed cells as they were before the compaction (HBase asks its store files,
  // not the memstore); decides how long KEEP_DELETED_CELLS TRUE keeps a tombstone.
  // kLatestTimestamp: there is no put.
  Timestamp oldest_put = kLatestTimestamp;
  // Cells with a sequence id up to this one stay, and so does every tombstone, since a pinned
  // Moment may see the difference. 0: no moment is pinned.
  SequenceId keep_up_to = 0;
  int64_t time_to_purge_deletes = 0;  // hbase.hstore.time.to.purge.deletes, ms
};

// Not thread-safe.
class CompactionMatcher {
 public:
  virtual ~CompactionMatcher() = default;
  // Cells of all rows in order; rows may be told apart by cell.row.
  virtual bool Keep(const CellView& cell) = 0;
};

// Older tombstones hide what they mark from rewrites, and a major compaction drops both; those from
// then on it keeps, with what they mark. kLatestTimestamp: it keeps none.
Timestamp OldestKeptTombstone(const FamilySchema& family, Timestamp now,
                              int64_t time_to_purge_deletes);

std::unique_ptr<CompactionMatcher> MakeCompactionMatcher(const FamilySchema& family,
                                                         const Rewrite& rewrite);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_COMPACTION_MATCHER_H_
