// SPDX-License-Identifier: MIT
//
// hbase:acl has a row for each thing that rights are granted on: "ns:table", "@namespace", or its
// own name for what holds everywhere. In it, a cell of l:user, l:user,family or
// l:user,family,qualifier, whose value is the letters of the rights (PermissionStorage).
#include "engine/hbase/grants.h"

#include <hbase.pb.h>

#include <array>
#include <utility>

#include "engine/hbase/reads.h"
#include "engine/hbase/schemas.h"

namespace cellfs::hbase {
namespace {

const TableName kAclTable{.namespace_name = "hbase", .name = "acl"};
constexpr char kNamespaceMark = '@';

constexpr std::array<std::pair<char, pb::Permission::Action>, 5> kActions = {{
    {'R', pb::Permission::READ},
    {'W', pb::Permission::WRITE},
    {'X', pb::Permission::EXEC},
    {'C', pb::Permission::CREATE},
    {'A', pb::Permission::ADMIN},
}};

template <typename Message>
void AddActions(const std::string& letters, Message& message) {
  for (const auto& [letter, action] : kActions) {
    if (letters.find(letter) != std::string::npos) message.add_action(action);
  }
}

void WritePermission(const std::string& user, const GrantScope& scope, const std::string& letters,
                     pb::UserPermission& message) {
  message.set_user(user);
  pb::Permission& permission = *message.mutable_permission();
  if (scope.table) {
    permission.set_type(pb::Permission::Table);
    pb::TablePermission& on_table = *permission.mutable_table_permission();
    Write(*scope.table, *on_table.mutable_table_name());
    if (!scope.family.empty()) on_table.set_family(scope.family);
    if (scope.qualifier) on_table.set_qualifier(*scope.qualifier);
    AddActions(letters, on_table);
  } else if (!scope.namespace_name.empty()) {
    permission.set_type(pb::Permission::Namespace);
    permission.mutable_namespace_permission()->set_namespace_name(scope.namespace_name);
    AddActions(letters, *permission.mutable_namespace_permission());
  } else {
    permission.set_type(pb::Permission::Global);
    AddActions(letters, *permission.mutable_global_permission());
  }
}

Status AreOff() {
  return {StatusCode::kUnsupportedOperation,
          "the cluster keeps no rights: its AccessController is not loaded"};
}

// The master tells by text that nobody there knows of rights.
Status Told(const Status& status) {
  return status.message().find("is not loaded") != std::string::npos ? AreOff() : status;
}

GrantScope ScopeOf(const Cell& cell, std::string_view columns) {
  GrantScope scope;
  if (cell.row.starts_with(kNamespaceMark)) {
    scope.namespace_name = cell.row.substr(1);
  } else if (cell.row != kAclTable.ToString()) {
    scope.table = ParseTableName(cell.row);
    const size_t comma = columns.find(',');
    scope.family = columns.substr(0, comma);
    if (comma != columns.npos) scope.qualifier = std::string(columns.substr(comma + 1));
  }
  return scope;
}

Grant GrantOf(const Cell& cell) {
  const std::string_view key = cell.qualifier;
  const size_t comma = key.find(',');
  Grant grant{.user = std::string(key.substr(0, comma)), .scope = {}, .permissions = {}};
  grant.scope = ScopeOf(cell, comma == key.npos ? std::string_view() : key.substr(comma + 1));
  for (const auto& [letter, action] : kActions) {
    if (cell.value.find(letter) != std::string::npos) grant.permissions += letter;
  }
  return grant;
}

}  // namespace

Status GrantRights(Master& master, const Grant& grant, bool merge, const Patience& patience) {
  pb::GrantRequest request;
  WritePermission(grant.user, grant.scope, grant.permissions, *request.mutable_user_permission());
  request.set_merge_existing_permissions(merge);
  pb::GrantResponse response;
  return Told(master.DoAgain("Grant", request, response, patience));
}

Status RevokeRights(Master& master, const std::string& user, const GrantScope& scope,
                    const Patience& patience) {
  pb::RevokeRequest request;
  WritePermission(user, scope, "RWXCA", *request.mutable_user_permission());
  pb::RevokeResponse response;
  return Told(master.DoAgain("Revoke", request, response, patience));
}

StatusOr<std::vector<Grant>> GrantsOf(Regions& regions, SteadyClock::duration within) {
  Scan scan;
  scan.columns["l"];
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, OpenScanner(regions, kAclTable, scan, within));
  std::vector<Grant> grants;
  while (!scanner->at_end()) {
    const auto rows = scanner->Next({});
    if (rows.status().code() == StatusCode::kTableNotFound) return AreOff();
    CELLFS_RETURN_IF_ERROR(rows.status());
    for (const RowCells& cells : *rows) {
      for (const Cell& cell : cells) grants.push_back(GrantOf(cell));
    }
  }
  return grants;
}

}  // namespace cellfs::hbase
