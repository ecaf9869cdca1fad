// SPDX-License-Identifier: MIT
#include "engine/obkv/obkv_store.h"

#include <utility>

#include "engine/obkv/retries.h"
#include "engine/obkv/row_writes.h"
#include "engine/remote/shown_cells.h"
#include "engine/table/request_check.h"

namespace cellfs::obkv {
namespace {

StoreTraits TraitsFor(const ObkvOptions& options) {
  return {.has_other_writers = true,
          .max_staleness_ms = options.max_staleness_ms,
          .withdraws = true,
          .stamps_above_column = true,
          .checks_readable = true,
          .syncs_apart = false,
          .pins_moments = false,
          .renames_tables = false,
          .tells_past_catalog = false,
          .keeps_dropped = false,
          .tables_need_a_family = true,
          .keeps_deleted = false,
          .has_splits_and_quotas = false,
          .has_statistics = false};
}

Status NotEnabled(const TableName& table) {
  return {StatusCode::kTableNotEnabled, "table '" + table.ToString() + "' is disabled"};
}
Status NotDisabled(const TableName& table) {
  return {StatusCode::kTableNotDisabled, "table '" + table.ToString() + "' is enabled"};
}
// What has come into others' way is tried again.
template <typename Act>
auto WithRetries(const ObkvOptions& options, const Act& act) -> decltype(act()) {
  for (Retries retries(options.operation_timeout);;) {
    auto done = act();
    if (done.ok() || !DidNotHappen(done.status()) || !retries.Pause()) return done;
  }
}

// The same of rows, some of which may have been written.
std::vector<StatusOr<MutationResult>> BatchWithRetries(Region& region, const ObkvOptions& options,
                                                       const std::vector<RowMutations>& rows) {
  auto answers = region.Batch(rows);
  for (Retries retries(options.operation_timeout);;) {
    std::vector<size_t> which;
    std::vector<RowMutations> again;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (answers[i].ok() || !DidNotHappen(answers[i].status())) continue;
      which.push_back(i);
      again.push_back(rows[i]);
    }
    if (which.empty() || !retries.Pause()) return answers;
    auto more = region.Batch(again);
    for (size_t i = 0; i < which.size(); ++i) answers[which[i]] = std::move(more[i]);
  }
}

Status NoFamily(const TableName& table, const std::string& family) {
  return {StatusCode::kInvalidFamilyOperation,
          "family '" + family + "' of table '" + table.ToString() + "' does not exist"};
}

}  // namespace

ObkvStore::OpenTable::OpenTable(const ObkvServices& services, DescribedTable described)
    : storage(std::make_shared<ObkvTable>(services, std::move(described))),
      region(storage, storage->described().schema, services.store) {}

StatusOr<std::unique_ptr<ObkvStore>> ObkvStore::Open(const ObkvOptions& options,
                                                     const StoreOptions& store) {
  std::unique_ptr<ObkvStore> opened(new ObkvStore(options, store));
  CELLFS_RETURN_IF_ERROR(opened->tables_.Open(opened->Within()));
  return opened;
}

ObkvStore::ObkvStore(const ObkvOptions& options, const StoreOptions& store)
    : options_(options),
      store_(store),
      traits_(TraitsFor(options)),
      pool_(options_),
      services_{options_, store_, pool_, row_locks_},
      tables_(pool_, options_, *store_.clock),
      // The other half is the kernel's, or whoever keeps what is shown.
      opened_(std::chrono::milliseconds(options.max_staleness_ms / 2)) {}

StatusOr<DescribedTable> ObkvStore::DescribeNow(const TableName& table) {
  return tables_.Describe(table, Within());
}

ObkvStore::Opened ObkvStore::Find(const TableName& table) {
  if (auto known = opened_.Find(table)) return *std::move(known);
  const uint64_t changes = opened_.changes();
  auto described = DescribeNow(table);
  Opened opened = described.ok()
                      ? Opened(std::make_shared<OpenTable>(services_, *std::move(described)))
                      : Opened(described.status());
  opened_.Keep(table, opened, changes);
  return opened;
}

ObkvStore::Opened ObkvStore::FindEnabled(const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(auto opened, Find(table));
  if (!opened->storage->described().is_enabled) return NotEnabled(table);
  return opened;
}

// ---- Cells --------------------------------------------------------------------------------------

StatusOr<RowCells> ObkvStore::Read(const Caller& /*caller*/, const TableName& table,
                                   const Get& get) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  return opened->region.Read(get);
}

StatusOr<std::unique_ptr<Scanner>> ObkvStore::OpenScanner(const Caller& /*caller*/,
                                                          const TableName& table,
                                                          const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  return opened->region.OpenScanner(scan);
}

