// SPDX-License-Identifier: MIT
//
// Namespaces, tables and their schemas.
#include <set>
#include <utility>

#include "fs/operations/callers_store.h"
#include "fs/operations/kept_shares.h"
#include "fs/operations/rename_table.h"
#include "fs/operations/shown_tables.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/hidden_tables.h"

namespace cellfs::fs {

Status CallersStore::Made(const Place& place, Status done,
                          const std::function<Status()>& unmake) {
  if (!IsInForce(done)) return done;
  AttributeUpdate update;
  update.uid = rights_.credentials().uid;
  if (!rights_.credentials().groups.empty()) update.gid = rights_.credentials().groups.front();
  update.mtime = update.ctime = ToTimespec(parts_.clock->Now());
  update.mode = 0777 & ~umask_;
  update.anew = true;
  if (const Outcome stored = parts_.attributes.Update(place, update); !stored.ok()) {
    done = unmake();
    const bool is_full = stored.error() == ENOSPC;
    if (done.ok())
      return {is_full ? StatusCode::kStoreFull : StatusCode::kIoError,
              "its owner and mode: " + stored.reason()};
    done = {StatusCode::kOutcomeUnknown,
            "it is made, but its owner and mode are not stored: " + stored.reason()};
  }
  parts_.errors.Record("create", place, parts_.schemas.NoteChanged(place));
  parts_.tree.unstored.ShowToml(place);
  filesystem_.NamesChanged(place.Parent());
  if (place.kind == PlaceKind::kTable) {
    parts_.tree.declared.Forget(place.table);
    parts_.tree.kernel.TableChanged(place.table);
  } else {
    parts_.tree.kernel.NamespaceChanged(place.table.namespace_name);
  }
  return done;
}

Status CallersStore::Gone(const Place& place) {
  filesystem_.NamesChanged(place.Parent());
  if (place.kind == PlaceKind::kTable) {
    parts_.tree.ForgetTable(place.table);
    parts_.tree.kernel.TableChanged(place.table);
  } else {
    parts_.tree.unstored.RemoveBelow(place);
    parts_.tree.unstored.ShowToml(place);
    parts_.tree.directory_times.Forget(place);
    parts_.tree.kernel.NamespaceChanged(place.table.namespace_name);
  }
  filesystem_.AwaitKernel();
  return {};
}

Status CallersStore::CheckChangesTable(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  CELLFS_RETURN_IF_ERROR(store_.DescribeTable(table).status());
  return rights_.CheckOwns(TablePlace(table));
}

Status CallersStore::ChangeInTurn(const TableName& table, const std::function<Status()>& change) {
  const Place place = TablePlace(table);
  Status done;
  {
    const auto turn = parts_.schemas.TakeTurn(table);
    done = change();
    if (!IsInForce(done)) return done;
    parts_.tree.declared.Forget(table);  // before rmdir, which may undeclare one, gets its turn
    parts_.errors.Record("alter", place, parts_.schemas.NoteChanged(place));
  }
  parts_.tree.unstored.ShowToml(place);
  parts_.tree.kernel.TableChanged(table);
  filesystem_.AwaitKernel();
  return done;
}

Status CallersStore::CreateNamespace(const Caller& caller, const NamespaceSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(RootPlace()));
  return Made(NamespacePlace(schema.name), store_.CreateNamespace(caller, schema),
              [&] { return store_.DropNamespace(caller, schema.name); });
}

Status CallersStore::CheckChangesNamespace(const std::string& name) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, name));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(store_.DescribeNamespace(name).status());
  return rights_.CheckOwns(NamespacePlace(name));
}

Status CallersStore::AlterNamespace(const Caller& caller, const NamespaceSchema& schema) {
  return ChangeNamespace(caller, schema.name, [&](NamespaceSchema& changed) {
    changed = schema;
    return Status();
  });
}

Status CallersStore::ChangeNamespace(const Caller& caller, const std::string& name,
                                     const NamespaceChange& change) {
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  return ChangeNamespaceInTurn(name, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(NamespaceSchema schema, store_.DescribeNamespace(name));
    CELLFS_RETURN_IF_ERROR(change(schema));
    return store_.AlterNamespace(caller, schema);
  });
}

Status CallersStore::ChangeNamespaceInTurn(const std::string& name,
                                           const std::function<Status()>& change) {
  const Place place = NamespacePlace(name);
  {
    const auto turn = parts_.schemas.TakeTurn(place.table);
    CELLFS_RETURN_IF_ERROR(change());
    parts_.errors.Record("alter", place, parts_.schemas.NoteChanged(place));
  }
  parts_.tree.unstored.ShowToml(place);
  parts_.tree.kernel.NamespaceChanged(name);
  return {};
}

