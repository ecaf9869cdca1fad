// SPDX-License-Identifier: MIT
#include "fs/schema/schema_text.h"

namespace cellfs::fs {

OutcomeOr<TableFile> DescribeTable(const Reading& reading, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, reading.DescribeTable(table));
  TableFile file;
  file.schema = *schema;
  CELLFS_ASSIGN_OR_RETURN(file.enabled, reading.IsTableEnabled(table));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, reading.TableSpaceQuota(table));
  return file;
}

OutcomeOr<NamespaceFile> DescribeNamespace(const Reading& reading, const std::string& name) {
  NamespaceFile file;
  CELLFS_ASSIGN_OR_RETURN(file.schema, reading.DescribeNamespace(name));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, reading.NamespaceSpaceQuota(name));
  return file;
}

OutcomeOr<std::string> TomlText(const Reading& reading, const Place& file) {
  if (file.kind == PlaceKind::kNamespaceFile) {
    CELLFS_ASSIGN_OR_RETURN(auto described, DescribeNamespace(reading, file.table.namespace_name));
    return WriteNamespaceFile(described);
  }
  CELLFS_ASSIGN_OR_RETURN(auto described, DescribeTable(reading, file.table));
  return WriteTableFile(described);
}

}  // namespace cellfs::fs
