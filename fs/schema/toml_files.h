// SPDX-License-Identifier: MIT
//
// .schema.toml and .namespace.toml as files: reading describes, a written file is applied at close.
#ifndef CELLFS_FS_SCHEMA_TOML_FILES_H_
#define CELLFS_FS_SCHEMA_TOML_FILES_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// The text of a kSchemaFile or kNamespaceFile as it stands now.
OutcomeOr<std::string> TomlText(MountContext& mount, const Place& file);

// Creates or alters what the text says. EINVAL, and nothing done, where it does not parse, leaves
// out a family without saying drop = true, or changes the split keys. `mtime`: the time that the
// program set.
Outcome ApplyToml(MountContext& mount, const Caller& caller, const Place& file,
                  std::string_view text, std::optional<timespec> mtime = std::nullopt);
// Tells the kernel, afterwards and also where that failed, for a part of it may be in force: what a
// schema says decides which names are found and for how long.
void TellTomlApplied(MountContext& mount, const Place& file);

// The text changed just now, by a command or by mkdir: what it shows as its time lasts over
// remounts.
Status NoteTomlChanged(MountContext& mount, const Place& table_or_namespace,
                       std::optional<timespec> mtime = std::nullopt);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_TOML_FILES_H_
