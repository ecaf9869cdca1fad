// SPDX-License-Identifier: MIT
#include "fs/store/not_kept.h"

namespace cellfs::fs {

std::vector<std::string> NotKept(const StoreTraits& traits) {
  std::vector<std::string> lines;
  if (traits.has_other_writers) {
    lines.push_back("others write too; it is seen after " +
                    std::to_string(traits.max_staleness_ms) + " ms at the latest");
    lines.emplace_back(
        "O_EXCL, flock, inotify and tail -f hold among the processes of this mount alone");
    lines.emplace_back("rmdir of a family leaves it declared, for others may write to it");
  }
  if (!traits.withdraws) {
    lines.emplace_back("renaming a file leaves a tombstone, unless its name is a temporary's");
    lines.emplace_back("rm .deleted/NAME frees nothing (EOPNOTSUPP)");
    lines.emplace_back(
        "DELETED_TTL has no effect: KEEP_DELETED_CELLS says how long what was deleted is kept");
    lines.emplace_back("user.cellfs.ttl is set of a file that is being written alone");
  }
  if (traits.tables_need_a_family)
    lines.emplace_back("a table without families is this mount's alone, until it ends");
  if (!traits.renames_tables) lines.emplace_back("a table has one name for ever: mv of it is EXDEV");
  if (!traits.keeps_dropped)
    lines.emplace_back("a table or namespace that is dropped is gone at once, with its cells");
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
