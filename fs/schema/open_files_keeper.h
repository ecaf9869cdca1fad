// SPDX-License-Identifier: MIT
//
// OpenFilesKeeper: how columns go that go together, with their table or family. Who has a file of
// theirs open goes on with what it held, as after unlink.
#ifndef CELLFS_FS_SCHEMA_OPEN_FILES_KEEPER_H_
#define CELLFS_FS_SCHEMA_OPEN_FILES_KEEPER_H_

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "engine/names.h"
#include "engine/status.h"

namespace cellfs::fs {

// Thread-safe.
class OpenFilesKeeper {
 public:
  virtual ~OpenFilesKeeper() = default;

  // Calls `drop`, which drops or empties these families of the table (nullopt: all), and returns
  // what it returns. Meanwhile nobody opens, reads or changes a file of theirs: what one does before
  // is kept, and who comes after it finds what is there then. Under no lock of such a column. `drop`
  // does not wait for the kernel, which may wait for a request that waits for it.
  virtual Status Drop(const TableName& table,
                      const std::optional<std::set<std::string>>& families,
                      const std::function<Status()>& drop) = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_OPEN_FILES_KEEPER_H_
