// SPDX-License-Identifier: MIT
#include "engine/hbase/hbase_store.h"

#include "engine/hbase/grants.h"
#include "engine/hbase/maintenance.h"
#include "engine/hbase/reads.h"
#include "engine/hbase/space_quotas.h"
#include "engine/hbase/writes.h"
#include "engine/options.h"
#include "engine/table/request_check.h"

namespace cellfs::hbase {
namespace {

StoreTraits TraitsFor(const ClusterOptions& options) {
  return {.has_other_writers = true,
          .max_staleness_ms = options.max_staleness_ms,
          .withdraws = false,
          .stamps_above_column = false,
          .checks_readable = false,
          .syncs_apart = false,
          .pins_moments = false,
          .renames_tables = false,
          .tells_past_catalog = false,
          .keeps_dropped = false,
          .tables_need_a_family = true,
          .has_statistics = false};
}

Attempts::Options AttemptsFor(const ClusterOptions& options) {
  return {.retries = options.retries, .pause = options.pause};
}

}  // namespace

StatusOr<std::unique_ptr<HBaseStore>> HBaseStore::Open(const ClusterOptions& options) {
  if (options.servers.empty()) {
    return Status(StatusCode::kIllegalArgument, "no server of the cluster is named");
  }
  std::unique_ptr<HBaseStore> store(new HBaseStore(options));
  CELLFS_ASSIGN_OR_RETURN(store->cluster_id_, store->registry_.ClusterId(store->Within()));
  return store;
}

HBaseStore::HBaseStore(const ClusterOptions& options)
    : options_(options),
      traits_(TraitsFor(options)),
      pool_({.user = options.user, .connect_timeout = options.connect_timeout}),
      registry_(options.servers, pool_),
      regions_({.attempts = AttemptsFor(options),
                .call_timeout = options.rpc_timeout,
                .scanner_caching = options.scanner_caching},
               registry_, pool_),
      master_({.attempts = AttemptsFor(options), .call_timeout = options.rpc_timeout}, registry_,
              pool_),
      // The other half is the kernel's, or whoever keeps what is shown.
      tables_(master_, regions_, std::chrono::milliseconds(options.max_staleness_ms / 2)),
      server_clock_(master_) {}

// ---- Cells --------------------------------------------------------------------------------------

StatusOr<RowCells> HBaseStore::Read(const Caller& /*caller*/, const TableName& table,
                                    const Get& get) {
  return hbase::Read(regions_, table, get, options_.operation_timeout);
}

StatusOr<std::unique_ptr<Scanner>> HBaseStore::OpenScanner(const Caller& /*caller*/,
                                                           const TableName& table,
                                                           const Scan& scan) {
  return hbase::OpenScanner(regions_, table, scan, options_.operation_timeout);
}

StatusOr<MutationResult> HBaseStore::Mutate(const Caller& /*caller*/, const TableName& table,
                                            const RowMutations& mutations) {
  return hbase::Mutate(regions_, table, mutations, options_.operation_timeout);
}

StatusOr<CheckAndMutateResult> HBaseStore::CheckAndMutate(const Caller& /*caller*/,
                                                          const TableName& table,
                                                          const cellfs::CheckAndMutate& check) {
  return hbase::CheckAndMutate(regions_, table, check, options_.operation_timeout);
}

std::vector<StatusOr<MutationResult>> HBaseStore::Batch(const Caller& /*caller*/,
                                                        const TableName& table,
                                                        const std::vector<RowMutations>& rows) {
  return hbase::Batch(regions_, table, rows, options_.operation_timeout);
}

Status HBaseStore::CheckValueSize(const std::string& row, const std::string& family,
                                  const std::string& qualifier, uint64_t bytes) {
  SiteSettings limits;
  limits.client_max_cell_size = options_.max_cell_size;
  limits.server_max_cell_size = 0;  // known to the servers alone
  return CheckCellSize(row, family, qualifier, bytes, limits);
}

StatusOr<std::chrono::milliseconds> HBaseStore::ClockDifference() {
  return server_clock_.Difference(kLongestClockDifference);
}

// ---- Namespaces ---------------------------------------------------------------------------------

Status HBaseStore::CreateNamespace(const Caller& /*caller*/, const NamespaceSchema& schema) {
  return tables_.CreateNamespace(schema, Within());
}

Status HBaseStore::AlterNamespace(const Caller& /*caller*/, const NamespaceSchema& schema) {
  return tables_.AlterNamespace(schema, Within());
}

Status HBaseStore::DropNamespace(const Caller& /*caller*/, const std::string& name) {
  return tables_.DropNamespace(name, Within());
}

StatusOr<NamespaceSchema> HBaseStore::DescribeNamespace(const std::string& name) {
  return tables_.DescribeNamespace(name, Within());
}

StatusOr<std::vector<std::string>> HBaseStore::ListNamespaces() {
  return tables_.ListNamespaces(Within());
}

// ---- Tables -------------------------------------------------------------------------------------

Status HBaseStore::CreateTable(const Caller& /*caller*/, const TableSchema& schema) {
  return tables_.Create(schema, Within());
}

Status HBaseStore::AlterTable(const Caller& /*caller*/, const TableSchema& schema) {
  return tables_.Alter(schema, Within());
}

Status HBaseStore::RecreateTable(const Caller& /*caller*/, const TableSchema& schema) {
  CELLFS_ASSIGN_OR_RETURN(const bool is_dropped, DropWithout(Cells::kStored, schema.name()));
  if (is_dropped) return tables_.Create(schema, Within());
  return {StatusCode::kUnavailable, "another client has just put something into table '" +
                                        schema.name().ToString() + "', so its regions stay"};
}

Status HBaseStore::SplitTable(const Caller& /*caller*/, const TableName& table,
                              const std::string& key) {
  return tables_.Split(table, key, Within());
}

Status HBaseStore::AddFamily(const Caller& /*caller*/, const TableName& table,
                             const FamilySchema& family) {
  return tables_.AddFamily(table, family, Within());
}

Status HBaseStore::ModifyFamily(const Caller& /*caller*/, const TableName& table,
                                const FamilySchema& family) {
  return tables_.ModifyFamily(table, family, Within());
}

Status HBaseStore::DropFamily(const Caller& /*caller*/, const TableName& table,
                              const std::string& family) {
  return tables_.DropFamily(table, family, Within());
}

Status HBaseStore::RenameTable(const Caller& /*caller*/, const TableName& /*from*/,
                               const TableName& /*to*/) {
  return {StatusCode::kUnsupportedOperation, "HBase renames no tables"};
}

Status HBaseStore::DropTable(const Caller& /*caller*/, const TableName& table) {
  return tables_.Drop(table, Within());
}

// The second look counts: what was acknowledged before it is seen, and nothing is put after it.
StatusOr<bool> HBaseStore::DropWithout(Cells cells, const TableName& table) {
  const auto holds_any = [&] { return HoldsACell(*this, Caller::Superuser(), table, cells); };
  CELLFS_ASSIGN_OR_RETURN(const bool holds_any_now, holds_any());
  if (holds_any_now) return false;
  CELLFS_ASSIGN_OR_RETURN(const bool is_closed_here, tables_.SetReadOnly(table, true, Within()));
  const auto leave = [&] {
    return is_closed_here ? tables_.SetReadOnly(table, false, Within()).status() : Status();
  };
  const auto drop = [&]() -> StatusOr<bool> {
    CELLFS_ASSIGN_OR_RETURN(const bool holds_any_still, holds_any());
    if (holds_any_still) return false;
    CELLFS_RETURN_IF_ERROR(tables_.Disable(table, Within()));
    CELLFS_RETURN_IF_ERROR(tables_.Drop(table, Within()));
    return true;
  };
  const StatusOr<bool> dropped = drop();
  if (dropped.ok() && *dropped) return true;
  const Status left = leave();
  return dropped.ok() && !left.ok() ? left : dropped;
}

StatusOr<bool> HBaseStore::DropEmptyTable(const Caller& /*caller*/, const TableName& table) {
  return DropWithout(Cells::kVisible, table);
}

Status HBaseStore::TruncateTable(const Caller& /*caller*/, const TableName& table) {
  return tables_.Truncate(table, Within());
}

Status HBaseStore::EnableTable(const Caller& /*caller*/, const TableName& table) {
  return tables_.Enable(table, Within());
}

Status HBaseStore::DisableTable(const Caller& /*caller*/, const TableName& table) {
  return tables_.Disable(table, Within());
}

StatusOr<std::shared_ptr<const TableSchema>> HBaseStore::DescribeTable(const TableName& table) {
  return tables_.Describe(table, Within());
}

Status HBaseStore::CheckMayPut(const Caller& /*caller*/, const TableName& table,
                               const PutToCome& /*put*/) {
  return tables_.CheckMayPut(table, Within());
}

Status HBaseStore::CheckMayMutate(const Caller& /*caller*/, const TableName& table,
                                  const RowMutations& /*mutations*/) {
  return tables_.CheckMayPut(table, Within());
}

StatusOr<bool> HBaseStore::IsTableEnabled(const TableName& table) {
  return regions_.IsTableEnabled(table, Within());
}

StatusOr<std::vector<TableName>> HBaseStore::ListTables(const std::string& namespace_name) {
  return tables_.List(namespace_name, Within());
}

// ---- Maintenance --------------------------------------------------------------------------------

Status HBaseStore::Flush(const Caller& /*caller*/, const TableName& table) {
  return hbase::Flush(regions_, table, Within());
}

Status HBaseStore::Compact(const Caller& /*caller*/, const TableName& table,
                           CompactionKind kind) {
  return hbase::Compact(regions_, table, kind, Within());
}

StatusOr<std::shared_ptr<const Moment>> HBaseStore::PinMoment(const std::string& /*holder*/) {
  return Status(StatusCode::kUnsupportedOperation, "a cluster keeps no moment for reading");
}

// ---- Quotas and rights --------------------------------------------------------------------------

Status HBaseStore::SetTableSpaceQuota(const Caller& /*caller*/, const TableName& table,
                                      const std::optional<SpaceQuota>& quota) {
  return SetSpaceQuota(master_, table, quota, Within());
}

Status HBaseStore::SetNamespaceSpaceQuota(const Caller& /*caller*/,
                                          const std::string& namespace_name,
                                          const std::optional<SpaceQuota>& quota) {
  return SetSpaceQuota(master_, namespace_name, quota, Within());
}

StatusOr<std::optional<SpaceQuota>> HBaseStore::TableSpaceQuota(const TableName& table) {
  return SpaceQuotaOf(regions_, table, options_.operation_timeout);
}

StatusOr<std::optional<SpaceQuota>> HBaseStore::NamespaceSpaceQuota(const std::string& name) {
  return SpaceQuotaOf(regions_, name, options_.operation_timeout);
}

Status HBaseStore::GrantPermissions(const Caller& /*caller*/, const Grant& grant, bool merge) {
  return GrantRights(master_, grant, merge, Within());
}

Status HBaseStore::RevokePermissions(const Caller& /*caller*/, const std::string& user,
                                     const GrantScope& scope) {
  return RevokeRights(master_, user, scope, Within());
}

StatusOr<std::vector<Grant>> HBaseStore::ListGrants() {
  return GrantsOf(regions_, options_.operation_timeout);
}

}  // namespace cellfs::hbase