Status CallersStore::DropNamespace(const Caller& caller, const std::string& name) {
  const Place place = NamespacePlace(name);
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(RootPlace()));
  CELLFS_ASSIGN_OR_RETURN(const Timestamp last_kept, parts_.attributes.LastKeptDrop(name));
  CELLFS_RETURN_IF_ERROR(store_.DropNamespace(caller, name));
  parts_.errors.Record("drop", place, parts_.attributes.DropNamespace(place, last_kept));
  return Gone(place);
}

StatusOr<NamespaceSchema> CallersStore::DescribeNamespace(const std::string& name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReachNamespace(name));
  return store_.DescribeNamespace(name);
}

StatusOr<std::vector<std::string>> CallersStore::ListNamespaces() {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayListIn(RootPlace()));
  CELLFS_ASSIGN_OR_RETURN(auto names, store_.ListNamespaces());
  std::erase(names, kHiddenNamespace);
  return names;
}

Status CallersStore::CreateTable(const Caller& caller, const TableSchema& wanted) {
  TableSchema schema = wanted;
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, schema.name()));
  const Place name_space = NamespacePlace(schema.name().namespace_name);
  CELLFS_RETURN_IF_ERROR(store_.DescribeNamespace(schema.name().namespace_name).status());
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(name_space));
  for (auto& [name, family] : schema.families)
    CELLFS_RETURN_IF_ERROR(SettleInheritance(family, nullptr));
  CELLFS_ASSIGN_OR_RETURN(const auto share, parts_.schemas.ReserveShare(schema));
  return Made(TablePlace(schema.name()), store_.CreateTable(caller, schema), [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const bool dropped, store_.DropEmptyTable(caller, schema.name()));
    return dropped ? Status() : Status(StatusCode::kUnavailable, "somebody has put a cell");
  });
}

Status CallersStore::AlterTable(const Caller& caller, const TableSchema& schema) {
  return ChangeTable(caller, schema.name(), [&](TableSchema& changed) {
    changed = schema;
    return Status();
  });
}

Status CallersStore::ChangeTable(const Caller& caller, const TableName& table,
                                 const SchemaChange& change) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto before, store_.DescribeTable(table));
    TableSchema schema = *before;
    CELLFS_RETURN_IF_ERROR(change(schema));
    for (auto& [name, family] : schema.families)
      CELLFS_RETURN_IF_ERROR(SettleInheritance(family, before->FindFamily(name)));
    CELLFS_ASSIGN_OR_RETURN(const auto share, parts_.schemas.ReserveShare(schema));
    std::set<std::string> dropped;
    for (const auto& [name, family] : before->families) {
      if (schema.FindFamily(name) == nullptr) dropped.insert(name);
    }
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(
        table, dropped, [&] { return store_.AlterTable(caller, schema); });
    if (IsInForce(done)) {
      for (const std::string& family : dropped) parts_.schemas.FamilyWent(table, family, time);
    }
    return done;
  });
}

Status CallersStore::RecreateTable(const Caller& caller, const TableSchema& wanted) {
  TableSchema schema = wanted;
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(schema.name()));
  return ChangeInTurn(schema.name(), [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto before, store_.DescribeTable(schema.name()));
    for (auto& [name, family] : schema.families)
      CELLFS_RETURN_IF_ERROR(SettleInheritance(family, before->FindFamily(name)));
    CELLFS_ASSIGN_OR_RETURN(const auto share, parts_.schemas.ReserveShare(schema));
    return store_.RecreateTable(caller, schema);
  });
}

Status CallersStore::SplitTable(const Caller& caller, const TableName& table,
                                const std::string& key) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto present, store_.DescribeTable(table));
    TableSchema split = *present;
    split.split_keys.push_back(key);
    CELLFS_ASSIGN_OR_RETURN(const auto share, parts_.schemas.ReserveShare(split));
    return store_.SplitTable(caller, table, key);
  });
}

StatusOr<SchemaShares::Reservation> CallersStore::ReserveShareWith(const TableName& table,
                                                          const FamilySchema& family) {
  CELLFS_ASSIGN_OR_RETURN(const auto present, store_.DescribeTable(table));
  TableSchema schema = *present;
  schema.families.insert_or_assign(family.name(), family);
  return parts_.schemas.ReserveShare(schema);
}

Status CallersStore::AddFamily(const Caller& caller, const TableName& table,
                               const FamilySchema& wanted) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  FamilySchema family = wanted;
  CELLFS_RETURN_IF_ERROR(SettleInheritance(family, nullptr));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto share, ReserveShareWith(table, family));
    return store_.AddFamily(caller, table, family);
  });
}

Status CallersStore::ModifyFamily(const Caller& caller, const TableName& table,
                                  const FamilySchema& wanted) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  FamilySchema family = wanted;
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto before, store_.DescribeTable(table));
    CELLFS_RETURN_IF_ERROR(SettleInheritance(family, before->FindFamily(family.name())));
    CELLFS_ASSIGN_OR_RETURN(const auto share, ReserveShareWith(table, family));
    return store_.ModifyFamily(caller, table, family);
  });
}

