// SPDX-License-Identifier: MIT
#include "src/commands/named_tables.h"

#include "src/commands/target.h"

namespace cellfs {

StatusOr<std::vector<TableName>> NamedTables(Session& session, const Arguments& arguments) {
  if (NamesAllTables(arguments)) {
    CELLFS_ASSIGN_OR_RETURN(const auto namespaces, session.store.ListNamespaces());
    std::vector<TableName> all;
    for (const std::string& name : namespaces) {
      if (name == kSystemNamespace) continue;
      CELLFS_ASSIGN_OR_RETURN(const auto tables, session.store.ListTables(name));
      all.insert(all.end(), tables.begin(), tables.end());
    }
    return all;
  }
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kNamespace, Depth::kTable));
  CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
  if (named.place.kind == fs::PlaceKind::kNamespace)
    return session.store.ListTables(named.place.table.namespace_name);
  if (named.place.kind != fs::PlaceKind::kTable)
    return WrongCall(ShownPath(arguments) + " lies in a table; name the table itself");
  return std::vector<TableName>{named.place.table};
}

}  // namespace cellfs