StatusOr<MutationResult> ObkvStore::Mutate(const Caller& /*caller*/, const TableName& table,
                                           const RowMutations& mutations) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  return WithRetries(options_, [&] { return opened->region.Mutate(mutations); });
}

StatusOr<CheckAndMutateResult> ObkvStore::CheckAndMutate(const Caller& /*caller*/,
                                                         const TableName& table,
                                                         const cellfs::CheckAndMutate& check) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  return WithRetries(options_, [&] { return opened->region.CheckAndMutate(check, nullptr); });
}

std::vector<StatusOr<MutationResult>> ObkvStore::Batch(const Caller& /*caller*/,
                                                       const TableName& table,
                                                       const std::vector<RowMutations>& rows) {
  const auto opened = FindEnabled(table);
  if (!opened.ok())
    return std::vector<StatusOr<MutationResult>>(rows.size(), opened.status());
  // What does not fit goes with no other row's transaction.
  std::vector<Status> fits;
  std::vector<RowMutations> fitting;
  for (const RowMutations& row : rows) {
    fits.push_back(CheckFits((*opened)->storage->described(), row));
    if (fits.back().ok()) fitting.push_back(row);
  }
  auto written = BatchWithRetries((*opened)->region, options_, fitting);
  std::vector<StatusOr<MutationResult>> answers;
  auto next = written.begin();
  for (const Status& fit : fits) {
    if (fit.ok())
      answers.push_back(std::move(*next++));
    else
      answers.emplace_back(fit);
  }
  return answers;
}

Status ObkvStore::CheckMayPut(const Caller& /*caller*/, const TableName& table,
                              const PutToCome& put) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  const TableSchema& schema = *opened->storage->described().schema;
  if (schema.read_only()) {
    return {StatusCode::kReadOnly, "table '" + table.ToString() + "' is read-only"};
  }
  return put.family.empty() ? Status() : CheckFamilyExists(schema, put.family);
}

Status ObkvStore::CheckMayMutate(const Caller& caller, const TableName& table,
                                 const RowMutations& /*mutations*/) {
  return CheckMayPut(caller, table, {});
}

Status ObkvStore::CheckValueSize(const std::string& row, const std::string& family,
                                 const std::string& qualifier, uint64_t bytes) {
  SiteSettings limits = store_.site;
  limits.client_max_cell_size = options_.max_cell_size;
  limits.server_max_cell_size = 0;  // the column's
  return CheckCellSize(row, family, qualifier, bytes, limits);
}

StatusOr<std::chrono::milliseconds> ObkvStore::ClockDifference() {
  const Patience patience = Within();
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  const Timestamp before = store_.clock->Now();
  CELLFS_ASSIGN_OR_RETURN(
      const auto rows,
      connection->Query("SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)", {}, patience));
  const Timestamp after = store_.clock->Now();
  const Timestamp server = NumberOf(rows.front().front());
  // As far as is known: the server's answer is of some time in between.
  Timestamp difference = 0;
  if (before > server) difference = before - server;
  if (after < server) difference = after - server;
  return std::chrono::milliseconds(difference);
}

// ---- Namespaces ---------------------------------------------------------------------------------

Status ObkvStore::CreateNamespace(const Caller& /*caller*/, const NamespaceSchema& schema) {
  return tables_.CreateNamespace(schema, Within());
}

Status ObkvStore::AlterNamespace(const Caller& /*caller*/, const NamespaceSchema& schema) {
  CELLFS_RETURN_IF_ERROR(tables_.CheckNamespace(schema.name, Within()));
  return schema.properties.empty() ? Status() : HasNot("properties of namespaces");
}

Status ObkvStore::DropNamespace(const Caller& /*caller*/, const std::string& name) {
  return tables_.DropNamespace(name, Within());
}

StatusOr<NamespaceSchema> ObkvStore::DescribeNamespace(const std::string& name) {
  CELLFS_RETURN_IF_ERROR(tables_.CheckNamespace(name, Within()));
  return NamespaceSchema{name, {}};
}

StatusOr<std::vector<std::string>> ObkvStore::ListNamespaces() {
  return tables_.ListNamespaces(Within());
}

// ---- Tables -------------------------------------------------------------------------------------

Status ObkvStore::CreateTable(const Caller& /*caller*/, const TableSchema& schema) {
  opened_.Forget(schema.name());
  const Status created = tables_.Create(schema, Within());
  opened_.Forget(schema.name());
  return created;
}

