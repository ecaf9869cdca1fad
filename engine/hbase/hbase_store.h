// SPDX-License-Identifier: MIT
//
// HBaseStore: a running HBase, 2.3 or later, as a Store. Every call goes to the cluster, in its own
// protocol, and ends within operation_timeout: with an answer, with kUnavailable or kTimedOut where
// nothing has happened, or with kOutcomeUnknown. What others change is seen at the next call, but for schemas,
// which count for half of options.max_staleness_ms.
//
// The cluster sees options.user, whoever the Caller is: a mount of a cluster has one user's rights.
// RecreateTable and DropEmptyTable are several calls of HBase's. Nothing that was put is lost by them.
#ifndef CELLFS_ENGINE_HBASE_HBASE_STORE_H_
#define CELLFS_ENGINE_HBASE_HBASE_STORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/hbase/connection_pool.h"
#include "engine/hbase/master.h"
#include "engine/cluster_options.h"
#include "engine/hbase/regions.h"
#include "engine/hbase/registry.h"
#include "engine/hbase/server_clock.h"
#include "engine/hbase/tables.h"
#include "engine/remote/shown_cells.h"
#include "engine/store.h"

namespace cellfs::hbase {

class HBaseStore : public Store {
 public:
  // Asks the cluster for its id. kIllegalArgument where the options name no server; kUnavailable
  // where none of them answers.
  static StatusOr<std::unique_ptr<HBaseStore>> Open(const ClusterOptions& options);

  const std::string& cluster_id() const { return cluster_id_; }

  const StoreTraits& traits() const override { return traits_; }

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override;
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override;
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override;
  std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                              const std::vector<RowMutations>& rows) override;
  Status Sync() override { return {}; }  // what is acknowledged is as durable as its mutation says
  // By the schema alone, which is at hand. Of all else the act itself tells.
  Status CheckMayPut(const Caller& caller, const TableName& table, const PutToCome& put) override;
  Status CheckMayMutate(const Caller& caller, const TableName& table,
                        const RowMutations& mutations) override;
  Status CheckMayAlter(const Caller&, const GrantScope&) override { return {}; }
  Status CheckMayPutWithin(const Caller&, const GrantScope&) override { return {}; }
  Status CheckRoom(const TableName&, uint64_t) override { return {}; }
  Status CheckValueSize(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t bytes) override;
  StatusOr<std::chrono::milliseconds> ClockDifference() override;

  Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  Status DropNamespace(const Caller& caller, const std::string& name) override;
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) override;
  StatusOr<std::vector<std::string>> ListNamespaces() override;

  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status SplitTable(const Caller& caller, const TableName& table, const std::string& key) override;
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override;
  Status ModifyFamily(const Caller& caller, const TableName& table,
                      const FamilySchema& family) override;
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override;
  Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) override;
  Status DropTable(const Caller& caller, const TableName& table) override;
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;
  StatusOr<bool> IsTableEnabled(const TableName& table) override;
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override;
  StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId /*id*/) override {
    return Status(StatusCode::kUnsupportedOperation, "HBase gives its tables no ids");
  }
  StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp /*time*/) override {
    return Status(StatusCode::kUnsupportedOperation, "HBase does not know its former tables");
  }
  StatusOr<Dropped> ListDropped() override { return KeepsNothing(); }
  Status BringBackTable(const Caller&, TableId, const TableName&) override {
    return KeepsNothing();
  }
  Status FreeDroppedTable(const Caller&, TableId) override { return KeepsNothing(); }
  Status FreeDroppedEarly(const Caller&, TableId, const std::string&) override {
    return KeepsNothing();
  }
  Status BringBackNamespace(const Caller&, Timestamp, const std::string&) override {
    return KeepsNothing();
  }
  Status FreeDroppedNamespace(const Caller&, Timestamp) override { return KeepsNothing(); }

  Status Flush(const Caller& caller, const TableName& table) override;
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override;
  Statistics GetStatistics() override { return {}; }  // the cluster's are its own
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override;

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override;
  Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                const std::optional<SpaceQuota>& quota) override;
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override;
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) override;
  Status CheckSpaceQuotas() override { return {}; }  // the master does, from time to time

  Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) override;
  Status RevokePermissions(const Caller& caller, const std::string& user,
                           const GrantScope& scope) override;
  StatusOr<std::vector<Grant>> ListGrants() override;

 private:
  static Status KeepsNothing() {
    return {StatusCode::kUnsupportedOperation, "HBase keeps nothing of what was dropped"};
  }
  explicit HBaseStore(const ClusterOptions& options);

  // The table is READONLY for as long as that takes, and stays so where this client dies within it.
  // False: it has such cells.
  StatusOr<bool> DropWithout(Cells cells, const TableName& table);

  // Of a call that begins now.
  Patience Within() const { return Patience::For(options_.operation_timeout); }

  const ClusterOptions options_;
  const StoreTraits traits_;
  ConnectionPool pool_;
  Registry registry_;
  Regions regions_;
  Master master_;
  Tables tables_;
  ServerClock server_clock_;
  std::string cluster_id_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_HBASE_STORE_H_
