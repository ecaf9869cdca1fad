// SPDX-License-Identifier: MIT
//
// The store's rights to change what it holds no cell of: owner, mode and times, and the directories
// that mkdir makes and rmdir removes. They are those of who may put into it:
//
//     a root, namespace, table or .toml    to alter that
//     a row                                W on something of the table
//     a family, and what is in it          W on something of the family
//     a column                             W on it
#ifndef CELLFS_FS_READING_CHANGE_RIGHTS_H_
#define CELLFS_FS_READING_CHANGE_RIGHTS_H_

#include "engine/caller.h"
#include "engine/status.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// kAccessDenied. That a table is READONLY or disabled is about its cells alone.
Status CheckMayChange(const Reading& reading, const Caller& caller, const Place& place);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_CHANGE_RIGHTS_H_
