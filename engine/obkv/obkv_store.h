// SPDX-License-Identifier: MIT
//
// ObkvStore: a database of MySQL's protocol in OBKV-HBase's layout as a Store. What is read and
// written goes by HBase's rules (Region), but for what the layout cannot keep: a delete removes at
// once, so nothing that was deleted can be seen, and nothing hides what is written later
// (engine/obkv/row_writes.h); there are no quotas, and rights are those of the user of the options,
// whoever the Caller is.
//
// Every call goes to the server and ends within operation_timeout: with an answer, with
// kUnavailable or kTimedOut where nothing has happened, or with kOutcomeUnknown, where neither a
// COMMIT was answered nor what has become of it could be found out. What others change
// is seen at the next call, but for schemas, which count for half of options.max_staleness_ms.
#ifndef CELLFS_ENGINE_OBKV_OBKV_STORE_H_
#define CELLFS_ENGINE_OBKV_OBKV_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/obkv/obkv_table.h"
#include "engine/obkv/tables.h"
#include "engine/remote/description_cache.h"
#include "engine/store.h"
#include "engine/table/region.h"

namespace cellfs::obkv {

class ObkvStore : public Store {
 public:
  // Of `site` the limits of cells and rows count. kUnavailable, kTimedOut, kAccessDenied.
  static StatusOr<std::unique_ptr<ObkvStore>> Open(const ObkvOptions& options,
                                                   const StoreOptions& store);

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
  Status Sync() override { return {}; }  // what is acknowledged is committed
  // By the schema alone, which is at hand. Of all else the act itself tells.
  Status CheckMayPut(const Caller& caller, const TableName& table, const PutToCome& put) override;
  Status CheckMayMutate(const Caller& caller, const TableName& table,
                        const RowMutations& mutations) override;
  Status CheckMayAlter(const Caller&, const GrantScope&) override { return {}; }
  Status CheckMayPutWithin(const Caller&, const GrantScope&) override { return {}; }
  Status CheckRoom(const TableName&, uint64_t) override { return {}; }
  Status CheckValueSize(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t bytes) override;
  // The server's.
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
  // Looks and drops: a cell that others put in between goes with it.
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  // Stands in its families' comments: other programs take no notice of it.
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;
  StatusOr<bool> IsTableEnabled(const TableName& table) override;
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override;
  StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId /*id*/) override {
    return HasNot("ids of tables");
  }
  StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp /*time*/) override {
    return HasNot("its former tables");
  }
  StatusOr<Dropped> ListDropped() override { return HasNot("what was dropped"); }
  Status BringBackTable(const Caller&, TableId, const TableName&) override {
    return HasNot("what was dropped");
  }
  Status FreeDroppedTable(const Caller&, TableId) override { return HasNot("what was dropped"); }
  Status FreeDroppedEarly(const Caller&, TableId, const std::string&) override {
    return HasNot("what was dropped");
  }
  Status BringBackNamespace(const Caller&, Timestamp, const std::string&) override {
    return HasNot("what was dropped");
  }
  Status FreeDroppedNamespace(const Caller&, Timestamp) override {
    return HasNot("what was dropped");
  }

  Status Flush(const Caller& caller, const TableName& table) override;  // the server's
  // Takes as long as it takes: each of its steps ends within operation_timeout.
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override;
  Statistics GetStatistics() override { return {}; }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& /*holder*/) override {
    return HasNot("a moment for reading");
  }

  Status SetTableSpaceQuota(const Caller&, const TableName&,
                            const std::optional<SpaceQuota>&) override {
    return HasNot("quotas");
  }
  Status SetNamespaceSpaceQuota(const Caller&, const std::string&,
                                const std::optional<SpaceQuota>&) override {
    return HasNot("quotas");
  }
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName&) override {
    return std::optional<SpaceQuota>();
  }
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string&) override {
    return std::optional<SpaceQuota>();
  }
  Status CheckSpaceQuotas() override { return {}; }
  Status GrantPermissions(const Caller&, const Grant&, bool) override { return HasNot("grants"); }
  Status RevokePermissions(const Caller&, const std::string&, const GrantScope&) override {
    return HasNot("grants");
  }
  StatusOr<std::vector<Grant>> ListGrants() override { return HasNot("grants"); }

 private:
  // A table as it is described, and the rules by which it is read and written.
  struct OpenTable {
    OpenTable(const ObkvServices& services, DescribedTable described);
    const std::shared_ptr<ObkvTable> storage;
    Region region;
  };
  using Opened = StatusOr<std::shared_ptr<OpenTable>>;
  using SchemaChange = std::function<Status(TableSchema& schema)>;

  ObkvStore(const ObkvOptions& options, const StoreOptions& store);
  static Status HasNot(const std::string& what) {
    return {StatusCode::kUnsupportedOperation, "a database in OBKV's layout keeps no " + what};
  }

  Patience Within() const { return Patience::For(options_.operation_timeout); }
  Opened Find(const TableName& table);
  Opened FindEnabled(const TableName& table);
  StatusOr<DescribedTable> DescribeNow(const TableName& table);
  Status Change(const TableName& table, const SchemaChange& change);
  Status SetEnabled(const TableName& table, bool enabled);

  const ObkvOptions options_;
  const StoreOptions store_;
  const StoreTraits traits_;
  ConnectionPool pool_;
  RowLocksTable row_locks_;
  const ObkvServices services_;
  Tables tables_;
  DescriptionCache<OpenTable> opened_;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_OBKV_STORE_H_
