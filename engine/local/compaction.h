// SPDX-License-Identifier: MIT
//
// Compaction: removes from a store file, in place, what HBase's compaction would not carry over.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/local/dropped_columns.h"
#include "engine/local/store_file.h"
#include "engine/visibility/compaction_matcher.h"

namespace cellfs {

// A pass over one family in batches of whole rows: of a row either nothing or everything has gone,
// for what a tombstone hides must not show once that has been removed.
class FamilyCompaction {
 public:
  // Cells of the file that a withdrawal not yet flushed takes back hide nothing and do not count.
  using IsWithdrawn = std::function<bool(const CellView& cell)>;

  FamilyCompaction(FamilySchema family, const Rewrite& rewrite)
      : family_(std::move(family)), matcher_(MakeCompactionMatcher(family_, rewrite)) {}

  // Looks at the next rows, some ten thousand cells, and removes what is to go, of which `dropped`
  // is told. True: there are more.
  StatusOr<bool> RunBatch(StoreFileWriter& writer, const IsWithdrawn& is_withdrawn,
                          DroppedColumns& dropped);
  const std::string& family() const { return family_.name(); }

 private:
  Status EraseDoomed(StoreFileWriter& writer);

  const FamilySchema family_;
  const std::unique_ptr<CompactionMatcher> matcher_;
  std::string next_row_;
  std::vector<Cell> doomed_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_H_
