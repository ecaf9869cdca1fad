// SPDX-License-Identifier: MIT
//
// The text of .schema.toml and .namespace.toml. Reading one back says the same schema.
//
//     enabled = true
//     open = false                        # whether mkdir in a row may declare a new family
//     READONLY = false                    # every attribute of HBase by its name, and free metadata
//     splits = ["g", "t"]                 # or {algorithm = "hex", start = "00", end = "ff",
//     regions = 8}
//
//     [space_quota]
//     limit = 1073741824                  # bytes
//     policy = "NO_INSERTS"
//
//     [families.anchor]
//     VERSIONS = 3
//     drop = true                         # written only: the family goes with its data
//
// Split keys and family names that are not UTF-8 are spelled as names=printable spells rows.
// A file says all there is to say: what it leaves out has HBase's default, or is not there.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_FILE_H_
#define CELLFS_FS_SCHEMA_SCHEMA_FILE_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/admin.h"
#include "engine/schema.h"

namespace cellfs::fs {

// Free metadata of a table: mkdir in its rows may declare families.
inline constexpr std::string_view kOpenAttribute = "cellfs.open";
bool IsOpen(const TableSchema& schema);

struct TableFile {
  TableSchema schema;  // without the families of `dropped`
  bool enabled = true;
  std::optional<SpaceQuota> space_quota;
  std::set<std::string> dropped;  // families that say drop = true
  bool has_splits = false;        // whether the file names splits; they stay as they are else
};

struct NamespaceFile {
  NamespaceSchema schema;
  std::optional<SpaceQuota> space_quota;
};

std::string WriteTableFile(const TableFile& file);
std::string WriteNamespaceFile(const NamespaceFile& file);

// kIllegalArgument: "line 4: VERSIONS: ..." names line, key and what is allowed.
StatusOr<TableFile> ReadTableFile(std::string_view text, const TableName& name);
StatusOr<NamespaceFile> ReadNamespaceFile(std::string_view text, const std::string& name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_FILE_H_
