// SPDX-License-Identifier: MIT
#include "fs/schema/schema_text.h"

#include <utility>

namespace cellfs::fs {

OutcomeOr<TableFile> DescribeTable(const Reading& reading, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(const PastTable table, reading.DescribeWholeTable(place));
  TableFile file;
  file.schema = *table.schema;
  file.enabled = table.enabled;
  file.space_quota = table.space_quota;
  return file;
}

OutcomeOr<NamespaceFile> DescribeNamespace(const Reading& reading, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(PastNamespace name_space, reading.DescribeWholeNamespace(place));
  NamespaceFile file;
  file.schema = std::move(name_space.schema);
  file.space_quota = name_space.space_quota;
  return file;
}

OutcomeOr<std::string> TomlText(const Reading& reading, const Place& file) {
  if (file.kind == PlaceKind::kNamespaceFile) {
    CELLFS_ASSIGN_OR_RETURN(auto described, DescribeNamespace(reading, file));
    return WriteNamespaceFile(described);
  }
  CELLFS_ASSIGN_OR_RETURN(auto described, DescribeTable(reading, file));
  return WriteTableFile(described);
}

}  // namespace cellfs::fs
