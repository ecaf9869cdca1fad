// SPDX-License-Identifier: MIT
#include "engine/obkv/obkv_table.h"

#include <utility>

#include "engine/obkv/compaction.h"
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
                          " WHERE K = ? AND Q = ?" + kIsCell + " ORDER BY T LIMIT 1" +
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

// A transaction that has the rows.
class ObkvTable::KeptRows : public RowStorage {
 public:
  KeptRows(std::shared_ptr<ObkvTable> table, const Patience& patience)
      : table_(std::move(table)), patience_(patience) {}

  Status Begin(std::span<const std::string_view> rows) {
    CELLFS_RETURN_IF_ERROR(BeginTransaction());
    CELLFS_ASSIGN_OR_RETURN(turn_, table_->services_.row_locks.Lock(
                                       *transaction_, table_->table_.schema->name(), rows));
    return {};
  }

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
    const Bounds bounds{.only_row = get.row, .stop_row = {}, .for_update = true};
    return RegionScanner::Read(get, Context(), Cursors(bounds), now);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, RegionScanner::Open(scan, Context()));
    Bounds bounds = BoundsOf(scan);
    bounds.for_update = true;
    return std::unique_ptr<Scanner>(
        std::make_unique<RowScanner>(*this, std::move(bounds), std::move(scanner)));
  }
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override {
    return HeadOf(*transaction_, table_->table_, row, family, qualifier, /*for_update=*/true);
  }
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* /*room*/) override {
    CELLFS_RETURN_IF_ERROR(WriteRows(*transaction_, table_->table_, batches));
    // The other half of what is left is for finding out, where it is not answered.
    Patience half = patience_;
    half.deadline = SteadyClock::now() + patience_.Left() / 2;
    const Status committed = transaction_->Commit(half);
    if (committed.code() == StatusCode::kOutcomeUnknown) return Settle(committed);
    CELLFS_RETURN_IF_ERROR(committed);
    return Applied();
  }

 private:
  class RowScanner : public Scanner {
   public:
    RowScanner(KeptRows& rows, Bounds bounds, std::unique_ptr<RegionScanner> scanner)
        : rows_(rows), bounds_(std::move(bounds)), scanner_(std::move(scanner)) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      return scanner_->Next(batch, rows_.Cursors(bounds_),
                            rows_.table_->services_.store.clock->Now());
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    KeptRows& rows_;
    const Bounds bounds_;
    const std::unique_ptr<RegionScanner> scanner_;
  };

  Status BeginTransaction() {
    transaction_.reset();
    connection_.reset();
    CELLFS_ASSIGN_OR_RETURN(connection_, table_->services_.pool.Lend(patience_));
    transaction_.emplace(*connection_, patience_);
    return transaction_->Begin(Transaction::Kind::kWriting);
  }

  // By another session, which has the lock once the first one's transaction is over.
  StatusOr<Applied> Settle(const Status& unknown) {
    if (!BeginTransaction().ok()) return unknown;
    const auto was_made = table_->services_.row_locks.WasMade(*transaction_, turn_);
    if (!was_made.ok() || !*was_made) return unknown;
    if (**was_made) return Applied();
    return Status(StatusCode::kUnavailable, "nothing was changed: the session ended too early");
  }

  ScanContext Context() const {
    return {table_->table_.schema, table_->services_.store.site.max_row_size};
  }
  CursorSource Cursors(const Bounds& bounds) const {
    return CursorsOver(*transaction_, table_->table_, bounds);
  }

  const std::shared_ptr<ObkvTable> table_;
  const Patience patience_;
  ConnectionPool::Lent connection_;
  std::optional<Transaction> transaction_;
  Turn turn_;
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

StatusOr<Applied> ObkvTable::Apply(std::span<RowBatch> batches, WriteRoom* room) {
  std::vector<std::string_view> rows;
  for (const RowBatch& batch : batches) rows.push_back(batch.row);
  CELLFS_ASSIGN_OR_RETURN(const auto kept, KeepRows(rows));
  return kept->Apply(batches, room);
}

StatusOr<std::unique_ptr<RowStorage>> ObkvTable::KeepRows(
    std::span<const std::string_view> rows) {
  auto kept = std::make_unique<KeptRows>(shared_from_this(), Within());
  CELLFS_RETURN_IF_ERROR(kept->Begin(rows));
  return std::unique_ptr<RowStorage>(std::move(kept));
}

Status ObkvTable::Compact(CompactionKind kind) {
  if (kind == CompactionKind::kMinor) return {};
  Compaction compaction(services_.pool, *services_.store.clock,
                        services_.options.operation_timeout);
  for (const auto& [family, described] : table_.families) {
    if (!described.attributes.empty()) continue;
    CELLFS_RETURN_IF_ERROR(
        compaction.Run(TableOfFamily(table_.schema->name(), family), described));
  }
  return {};
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
