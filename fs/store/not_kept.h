// SPDX-License-Identifier: MIT
//
// What of the tree's promises a store cannot keep, in words for who looks at a mount
// (/.cellfs/status, cellfs status). The manual has the same as a table.
#ifndef CELLFS_FS_STORE_NOT_KEPT_H_
#define CELLFS_FS_STORE_NOT_KEPT_H_

#include <string>
#include <vector>

#include "engine/store_traits.h"

namespace cellfs::fs {

// A line each; nothing for a store that offers everything.
std::vector<std::string> NotKept(const StoreTraits& traits);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_NOT_KEPT_H_
