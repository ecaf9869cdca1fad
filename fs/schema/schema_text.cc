// SPDX-License-Identifier: MIT
#include "fs/schema/schema_text.h"

namespace cellfs::fs {

OutcomeOr<TableFile> DescribeTable(const Reading& reading, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, reading.DescribeTable(place));
  TableFile file;
  file.schema = *schema;
  CELLFS_ASSIGN_OR_RETURN(file.enabled, reading.IsTableEnabled(place));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, reading.TableSpaceQuota(place));
  return file;
}

OutcomeOr<NamespaceFile> DescribeNamespace(const Reading& reading, const Place& place) {
  NamespaceFile file;
  CELLFS_ASSIGN_OR_RETURN(file.schema, reading.DescribeNamespace(place));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, reading.NamespaceSpaceQuota(place));
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
