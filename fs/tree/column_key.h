// SPDX-License-Identifier: MIT
//
// ColumnKey: which column a place is in, in one string, for tables that keep very many of them.
#ifndef CELLFS_FS_TREE_COLUMN_KEY_H_
#define CELLFS_FS_TREE_COLUMN_KEY_H_

#include <string>

#include "fs/tree/place.h"

namespace cellfs::fs {

class ColumnKey {
 public:
  // A place of any kind in the column.
  explicit ColumnKey(const Place& column);
  // Allocates nothing.
  bool IsOf(const Place& column) const;

 private:
  // The lengths of all parts but the last, then the parts.
  std::string bytes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_COLUMN_KEY_H_
