// SPDX-License-Identifier: MIT
//
// .schema.toml and .namespace.toml as they are read: what is in force, or was at the time of a
// view, described.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_TEXT_H_
#define CELLFS_FS_SCHEMA_SCHEMA_TEXT_H_

#include <string>

#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/schema/schema_file.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

OutcomeOr<TableFile> DescribeTable(const Reading& reading, const Place& place);
OutcomeOr<NamespaceFile> DescribeNamespace(const Reading& reading, const Place& place);

// The text of a kSchemaFile or kNamespaceFile as it stands now.
OutcomeOr<std::string> TomlText(const Reading& reading, const Place& file);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_TEXT_H_
