// SPDX-License-Identifier: MIT
#include "fs/store/not_kept.h"

namespace cellfs::fs {

std::vector<std::string> NotKept(const StoreTraits& traits) {
  std::vector<std::string> lines;
  if (traits.has_other_writers) {
    lines.push_back("others write too; it is seen after " +
                    std::to_string(traits.max_staleness_ms) + " ms at the latest");
  }
  if (!traits.withdraws) {
    lines.emplace_back("renaming a file leaves a tombstone, unless its name is a temporary's");
    lines.emplace_back("rm .deleted/NAME frees nothing (EOPNOTSUPP)");
  }
  if (traits.tables_need_a_family)
    lines.emplace_back("a table without families is this mount's alone, until it ends");
  if (!traits.stamps_above_column)
    lines.emplace_back("each write looks at its column first, which is a request more");
  if (!traits.keeps_deleted)
    lines.emplace_back("what is deleted is gone at once: there is no .deleted");
  if (!traits.pins_moments)
    lines.emplace_back(".asof shows what the families still keep; a compaction may take it away");
  if (!traits.has_statistics)
    lines.emplace_back("sizes, log, memory and free space are the store's own affair");
  return lines;
}

}  // namespace cellfs::fs
