// SPDX-License-Identifier: MIT
#include "engine/obkv/obkv_table.h"

#include <utility>

#include "engine/obkv/row_writes.h"
#include "engine/obkv/sql_cursor.h"
#include "engine/obkv/sql_text.h"
#include "engine/obkv/transaction.h"
#include "engine/visibility/region_scanner.h"

namespace cellfs::obkv {
namespace {

// Which rows of all families' tables.
struct Bounds {
  std::optional<std::string> only_row;
  std::string stop_row;
  bool for_update = false;
};

CursorSource CursorsOver(const Transaction& transaction, const DescribedTable& table,
                         const Bounds& bounds) {
  return [&](const std::string& family,
             bool lengths_only) -> StatusOr<std::unique_ptr<CellCursor>> {
    return OpenSqlCursor(transaction.connection(),
                         {.table = TableOfFamily(table.schema->name(), family),
                          .has_ttl = table.families.find(family)->second.has_ttl,
                          .only_row = bounds.only_row,
                          .stop_row = bounds.stop_row,
                          .lengths_only = lengths_only,
                          .for_update = bounds.for_update},
                         transaction.patience());
  };
}

StatusOr<ColumnHead> HeadOf(const Transaction& transaction, const DescribedTable& table,
                            std::string_view row, std::string_view family,
                            std::string_view qualifier, bool for_update) {
  const std::string sql = "SELECT T FROM " + TableOfFamily(table.schema->name(), family) +
                          " WHERE K = ? AND Q = ? ORDER BY T LIMIT 1" +
                          (for_update ? " FOR UPDATE" : "");
  CELLFS_ASSIGN_OR_RETURN(
      const auto newest,
      transaction.connection().Query(sql, {row, qualifier}, transaction.patience()));
  ColumnHead head;
  if (!newest.empty()) head.newest_put = -NumberOf(newest.front().front());
  return head;
}

// After the last row that a scan may look at.
std::string StopOf(const Scan& scan) {
  const std::string& last = scan.reversed ? scan.start_row : scan.stop_row;
  const bool is_included = scan.reversed ? scan.include_start_row : scan.include_stop_row;
  return last.empty() || !is_included ? last : RowAfter(last);
}

Bounds BoundsOf(const Scan& scan) {
  if (scan.IsOfOneRow()) return {.only_row = scan.start_row, .stop_row = {}, .for_update = false};
  return {.only_row = {}, .stop_row = StopOf(scan), .for_update = false};
}

Status WriteRows(const Transaction& transaction, const DescribedTable& table,
                 std::span<RowBatch> batches) {
  for (const RowBatch& batch : batches)
    CELLFS_RETURN_IF_ERROR(WriteRow(transaction, table, batch));
  return {};
}

}  // namespace

// One transaction for each batch.
class ObkvTable::ObkvScanner : public Scanner {
 public:
  ObkvScanner(std::shared_ptr<ObkvTable> table, const Scan& scan,
              std::unique_ptr<RegionScanner> scanner)
      : table_(std::move(table)), bounds_(BoundsOf(scan)), scanner_(std::move(scanner)) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    const Patience patience = table_->Within(batch.cancelled);
    CELLFS_ASSIGN_OR_RETURN(const auto connection, table_->services_.pool.Lend(patience));
    Transaction transaction(*connection, patience);
    CELLFS_RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kReading));
    CELLFS_ASSIGN_OR_RETURN(
        auto rows, scanner_->Next(batch, CursorsOver(transaction, table_->table_, bounds_),
                                  table_->services_.store.clock->Now()));
    CELLFS_RETURN_IF_ERROR(transaction.Commit());
    return rows;
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  const std::shared_ptr<ObkvTable> table_;
  const Bounds bounds_;
  const std::unique_ptr<RegionScanner> scanner_;
};

// A transaction that has the row.
class ObkvTable::KeptRow : public RowStorage {
 public:
  KeptRow(std::shared_ptr<ObkvTable> table, std::string_view row, ConnectionPool::Lent connection,
          const Patience& patience)
      : table_(std::move(table)),
        connection_(std::move(connection)),
        transaction_(*connection_, patience),
        bounds_{.only_row = std::string(row), .stop_row = {}, .for_update = true} {}