Status CallersStore::WhileDisabled(const Caller& caller, const TableName& table,
                                   const std::function<Status()>& act) {
  const Status disabled = store_.DisableTable(caller, table);
  const bool was_disabled = disabled.code() == StatusCode::kTableNotEnabled;
  if (!was_disabled) CELLFS_RETURN_IF_ERROR(disabled);
  const Status done = act();
  if (!done.ok() && !was_disabled) static_cast<void>(store_.EnableTable(caller, table));
  return done;
}

Status CallersStore::DropFamily(const Caller& caller, const TableName& table,
                                const std::string& family) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] {
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(
        table, std::set{family}, [&] { return store_.DropFamily(caller, table, family); });
    if (IsInForce(done)) parts_.schemas.FamilyWent(table, family, time);
    return done;
  });
}

Status CallersStore::CheckDropsTable(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return rights_.CheckMayMakeIn(NamespacePlace(table.namespace_name));
}

Status CallersStore::DropTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  return Drop(table, [&] { return store_.DropTable(caller, table); });
}

Status CallersStore::DisableAndDropTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  return Drop(table, [&] {
    return WhileDisabled(caller, table, [&] { return store_.DropTable(caller, table); });
  });
}

Status CallersStore::Drop(const TableName& table, const std::function<Status()>& act) {
  const Place place = TablePlace(table);
  CELLFS_ASSIGN_OR_RETURN(const DataTable data, parts_.attributes.BeginDropTable(place));
  const Status done = parts_.open_files.Drop(table, std::nullopt, act);
  if (!IsInForce(done)) return done;
  parts_.errors.Record("drop", place, parts_.attributes.DropTable(data));
  FreeBeyondShares(store_, parts_.attributes, parts_.errors);
  CELLFS_RETURN_IF_ERROR(Gone(place));
  return done;
}

Status CallersStore::RenameTable(const Caller& caller, const TableName& from,
                                 const TableName& to) {
  const Place name_space = NamespacePlace(to.namespace_name);
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(from));
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, to));
  CELLFS_RETURN_IF_ERROR(store_.DescribeNamespace(to.namespace_name).status());
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(name_space));
  const Status done =
      fs::RenameTable(store_, parts_.schemas, parts_.attributes, parts_.tree, caller, from, to);
  if (!IsInForce(done)) return done;
  parts_.tree.unstored.ShowToml(name_space);
  parts_.tree.kernel.NameWent(TablePlace(from));
  for (const TableName& table : {from, to}) {
    filesystem_.NamesChanged(NamespacePlace(table.namespace_name));
    parts_.tree.kernel.TableChanged(table);
  }
  filesystem_.AwaitKernel();
  return done;
}

StatusOr<bool> CallersStore::DropEmptyTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  const Place place = TablePlace(table);
  CELLFS_ASSIGN_OR_RETURN(const DataTable data, parts_.attributes.BeginDropTable(place));
  CELLFS_ASSIGN_OR_RETURN(const bool dropped, store_.DropEmptyTable(caller, table));
  if (!dropped) return false;
  parts_.errors.Record("drop", place, parts_.attributes.DropTable(data));
  FreeBeyondShares(store_, parts_.attributes, parts_.errors);
  CELLFS_RETURN_IF_ERROR(Gone(place));
  return true;
}

Status CallersStore::TruncateTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return Truncate(table, [&] { return store_.TruncateTable(caller, table); });
}

Status CallersStore::DisableAndTruncateTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return Truncate(table, [&] {
    return WhileDisabled(caller, table, [&] { return store_.TruncateTable(caller, table); });
  });
}

Status CallersStore::Truncate(const TableName& table, const std::function<Status()>& act) {
  return ChangeInTurn(table, [&] {
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(table, std::nullopt, act);
    if (IsInForce(done)) {
      const Place place = TablePlace(table);
      parts_.tree.unstored.RemoveBelow(place);
      parts_.errors.Record("truncate", place, parts_.attributes.Emptied(place, time));
    }
    return done;
  });
}

Status CallersStore::EnableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.EnableTable(caller, table); });
}

Status CallersStore::DisableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.DisableTable(caller, table); });
}

StatusOr<std::shared_ptr<const TableSchema>> CallersStore::DescribeTable(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.DescribeTable(table);
}

Status CallersStore::CheckMayReadToml(const Place& place) {
  return rights_.CheckMayReadToml(place);
}

StatusOr<bool> CallersStore::IsTableEnabled(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.IsTableEnabled(table);
}

StatusOr<std::vector<TableName>> CallersStore::ListTables(const std::string& namespace_name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, namespace_name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayListIn(NamespacePlace(namespace_name)));
  CELLFS_ASSIGN_OR_RETURN(std::vector<TableName> tables, store_.ListTables(namespace_name));
  std::erase_if(tables, [&](const TableName& table) { return IsHidden(parts_.options, table); });
  return tables;
}

}  // namespace cellfs::fs
