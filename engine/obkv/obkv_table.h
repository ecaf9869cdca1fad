// SPDX-License-Identifier: MIT
//
// ObkvTable: the cells of one table in a database. A read is a transaction that sees one state. A
// write is one too, which keeps its rows from others: ours wait for a row of the table
// cellfs.row_locks (RowLocksTable), whether they look at what they change or not; others' writes to
// what is there, and was looked at, wait for it as it does for theirs (SELECT ... FOR UPDATE).
#ifndef CELLFS_ENGINE_OBKV_OBKV_TABLE_H_
#define CELLFS_ENGINE_OBKV_OBKV_TABLE_H_

#include <memory>
#include <string>

#include "engine/clock.h"
#include "engine/obkv/connection_pool.h"
#include "engine/obkv/described_table.h"
#include "engine/obkv/row_locks_table.h"
#include "engine/options.h"
#include "engine/storage/cell_storage.h"

namespace cellfs::obkv {

// What the tables of a store share; outlives them.
struct ObkvServices {
  const ObkvOptions& options;
  const StoreOptions& store;  // site and clock
  ConnectionPool& pool;
  RowLocksTable& row_locks;
};

class ObkvTable : public CellStorage, public std::enable_shared_from_this<ObkvTable> {
 public:
  ObkvTable(const ObkvServices& services, DescribedTable table)
      : services_(services), table_(std::move(table)) {}

  const DescribedTable& described() const { return table_; }

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override;
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override;
  // Is on disk, as far as the server says it, when it returns.
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) override;
  StatusOr<std::unique_ptr<RowStorage>> KeepRows(std::span<const std::string_view> rows) override;

  Status Flush() override { return {}; }  // the server's
  // A major one, of the families that the server does not look after by itself.
  Status Compact(CompactionKind kind) override;
  Status CompactSelected() override { return {}; }
  TableStatistics GetStatistics() override { return {}; }
  // One that is described otherwise is another object.
  Status ReplaceSchema(std::shared_ptr<const TableSchema> /*schema*/) override { return {}; }
  Status Truncate() override;

 private:
  class KeptRows;
  class ObkvScanner;

  Patience Within(const std::atomic<bool>* cancelled = nullptr) const {
    return Patience::For(services_.options.operation_timeout, cancelled);
  }

  const ObkvServices services_;
  const DescribedTable table_;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_OBKV_TABLE_H_
