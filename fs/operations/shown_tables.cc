// SPDX-License-Identifier: MIT
#include "fs/operations/shown_tables.h"

#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

Status NoTable(const TableName& table) {
  return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' does not exist"};
}

}  // namespace

Status CheckIsShown(const TableName& table) {
  return table.namespace_name == kHiddenNamespace ? NoTable(table) : Status();
}

Status CheckIsShown(const std::string& name_space) {
  if (name_space != kHiddenNamespace) return {};
  return {StatusCode::kNamespaceNotFound, "namespace '" + name_space + "' does not exist"};
}

Status CheckIsShown(const GrantScope& scope) {
  return scope.table ? CheckIsShown(*scope.table) : CheckIsShown(scope.namespace_name);
}

}  // namespace cellfs::fs
