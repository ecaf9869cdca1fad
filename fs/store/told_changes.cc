// SPDX-License-Identifier: MIT
#include "fs/store/told_changes.h"

#include <utility>

namespace cellfs::fs {
namespace {

constexpr size_t kMostDescribed = 1024;  // who looks at more tables at once asks again

}  // namespace

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

std::optional<ToldChanges::Description> ToldChanges::FindDescribed(const TableName& table) {
  const std::lock_guard lock(mutex_);
  const auto found = described_.find(table);
  if (found == described_.end() || !ReadOnce::Covers(found->second.asked_at)) return std::nullopt;
  return found->second.description;
}

void ToldChanges::ForgetDescribed(const TableName& table) {
  const std::lock_guard lock(mutex_);
  described_.erase(table);
  ++changes_;
}

ToldChanges::Description ToldChanges::DescribeTable(const TableName& table) {
  if (!ReadOnce::IsAlive()) return ForwardingStore::DescribeTable(table);
  if (auto described = FindDescribed(table)) return *std::move(described);
  const auto asked_at = ReadOnce::Clock::now();
  const uint64_t changes = Changes();
  Description description = ForwardingStore::DescribeTable(table);
  const bool is_known =
      description.ok() || description.status().code() == StatusCode::kTableNotFound;
  if (!is_known) return description;
  const std::lock_guard lock(mutex_);
  if (changes_ != changes) return description;  // it may be of before
  if (described_.size() >= kMostDescribed) described_.clear();
  described_.insert_or_assign(table, Described{description, asked_at});
  return description;
}

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
