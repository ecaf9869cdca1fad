// SPDX-License-Identifier: MIT
//
// From a directory and a name to the place that the name denotes there. The other way is
// MountContext::FileName.
#ifndef CELLFS_FS_RESOLVE_CHILD_PLACE_H_
#define CELLFS_FS_RESOLVE_CHILD_PLACE_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What a name is wanted for decides its errors (ENOENT on look-up; EILSEQ, ENAMETOOLONG on
// creation) and, beside a .toml and in .versions, its meaning: a file that is made there may be a
// temporary.
enum class NameUse { kLookUp, kCreateFile, kCreateDirectory };

// Whether or not anything is there. Reads the store only for names in the long form. EPERM where no
// such thing can be made there.
OutcomeOr<Place> ChildPlace(MountContext& mount, const Caller& caller, const Place& directory,
                            std::string_view name, NameUse use);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_CHILD_PLACE_H_