Status ObkvStore::Change(const TableName& table, const SchemaChange& change) {
  opened_.Forget(table);
  CELLFS_ASSIGN_OR_RETURN(const DescribedTable described, DescribeNow(table));
  TableSchema schema = *described.schema;
  CELLFS_RETURN_IF_ERROR(change(schema));
  const Status changed = tables_.Alter(described, schema, Within());
  opened_.Forget(table);
  return changed;
}

Status ObkvStore::AlterTable(const Caller& /*caller*/, const TableSchema& schema) {
  return Change(schema.name(), [&](TableSchema& present) {
    present = schema;
    return Status();
  });
}

Status ObkvStore::RecreateTable(const Caller& caller, const TableSchema& schema) {
  return AlterTable(caller, schema);
}

Status ObkvStore::SplitTable(const Caller&, const TableName&, const std::string&) {
  return HasNot("ranges of rows: it is partitioned by their hash");
}

Status ObkvStore::AddFamily(const Caller& /*caller*/, const TableName& table,
                            const FamilySchema& family) {
  return Change(table, [&](TableSchema& schema) -> Status {
    if (schema.families.emplace(family.name(), family).second) return {};
    return {StatusCode::kInvalidFamilyOperation,
            "family '" + family.name() + "' of table '" + table.ToString() + "' exists"};
  });
}

Status ObkvStore::ModifyFamily(const Caller& /*caller*/, const TableName& table,
                               const FamilySchema& family) {
  return Change(table, [&](TableSchema& schema) {
    const auto present = schema.families.find(family.name());
    if (present == schema.families.end()) return NoFamily(table, family.name());
    present->second = family;
    return Status();
  });
}

Status ObkvStore::DropFamily(const Caller& /*caller*/, const TableName& table,
                             const std::string& family) {
  return Change(table, [&](TableSchema& schema) {
    return schema.families.erase(family) > 0 ? Status() : NoFamily(table, family);
  });
}

Status ObkvStore::RenameTable(const Caller&, const TableName&, const TableName&) {
  return HasNot("name for a table that is called otherwise");
}

Status ObkvStore::DropTable(const Caller& /*caller*/, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const DescribedTable described, DescribeNow(table));
  if (described.is_enabled) return NotDisabled(table);
  const Status dropped = tables_.Drop(described, Within());
  opened_.Forget(table);
  return dropped;
}

StatusOr<bool> ObkvStore::DropEmptyTable(const Caller& caller, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const bool shows_a_cell, ShowsACell(*this, caller, table));
  if (shows_a_cell) return false;
  CELLFS_ASSIGN_OR_RETURN(const DescribedTable described, DescribeNow(table));
  CELLFS_RETURN_IF_ERROR(tables_.Drop(described, Within()));
  opened_.Forget(table);
  return true;
}

Status ObkvStore::TruncateTable(const Caller& /*caller*/, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, Find(table));
  if (opened->storage->described().is_enabled) return NotDisabled(table);
  CELLFS_RETURN_IF_ERROR(opened->storage->Truncate());
  return SetEnabled(table, true);
}

Status ObkvStore::SetEnabled(const TableName& table, bool enabled) {
  CELLFS_ASSIGN_OR_RETURN(const DescribedTable described, DescribeNow(table));
  if (described.is_enabled == enabled) return enabled ? NotDisabled(table) : NotEnabled(table);
  const Status set = tables_.SetEnabled(described, enabled, Within());
  opened_.Forget(table);
  return set;
}

Status ObkvStore::EnableTable(const Caller& /*caller*/, const TableName& table) {
  return SetEnabled(table, true);
}

Status ObkvStore::DisableTable(const Caller& /*caller*/, const TableName& table) {
  return SetEnabled(table, false);
}

StatusOr<std::shared_ptr<const TableSchema>> ObkvStore::DescribeTable(const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, Find(table));
  return opened->storage->described().schema;
}

StatusOr<bool> ObkvStore::IsTableEnabled(const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, Find(table));
  return opened->storage->described().is_enabled;
}

StatusOr<std::vector<TableName>> ObkvStore::ListTables(const std::string& namespace_name) {
  return tables_.List(namespace_name, Within());
}

// ---- Maintenance --------------------------------------------------------------------------------

Status ObkvStore::Flush(const Caller& /*caller*/, const TableName& table) {
  return FindEnabled(table).status();
}

Status ObkvStore::Compact(const Caller& /*caller*/, const TableName& table, CompactionKind kind) {
  CELLFS_ASSIGN_OR_RETURN(const auto opened, FindEnabled(table));
  return opened->storage->Compact(kind);
}

}  // namespace cellfs::obkv
