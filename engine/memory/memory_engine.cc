// SPDX-License-Identifier: MIT
#include "engine/memory/memory_engine.h"

#include <mutex>
#include <utility>

#include "engine/memory/memory_storage.h"
#include "engine/memory/table_cells.h"

namespace cellfs {
namespace {

class MemoryEngine : public StorageEngine {
 public:
  explicit MemoryEngine(const StoreOptions& options)
      : shared_(std::make_shared<MemoryShared>(options)) {}

  StatusOr<SavedCatalog> LoadCatalog() override { return catalog_; }
  Status SaveCatalog(std::string_view document) override {
    catalog_ = {std::string(document), {}};
    return {};
  }
  Status SaveCatalogEdit(std::string_view edit) override {
    catalog_.edits.emplace_back(edit);
    return {};
  }

  StatusOr<OpenedTables> OpenTables(const std::vector<StoredTable>& tables,
                                    TableId next_id) override {
    OpenedTables opened{{}, next_id};
    for (const StoredTable& table : tables) opened.storages.push_back(CreateTable(table));
    return opened;
  }
  StatusOr<std::shared_ptr<CellStorage>> CreateTable(const StoredTable& table) override {
    return MakeMemoryStorage(shared_, table.schema);
  }
  Status DropTable(TableId) override { return {}; }  // goes with its last holder

  Status Sync() override { return {}; }

  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& /*holder*/) override {
    const std::lock_guard lock(shared_->mutex);
    auto moment = std::make_shared<Moment>();
    moment->sequence_id = shared_->last_sequence_id;
    moment->now = shared_->options.clock->Now();
    shared_->moments.push_back(moment);
    return std::shared_ptr<const Moment>(std::move(moment));
  }
  void SetMaintenancePaused(bool) override {}
  void SetCacheBytes(int64_t) override {}
  void SetRewriteObserver(RewriteObserver* observer) override {
    const std::lock_guard lock(shared_->mutex);
    shared_->observer = observer;
  }

  Statistics GetStatistics() override {
    const std::lock_guard lock(shared_->mutex);
    Statistics statistics;
    statistics.mutations = shared_->mutations;
    statistics.last_sequence_id = shared_->last_sequence_id;
    statistics.maintenance = "idle";
    statistics.pinned_moments = static_cast<uint32_t>(shared_->Pinned().size());
    return statistics;
  }

 private:
  const std::shared_ptr<MemoryShared> shared_;
  SavedCatalog catalog_;
};

}  // namespace

std::unique_ptr<StorageEngine> MakeMemoryEngine(const StoreOptions& options) {
  return std::make_unique<MemoryEngine>(options);
}

}  // namespace cellfs
