// SPDX-License-Identifier: MIT
//
// Flushes, compactions, statistics.
#include <functional>
#include <utility>

#include "engine/catalog/access_control.h"
#include "engine/catalog/catalog_history.h"
#include "engine/catalog/emptied.h"
#include "engine/embedded/embedded_store.h"

namespace cellfs {
namespace {

constexpr int kMaintenanceAttempts = 5;

// Where the table was dropped or altered under `act`: for what there is of that name now.
Status DoAgainIfAltered(const std::function<Status()>& act) {
  for (int attempt = 1;; ++attempt) {
    const Status status = act();
    const bool was_altered = status.code() == StatusCode::kUnavailable ||
                             status.code() == StatusCode::kCancelled;
    if (!was_altered || attempt == kMaintenanceAttempts) return status;
  }
}

}  // namespace

Status EmbeddedStore::Flush(const Caller& caller, const TableName& table) {
  return DoAgainIfAltered([&]() -> Status {
    CELLFS_RETURN_IF_ERROR(Require(caller, "AC", TableScope(table)));
    CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
    return handle->region->Flush();
  });
}

// Null where HBase passes over a compaction in silence.
StatusOr<std::shared_ptr<Region>> EmbeddedStore::RegionToCompact(const Caller& caller,
                                                                 const TableName& table) {
  CELLFS_RETURN_IF_ERROR(Require(caller, "AC", TableScope(table)));
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  if (handle->violation == SpaceViolationPolicy::kNoWritesCompactions)
    return std::shared_ptr<Region>();
  return handle->region;
}

// As for a put, what was dropped and is kept gives its room, the oldest first, where that is
// enough.
Status EmbeddedStore::CompactWithRoom(const std::function<Status()>& compact) {
  static_cast<void>(engine_->TakeBytesLackedByCompactions());  // others'
  while (true) {
    Status done = DoAgainIfAltered(compact);
    if (done.code() != StatusCode::kStoreFull) return done;
    if (MakeRoom(engine_->TakeBytesLackedByCompactions())) continue;
    const Snapshot<Catalog> catalog = directory_->catalog();
    Statistics statistics;
    statistics.kept = StatisticsOfKept(*catalog);
    if (statistics.kept.empty()) return done;
    return {done.code(), done.message() + ". The tables that were dropped and are kept take " +
                             std::to_string(BytesOfKept(statistics)) +
                             " bytes in all, too few to be freed for it"};
  }
}

Status EmbeddedStore::Compact(const Caller& caller, const TableName& table, CompactionKind kind) {
  return CompactWithRoom([&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto region, RegionToCompact(caller, table));
    return region == nullptr ? Status() : region->Compact(kind);
  });
}

Status EmbeddedStore::CompactSelected(const Caller& caller, const TableName& table) {
  return CompactWithRoom([&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto region, RegionToCompact(caller, table));
    return region == nullptr ? Status() : region->CompactSelected();
  });
}

Statistics EmbeddedStore::GetStatistics() {
  Statistics statistics = engine_->GetStatistics();
  const Snapshot<Catalog> catalog = directory_->catalog();
  for (const auto& [name, table] : catalog->tables) {
    const auto handle = directory_->Find(name);
    if (!handle.ok()) continue;
    if ((*handle)->region != nullptr) {
      statistics.tables.push_back((*handle)->region->GetStatistics());
    } else {
      TableStatistics unopened;
      unopened.table = name;
      unopened.damage = (*handle)->unopened.message();
      statistics.tables.push_back(std::move(unopened));
    }
    statistics.tables.back().violation = (*handle)->violation;
    statistics.tables.back().emptied = EmptiedFamilies(*catalog, name);
    statistics.tables.back().created = table.created;
    statistics.tables.back().begun = TableBegun(*catalog, name);
  }
  statistics.dropped = DroppedTables(*catalog);
  statistics.kept = StatisticsOfKept(*catalog);
  statistics.freed_early = catalog->freed_early;
  statistics.past_states = catalog->past_tables.size() + catalog->past_namespaces.size();
  statistics.past_bytes = PastBytes(*catalog);
  return statistics;
}

}  // namespace cellfs
