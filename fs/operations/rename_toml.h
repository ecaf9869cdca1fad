// SPDX-License-Identifier: MIT
//
// rename of a file beside a .toml onto that, and of a .toml to a name beside it: how editors and
// copiers replace one.
#ifndef CELLFS_FS_OPERATIONS_RENAME_TOML_H_
#define CELLFS_FS_OPERATIONS_RENAME_TOML_H_

#include "fs/operations/rename.h"

namespace cellfs::fs {

// The schema is what the file in memory says.
Outcome ApplyMemory(const Renaming& with, const SchemaChanges::Turn& turn, const Request& request,
                    const ResolvedEntry& from, const Place& to);
// An editor puts the .toml aside before it writes a new one; the schema stays in force.
Outcome PutTomlAside(const Renaming& with, const Place& from, const Place& to);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_RENAME_TOML_H_
