// SPDX-License-Identifier: MIT
//
// EmbeddedStore: a ControlledStore over a StorageEngine: what HBase divides among master,
// region servers and their coprocessors. Here are tables' life, namespaces, quotas and rights; the
// data path of one table is Region.
//
// Locks: administration holds admin_mutex_ throughout, and within it the directory's for the swap.
// Reads and writes of cells take the directory's alone, and only to find their table.
#ifndef CELLFS_ENGINE_EMBEDDED_EMBEDDED_STORE_H_
#define CELLFS_ENGINE_EMBEDDED_EMBEDDED_STORE_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_saver.h"
#include "engine/controlled_store.h"
#include "engine/embedded/table_directory.h"
#include "engine/options.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

class EmbeddedStore : public ControlledStore {
 public:
  // Reads the catalog and opens its tables. A table that cannot be opened answers why to whatever
  // is asked of it; the others work.
  static StatusOr<std::unique_ptr<ControlledStore>> Open(std::unique_ptr<StorageEngine> engine,
                                                         StoreOptions options);

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
  Status Sync() override { return engine_->Sync(); }
  Status CheckMayPut(const Caller& caller, const TableName& table, const PutToCome& put) override;
  Status CheckMayMutate(const Caller& caller, const TableName& table,
                        const RowMutations& mutations) override;
  Status CheckMayAlter(const Caller& caller, const GrantScope& scope) override;
  Status CheckMayPutWithin(const Caller& caller, const GrantScope& scope) override;
  Status CheckRoom(const TableName& table, uint64_t bytes) override;
  Status CheckValueSize(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t bytes) override;

  Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  Status DropNamespace(const Caller& caller, const std::string& name) override;
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) override;
  StatusOr<std::vector<std::string>> ListNamespaces() override;

  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status SplitTable(const Caller& caller, const TableName& table,
                    const std::string& key) override;
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
  StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId id) override;
  StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp time) override;
  StatusOr<Dropped> ListDropped() override;
  Status BringBackTable(const Caller& caller, TableId id, const TableName& name) override;
  Status FreeDroppedTable(const Caller& caller, TableId id) override;
  Status FreeDroppedEarly(const Caller& caller, TableId id, const std::string& why) override;
  Status BringBackNamespace(const Caller& caller, Timestamp dropped,
                            const std::string& name) override;
  Status FreeDroppedNamespace(const Caller& caller, Timestamp dropped) override;

  Status Flush(const Caller& caller, const TableName& table) override;
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override;
  Status CompactSelected(const Caller& caller, const TableName& table) override;
  void SetMaintenancePaused(bool paused) override { engine_->SetMaintenancePaused(paused); }
  void SetCacheBytes(int64_t bytes) override { engine_->SetCacheBytes(bytes); }
  void SetRewriteObserver(RewriteObserver* observer) override {
    engine_->SetRewriteObserver(observer);
  }
  Statistics GetStatistics() override;
  StatusOr<std::chrono::milliseconds> ClockDifference() override {
    return std::chrono::milliseconds(0);
  }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override {
    return engine_->PinMoment(holder);
  }

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override;
  Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                const std::optional<SpaceQuota>& quota) override;
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override;
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) override;
  Status CheckSpaceQuotas() override;

  Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) override;
  Status RevokePermissions(const Caller& caller, const std::string& user,
                           const GrantScope& scope) override;
  StatusOr<std::vector<Grant>> ListGrants() override;

 private:
  struct OpenedTable {
    std::shared_ptr<Region> region;
    Status unopened;
  };
  using SchemaChange = std::function<Status(TableSchema& schema)>;

  EmbeddedStore(std::unique_ptr<StorageEngine> engine, StoreOptions options);
  Status Load();
  std::shared_ptr<Region> MakeRegion(std::shared_ptr<const TableSchema> schema,
                                     std::shared_ptr<CellStorage> storage);

  // Each act of administration is alone. It may flush, and waits for the disk. What it has dropped
  // gives its files back at the end, when others may act again: that may take long.
  class Act {
   public:
    explicit Act(EmbeddedStore& store);
    ~Act();
    Act(const Act&) = delete;
    Act& operator=(const Act&) = delete;

   private:
    EmbeddedStore& store_;
    std::unique_lock<std::mutex> lock_;
  };
  // The copy of the catalog that an act changes, and its way into force. REQUIRES: admin_mutex_.
  Catalog CopyCatalog() const {
    const Snapshot<Catalog> catalog = directory_->catalog();
    return *catalog;
  }
  // kOutcomeUnknown: the catalog is in force, and power loss may bring the one before back.
  // `forgotten`: a table of which no past is kept.
  Status Commit(Catalog catalog, TableId forgotten = 0);
  Status MakeTable(const Caller& caller, const TableSchema& schema);
  Status CommitDisabled(const Caller& caller, const TableName& table,
                        std::shared_ptr<Region>& region);  // that is to be flushed after it
  Status DropDisabledTable(const Caller& caller, const TableName& table);
  StatusOr<bool> DropEnabledTable(const Caller& caller, const TableName& table);  // if it is empty
  Status CommitDrop(Catalog catalog, const TableName& table);
  // Without these dropped tables, for good.
  Status CommitFree(Catalog catalog, const std::vector<TableId>& ids);
  Status CommitFree(const std::vector<TableId>& ids);
  // `schema`, which the catalog has already, comes into force, or the catalog is `before` again.
  Status CommitSchema(const Catalog& before, Catalog catalog, Region& region,
                      std::shared_ptr<const TableSchema> schema);
  // `closed`: the regions that are to be flushed after it.
  Status CommitViolations(std::vector<std::shared_ptr<Region>>& closed);
  std::shared_ptr<TableHandle> MakeHandle(const CatalogTable& table) const;
  void Publish(const std::shared_ptr<const Catalog>& catalog);

  // The table that a query is of. Null: one that was dropped with no cell in it.
  StatusOr<std::shared_ptr<const TableHandle>> FindToRead(const TableName& table,
                                                          const Query& query) const;

  // ---- Dropped tables that have to go (embedded_store_dropped.cc)
  // Those whose time has come, and the oldest of each namespace that is over its quota. REQUIRES:
  // admin_mutex_.
  Status FreeExpired();
  // The oldest, on a full disk that lacks so many bytes (0: some), as an act. False: nothing is
  // kept, or all of it would not give them, and nothing has gone.
  bool MakeRoom(uint64_t lacked);
  Status CompactWithRoom(const std::function<Status()>& compact);
  void MakeRoomWhilePutsAreRefused();
  // `operation` again as long as it finds the disk full and something that is kept can go for it.
  template <typename Operation>
  auto WithRoom(const Operation& operation);
  Status CheckRoomIn(const TableName& table, const TableHandle& handle, uint64_t bytes);
  std::vector<StatusOr<MutationResult>> BatchWithRoom(const std::shared_ptr<Region>& region,
                                                      const std::vector<RowMutations>& rows);
  TableStatistics StatisticsOf(TableId id) const;  // nothing where it is not open
  std::vector<KeptTableStatistics> StatisticsOfKept(const Catalog& catalog) const;

  // Ok without authorization.
  Status Require(const Caller& caller, std::string_view rights, const GrantScope& scope) const;
  StatusOr<std::shared_ptr<Region>> RegionToCompact(const Caller& caller, const TableName& table);
  Status RequireWriteAndSpace(const Caller& caller, const TableName& table,
                              const TableHandle& handle, const RowMutations& mutations) const;
  // The query to hand on where the caller may read only a part of what `query` names.
  template <typename Q>
  StatusOr<std::optional<Q>> Restricted(const Caller& caller, const TableHandle& handle,
                                        const Q& query) const;

  // The longest part of an act that flushes the table, before it holds up others: it finds little
  // left. What fails, it tells.
  void FlushBeforehand(const Caller& caller, const TableName& table);
  // The table's entry in `catalog`, for one who may change it. kReadOnly for system tables.
  StatusOr<CatalogTable*> FindChangeable(const Caller& caller, Catalog& catalog,
                                         const TableName& table) const;
  StatusOr<std::shared_ptr<Region>> OpenRegion(const CatalogTable& table) const;
  // Whether the change makes the caller an owner of the table (GrantOwner).
  enum class Ownership { kTaken, kKept };
  Status ChangeSchema(const Caller& caller, const TableName& table, const SchemaChange& change,
                      Ownership ownership = Ownership::kTaken);
  void SetDefaultVersions(TableSchema& schema, const TableSchema* before) const;
  // The caller's full rights on a table that he made or altered, as HBase's AccessController gives.
  void GrantOwner(Catalog& catalog, const Caller& caller, const TableName& table) const;
  Timestamp Now() const { return options_.clock->Now(); }

  const StoreTraits traits_;
  const std::shared_ptr<StorageEngine> engine_;  // shared with scanners; outlives the regions
  const StoreOptions options_;
  const std::shared_ptr<TableDirectory> directory_;
  std::mutex admin_mutex_;
  CatalogSaver saver_{*engine_};           // guarded by admin_mutex_, as are the next two
  std::map<TableId, OpenedTable> opened_;
  std::vector<TableId> dropped_;           // by the act under way
  TableId last_id_ = 0;                    // that was given to a table; likewise
  TableHandles system_tables_;             // constant once open
  static constexpr size_t kMostTold = 64;
  std::mutex told_mutex_;                  // a leaf; guards the next two
  std::shared_ptr<const Catalog> told_of_;
  std::map<Timestamp, std::shared_ptr<const PastCatalog>> told_;  // CatalogAt
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_EMBEDDED_EMBEDDED_STORE_H_
