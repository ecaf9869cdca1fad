// SPDX-License-Identifier: MIT
//
// .schema.toml and .namespace.toml as files: reading describes, a written file is applied at close.
#ifndef CELLFS_FS_TOML_FILES_H_
#define CELLFS_FS_TOML_FILES_H_

#include <string>

#include "fs/mount_context.h"
#include "fs/outcome.h"
#include "fs/place.h"

namespace cellfs::fs {

// The text of a kSchemaFile or kNamespaceFile as it stands now.
OutcomeOr<std::string> TomlText(MountContext& mount, const Place& file);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TOML_FILES_H_
