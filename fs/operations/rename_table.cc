// SPDX-License-Identifier: MIT
#include "fs/operations/rename_table.h"

#include <algorithm>

#include "fs/reading/change_rights.h"
#include "fs/reading/schema_rights.h"

namespace cellfs::fs {

// While the columns are closed nobody can put under the old name, and who waits to do so finds his
// file under the new one.
Status RenameTable(Store& store, SchemaChanges& schemas, AttributeStore& attributes,
                   LiveTree& tree, const Caller& caller, const TableName& from,
                   const TableName& to) {
  if (from == to) return store.RenameTable(caller, from, to);  // which says that it is there
  const auto [first, second] = std::minmax(from, to);
  const auto first_turn = schemas.TakeTurn(first);
  const auto second_turn = schemas.TakeTurn(second);
  if (from.namespace_name != to.namespace_name) {
    CELLFS_ASSIGN_OR_RETURN(const auto schema, store.DescribeTable(from));
    CELLFS_RETURN_IF_ERROR(attributes.KeepOwner(*schema));
  }
  const ColumnTable::ClosedColumns first_closed(tree.columns, {first, {}, {}});
  const ColumnTable::ClosedColumns second_closed(tree.columns, {second, {}, {}});
  Status renamed = store.RenameTable(caller, from, to);
  if (!IsInForce(renamed)) return renamed;
  first_closed.Changed();
  second_closed.Changed();
  tree.MoveTable(from, to);
  return renamed;
}

Outcome RenameTableDirectory(const DirectoryChanging& with, const Request& request,
                             const Place& from, const Place& new_directory,
                             std::string_view new_name) {
  if (!with.store.traits().renames_tables)
    return {EXDEV, "this store renames no tables, so mv copies; its history stays behind"};
  if (new_directory.kind != PlaceKind::kNamespace) return EXDEV;
  CELLFS_ASSIGN_OR_RETURN(const Place to,
                          with.resolver.Child(*request.caller, new_directory, new_name,
                                              NameUse::kCreateDirectory));
  if (to == from) return {};
  if (to.kind != PlaceKind::kTable) return EPERM;
  CELLFS_RETURN_IF_FAILED(CheckMayDrop(with.reading, request, from));
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, from));
  CELLFS_RETURN_IF_FAILED(CheckTableName(to.table));
  const Status renamed = RenameTable(with.store, with.schemas, with.attributes, with.tree,
                                     *request.caller, from.table, to.table);
  if (IsInForce(renamed)) {
    with.tree.unstored.ShowToml(new_directory);
    with.tree.kernel.TableChanged(to.table);
  }
  return renamed;
}

}  // namespace cellfs::fs
