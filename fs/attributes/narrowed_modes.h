// SPDX-License-Identifier: MIT
//
// NarrowedModes: which renames have narrowed the mode of a column and are still to put its bytes,
// in a row of the table cellfs:attributes. A rename carries bytes, then owner and mode, in two
// steps, of two tables; before the first one it lets nobody into the target whom the source keeps
// out. Should the daemon die in between, the next mount gives the target what it is to show: its
// own mode, or owner and mode of what came.
#ifndef CELLFS_FS_ATTRIBUTES_NARROWED_MODES_H_
#define CELLFS_FS_ATTRIBUTES_NARROWED_MODES_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/cell.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

struct NarrowedMode {
  // The cell or version that is renamed to.
  Place target;
  // What it shows meanwhile: the timestamp; < 0: nothing. It shows another one when the rename has
  // been.
  Timestamp over = -1;
  mode_t before = 0;
  mode_t narrowed = 0;
  OwnerAndMode source;
};

// The row of the table that holds them: no place's (fs/attributes/attribute_rows.h).
inline constexpr std::string_view kNarrowedRow = "//";

// Thread-safe; holds nothing of its own. `table`: the data table's row.
class NarrowedModes {
 public:
  explicit NarrowedModes(const AttributeTable& table) : table_(table) {}

  // Whether what the rename has done can be told afterwards. Of the others the target keeps the
  // narrower mode.
  static bool CanTell(const Place& target, Timestamp over);

  // Before the mode is narrowed; what this returns is for End, when the rename has ended.
  StatusOr<std::string> Begin(const NarrowedMode& narrowed, const std::string& table) const;
  Status End(const std::string& begun) const;

  struct Unfinished {
    std::string begun;
    NarrowedMode narrowed;
    std::string table;
  };
  // Those that have begun before `time` and have not ended.
  StatusOr<std::vector<Unfinished>> All(Timestamp time) const;

 private:
  const AttributeTable& table_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_NARROWED_MODES_H_
