// SPDX-License-Identifier: MIT
//
// LocalEngine: the StorageEngine of a directory: a log for all tables, store files for
// each, the catalog. Destroyed, it flushes every table and leaves a log without records; what is
// not destroyed cleanly is recovered from the log when it is opened again.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_ENGINE_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_ENGINE_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/local/local_table.h"
#include "engine/local/lost_tables.h"
#include "engine/local/scheduler.h"
#include "engine/local/store_directory.h"
#include "engine/options.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

class LocalEngine : public StorageEngine {
 public:
  // `files` lies beneath log, catalog and manifests and outlives the engine; SQLite has its own way
  // to the disk, but store files are synced through `files`.
  static StatusOr<std::unique_ptr<LocalEngine>> Open(const std::string& directory,
                                                     const StoreOptions& options,
                                                     FileLayer& files = PosixFiles());
  ~LocalEngine() override;

  StatusOr<SavedCatalog> LoadCatalog() override { return directory_->LoadCatalog(); }
  Status SaveCatalog(std::string_view document) override;
  Status SaveCatalogEdit(std::string_view edit) override;
  StatusOr<OpenedTables> OpenTables(const std::vector<StoredTable>& tables,
                                    TableId next_id) override;
  StatusOr<std::shared_ptr<CellStorage>> CreateTable(const StoredTable& table) override;
  Status DropTable(TableId id) override;

  Status Sync() override {
    return services_->wal->MakeDurable(services_->wal->end(), Durability::kFsyncWal);
  }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override;
  uint64_t BytesLackedByPuts() const override { return services_->lacked_bytes(); }
  uint64_t TakeBytesLackedByCompactions() override {
    return services_->lacked_by_compactions.exchange(0);
  }
  void SetMaintenancePaused(bool paused) override;
  void SetCacheBytes(int64_t bytes) override { services_->cache.blocks.SetCapacity(bytes); }
  void SetRewriteObserver(RewriteObserver* observer) override {
    const std::lock_guard lock(services_->observer_mutex);
    services_->observer = observer;
  }
  Statistics GetStatistics() override;

 private:
  LocalEngine(std::unique_ptr<StoreDirectory> directory, const StoreOptions& options);
  std::string PathOf(TableId id) const;
  StatusOr<TableId> SettleStrangers(const std::vector<StoredTable>& tables, TableId next_id);
  bool IsUnusedCreation(TableId id) const;
  void RemoveFiles(TableId id) const;
  void CountMoments(Statistics& statistics);
  void RemoveUnnamed(const std::string& path);
  void RemoveLeftovers();
  std::string DescribeMaintenance() const;
  Status CheckTakesPuts();
  StatusOr<std::shared_ptr<LocalTable>> OpenTable(const StoredTable& table);
  StatusOr<std::shared_ptr<LocalTable>> AddTable(const StoredTable& table,
                                                   const Manifest& manifest);
  Status RecoverLog(const std::vector<StoredTable>& tables);
  Status SettleTable(TableId id);
  Status CheckIsWhole(TableId id);
  std::vector<std::shared_ptr<LocalTable>> Tables() const;
  void NoteDamage(TableId id, const Status& damage) const;

  FileLayer& files_;
  const std::unique_ptr<StoreDirectory> directory_;
  const std::shared_ptr<TableServices> services_;
  LostTables lost_tables_;
  // Tables of which the log has, or has had, records, with the highest sequence id that it has; set
  // by RecoverLog.
  std::map<TableId, SequenceId> in_log_;
  KnownEnd known_end_;           // of the log, by the manifests
  std::set<TableId> set_aside_;  // of which there is something, and CATALOG does not name them

  mutable std::mutex mutex_;
  std::map<TableId, std::shared_ptr<LocalTable>> tables_;  // under mutex_
  std::unique_ptr<Scrub> scrub_;  // set by OpenTables
  std::unique_ptr<Scheduler> scheduler_;                 // null: off, or not begun
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_ENGINE_H_