  Status Begin() {
    CELLFS_RETURN_IF_ERROR(transaction_.Begin(Transaction::Kind::kWriting));
    return table_->services_.row_locks.Lock(transaction_, table_->table_.schema->name(),
                                            *bounds_.only_row);
  }

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
    return RegionScanner::Read(get, Context(), Cursors(), now);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, RegionScanner::Open(scan, Context()));
    return std::unique_ptr<Scanner>(std::make_unique<RowScanner>(*this, std::move(scanner)));
  }
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override {
    return HeadOf(transaction_, table_->table_, row, family, qualifier, bounds_.for_update);
  }
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* /*room*/) override {
    CELLFS_RETURN_IF_ERROR(WriteRows(transaction_, table_->table_, batches));
    CELLFS_RETURN_IF_ERROR(transaction_.Commit());
    return Applied();
  }

 private:
  class RowScanner : public Scanner {
   public:
    RowScanner(KeptRow& row, std::unique_ptr<RegionScanner> scanner)
        : row_(row), scanner_(std::move(scanner)) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      return scanner_->Next(batch, row_.Cursors(), row_.table_->services_.store.clock->Now());
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    KeptRow& row_;
    const std::unique_ptr<RegionScanner> scanner_;
  };

  ScanContext Context() const {
    return {table_->table_.schema, table_->services_.store.site.max_row_size};
  }
  CursorSource Cursors() const { return CursorsOver(transaction_, table_->table_, bounds_); }

  const std::shared_ptr<ObkvTable> table_;
  const ConnectionPool::Lent connection_;
  Transaction transaction_;
  const Bounds bounds_;
};

StatusOr<RowCells> ObkvTable::Read(const Get& get, Timestamp now) {
  const Patience patience = Within(get.cancelled);
  CELLFS_ASSIGN_OR_RETURN(const auto connection, services_.pool.Lend(patience));
  Transaction transaction(*connection, patience);
  CELLFS_RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kReading));
  const Bounds bounds{.only_row = get.row, .stop_row = {}, .for_update = false};
  CELLFS_ASSIGN_OR_RETURN(
      RowCells cells,
      RegionScanner::Read(get, {table_.schema, services_.store.site.max_row_size},
                          CursorsOver(transaction, table_, bounds), now));
  CELLFS_RETURN_IF_ERROR(transaction.Commit());
  return cells;
}

StatusOr<std::unique_ptr<Scanner>> ObkvTable::OpenScanner(const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(
      auto scanner, RegionScanner::Open(scan, {table_.schema, services_.store.site.max_row_size}));
  return std::unique_ptr<Scanner>(
      std::make_unique<ObkvScanner>(shared_from_this(), scan, std::move(scanner)));
}

StatusOr<ColumnHead> ObkvTable::ReadColumnHead(std::string_view row, std::string_view family,
                                               std::string_view qualifier) {
  const Patience patience = Within();
  CELLFS_ASSIGN_OR_RETURN(const auto connection, services_.pool.Lend(patience));
  return HeadOf(Transaction(*connection, patience), table_, row, family, qualifier, false);
}

StatusOr<Applied> ObkvTable::Apply(std::span<RowBatch> batches, WriteRoom* /*room*/) {
  const Patience patience = Within();
  CELLFS_ASSIGN_OR_RETURN(const auto connection, services_.pool.Lend(patience));
  Transaction transaction(*connection, patience);
  CELLFS_RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWriting));
  CELLFS_RETURN_IF_ERROR(WriteRows(transaction, table_, batches));
  CELLFS_RETURN_IF_ERROR(transaction.Commit());
  return Applied();
}

StatusOr<std::unique_ptr<RowStorage>> ObkvTable::KeepRow(std::string_view row) {
  const Patience patience = Within();
  CELLFS_ASSIGN_OR_RETURN(auto connection, services_.pool.Lend(patience));
  auto kept =
      std::make_unique<KeptRow>(shared_from_this(), row, std::move(connection), patience);
  CELLFS_RETURN_IF_ERROR(kept->Begin());
  return std::unique_ptr<RowStorage>(std::move(kept));
}

Status ObkvTable::Truncate() {
  const Patience patience = Within();
  CELLFS_ASSIGN_OR_RETURN(const auto connection, services_.pool.Lend(patience));
  for (const auto& [family, described] : table_.families)
    CELLFS_RETURN_IF_ERROR(connection->Define(
        "TRUNCATE TABLE " + TableOfFamily(table_.schema->name(), family), patience));
  return {};
}

}  // namespace cellfs::obkv
