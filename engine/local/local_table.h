// SPDX-License-Identifier: MIT
//
// LocalTable: the cells of one table of an embedded store (HBase: the HStores of one region). A
// write goes to the log and into the active memstore; a flush writes that into store files, and a
// compaction puts one file in the place of several. A read merges memstores and files as they are at
// one time (TableVersion).
//
// Locks, in the order in which they are taken: the flusher's, the compactor's, those of VersionSet;
// the observer's last.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_TABLE_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_TABLE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "engine/local/manifest.h"
#include "engine/local/table_compactor.h"
#include "engine/local/table_flusher.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"
#include "engine/local/write_pace.h"
#include "engine/storage/cell_storage.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

class LocalTable : public CellStorage, public std::enable_shared_from_this<LocalTable> {
 public:
  LocalTable(std::shared_ptr<TableServices> services, StoredTable table,
             std::shared_ptr<const TableFolder> folder, const Manifest& manifest);

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override;
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override;
  Timestamp NewestTimestamp() const override;
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) override;
  Status MakeDurable(LogPosition position, Durability durability) override {
    return services_->wal->MakeDurable(position, durability);
  }
  std::unique_ptr<WriteRoom> RoomAhead(uint64_t bytes) override;
  Status CheckRoom(uint64_t bytes) override;
  Status Flush() override;
  Status Compact(CompactionKind kind) override;
  Status CompactSelected() override;
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override;
  Status Truncate() override;
  TableStatistics GetStatistics() override;

  // For the engine and its scheduler.
  TableId id() const { return versions_.id(); }
  TableName name() const { return versions_.Schema()->name(); }
  VersionSet& versions() { return versions_; }
  TableFlusher& flusher() { return flusher_; }
  TableCompactor& compactor() { return compactor_; }
  // What the log brings back, but for families that were dropped. Before anything else is asked of
  // the table.
  void Recover(const LogRecord& record);
  // Another family that the log has cells of and the schema does not name; empty: there is none.
  const std::string& strange_family() const { return strange_family_; }
  // No more writes come; what is left of the table is removed.
  void Drop();

 private:
  class LocalScanner;

  // With room.
  StatusOr<Applied> Write(std::span<RowBatch> batches,
                          const TableServices::BytesOfPut& bytes, bool only_deletes,
                          double fullness);
  Status CheckStorable(std::span<const RowBatch> batches) const;
  TableServices::BytesOfPut BytesOf(std::span<const RowBatch> batches) const;
  TableServices::BytesOfPut BytesOfValue(uint64_t bytes) const;
  std::chrono::microseconds PauseAfter(uint64_t bytes, double fullness,
                                       const TableVersion& version);
  void ShowError(std::string_view work, const Attempts& attempts,
                 TableStatistics& statistics) const;

  const std::shared_ptr<TableServices> services_;
  VersionSet versions_;
  TableFlusher flusher_;
  TableCompactor compactor_;
  WritePace pace_;
  const std::map<std::string, Timestamp> dropped_families_;  // as of StoredTable
  std::string strange_family_;                               // set by Recover
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_TABLE_H_
