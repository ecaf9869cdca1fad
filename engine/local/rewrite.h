// SPDX-License-Identifier: MIT
//
// RewriteFamily: carries cells of one family into a new store file and leaves out what HBase's
// rules drop: of a memstore a flush, of several files a compaction. Withdrawals are carried out on
// the way.
#ifndef CELLFS_ENGINE_LOCAL_REWRITE_H_
#define CELLFS_ENGINE_LOCAL_REWRITE_H_

#include <functional>
#include <memory>
#include <vector>

#include "engine/file/store_file_builder.h"
#include "engine/local/dropped_columns.h"
#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/compaction_matcher.h"

namespace cellfs {

// What is rewritten, and what is known of what is not.
struct RewriteInput {
  // Every cell, withdrawals too. The withdrawals of one column and timestamp come from one cursor,
  // or from cursors whose sequence ids do not overlap.
  std::vector<std::unique_ptr<CellCursor>> cells;
  // Withdrawals alone, of files that are newer than `cells`. What they take back goes.
  std::vector<std::unique_ptr<CellCursor>> newer_withdrawals;
  // Of all cells those with a greater sequence id are tombstones of newer files: what they hide
  // goes, and they stay where they are.
  SequenceId highest = kMaxSequenceId;
  // Whether a memstore that is not rewritten withdraws the cell. What is withdrawn so hides nothing
  // and does not count, but it stays until its withdrawal is in a file as well: a power failure may
  // take that from the log.
  std::function<bool(const CellView& cell)> is_withdrawn_in_memory;
  // Whether a file that is older than `cells` may hold what the withdrawal takes back. Then it
  // stays.
  std::function<bool(const CellView& withdrawal)> older_may_hold;
  // The rewrite ends with kCancelled.
  std::function<bool()> stopped;
};

// Takes the cell at the cursor, which stays.
using RewriteOutput = std::function<Status(CellCursor& cell)>;

// Loads the value and puts the cell.
RewriteOutput Into(StoreFileBuilder& builder);

// `dropped` is told of what the rules leave out. The result: from when on it leaves all states of
// the family as they were (LostStates). kCorruption: a cell cannot be read.
StatusOr<Timestamp> RewriteFamily(RewriteInput input, const FamilySchema& family,
                                  const Rewrite& rules, const RewriteOutput& output,
                                  DroppedColumns& dropped);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_REWRITE_H_
