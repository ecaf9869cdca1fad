// SPDX-License-Identifier: MIT
#include "fs/store/told_changes.h"

#include <utility>

namespace cellfs::fs {

// ---- Cells --------------------------------------------------------------------------------------

StatusOr<MutationResult> ToldChanges::Mutate(const Caller& caller, const TableName& table,
                                             const RowMutations& mutations) {
  auto result = ForwardingStore::Mutate(caller, table, mutations);
  read_ahead_.Forget(table, mutations);
  return result;
}

// Also where the condition does not hold: then the row is another than was read.
StatusOr<CheckAndMutateResult> ToldChanges::CheckAndMutate(const Caller& caller,
                                                           const TableName& table,
                                                           const cellfs::CheckAndMutate& check) {
  auto result = ForwardingStore::CheckAndMutate(caller, table, check);
  read_ahead_.Forget(table, check.action);
  return result;
}

std::vector<StatusOr<MutationResult>> ToldChanges::Batch(const Caller& caller,
                                                         const TableName& table,
                                                         const std::vector<RowMutations>& rows) {
  auto results = ForwardingStore::Batch(caller, table, rows);
  for (const RowMutations& row : rows) read_ahead_.Forget(table, row);
  return results;
}

// ---- Tables -------------------------------------------------------------------------------------

Status ToldChanges::CreateTable(const Caller& caller, const TableSchema& schema) {
  return Changed(schema.name(), ForwardingStore::CreateTable(caller, schema));
}

Status ToldChanges::AlterTable(const Caller& caller, const TableSchema& schema) {
  return Changed(schema.name(), ForwardingStore::AlterTable(caller, schema));
}

Status ToldChanges::RecreateTable(const Caller& caller, const TableSchema& schema) {
  return Changed(schema.name(), ForwardingStore::RecreateTable(caller, schema));
}

Status ToldChanges::AddFamily(const Caller& caller, const TableName& table,
                              const FamilySchema& family) {
  return Changed(table, ForwardingStore::AddFamily(caller, table, family));
}

Status ToldChanges::ModifyFamily(const Caller& caller, const TableName& table,
                                 const FamilySchema& family) {
  return Changed(table, ForwardingStore::ModifyFamily(caller, table, family));
}

Status ToldChanges::DropFamily(const Caller& caller, const TableName& table,
                               const std::string& family) {
  return Changed(table, ForwardingStore::DropFamily(caller, table, family));
}

Status ToldChanges::RenameTable(const Caller& caller, const TableName& from, const TableName& to) {
  return Changed(from, Changed(to, ForwardingStore::RenameTable(caller, from, to)));
}

Status ToldChanges::DropTable(const Caller& caller, const TableName& table) {
  return Changed(table, ForwardingStore::DropTable(caller, table));
}

StatusOr<bool> ToldChanges::DropEmptyTable(const Caller& caller, const TableName& table) {
  return Changed(table, ForwardingStore::DropEmptyTable(caller, table));
}

Status ToldChanges::TruncateTable(const Caller& caller, const TableName& table) {
  return Changed(table, ForwardingStore::TruncateTable(caller, table));
}

Status ToldChanges::EnableTable(const Caller& caller, const TableName& table) {
  return Changed(table, ForwardingStore::EnableTable(caller, table));
}

Status ToldChanges::DisableTable(const Caller& caller, const TableName& table) {
  return Changed(table, ForwardingStore::DisableTable(caller, table));
}

}  // namespace cellfs::fs
