// SPDX-License-Identifier: MIT
#include "fs/operations/shown_tables.h"

#include "fs/tree/hidden_tables.h"

namespace cellfs::fs {
namespace {

Status NoTable(const TableName& table) {
  return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' does not exist"};
}

}  // namespace

Status CheckIsShown(const MountOptions& options, const TableName& table) {
  return IsHidden(options, table) ? NoTable(table) : Status();
}

Status CheckIsShown(const MountOptions& /*options*/, const std::string& name_space) {
  if (name_space != kHiddenNamespace) return {};
  return {StatusCode::kNamespaceNotFound, "namespace '" + name_space + "' does not exist"};
}

Status CheckIsShown(const MountOptions& options, const GrantScope& scope) {
  return scope.table ? CheckIsShown(options, *scope.table)
                     : CheckIsShown(options, scope.namespace_name);
}

}  // namespace cellfs::fs
