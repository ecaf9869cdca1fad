// SPDX-License-Identifier: MIT
#include "engine/memory/memory_engine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "engine/filter/regex.h"
#include "engine/memory/naive_read.h"
#include "engine/memory/naive_rewrite.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

using SortedCells = std::vector<Cell>;  // by CompareCells

bool InOrder(const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; }

uint64_t SizeOf(const SortedCells& cells) {
  uint64_t size = 0;
  for (const Cell& cell : cells) {
    size += cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + 20;
  }
  return size;
}

// What the tables of one store share. Everything below is guarded by `mutex`.
struct Shared {
  explicit Shared(const StoreOptions& store_options) : options(store_options) {}

  const StoreOptions options;
  std::mutex mutex;
  SequenceId last_sequence_id = 0;
  uint64_t mutations = 0;
  std::vector<std::weak_ptr<const Moment>> moments;
  RewriteObserver* observer = nullptr;

  // The largest sequence id that a pinned moment sees, and how many moments there are.
  std::pair<SequenceId, uint32_t> Pinned() {
    std::erase_if(moments, [](const auto& moment) { return moment.expired(); });
    SequenceId newest = 0;
    for (const auto& weak : moments) {
      if (const auto moment = weak.lock()) newest = std::max(newest, moment->sequence_id);
    }
    return {newest, static_cast<uint32_t>(moments.size())};
  }
};

struct TableCells {
  std::shared_ptr<const TableSchema> schema;
  SortedCells memstore;
  SortedCells file;
  uint64_t flushes = 0;
  uint64_t compactions = 0;
};

// The cells of a row that a read at `moment` may look at, by family.
std::map<std::string, CellList> CellsOfRow(const TableCells& table, const std::string& row,
                                           const Moment* moment) {
  std::map<std::string, CellList> families;
  for (const SortedCells* cells : {&table.memstore, &table.file}) {
    const auto [begin, end] =
        std::equal_range(cells->begin(), cells->end(), Cell{.row = row},
                         [](const Cell& a, const Cell& b) { return a.row < b.row; });
    for (auto cell = begin; cell != end; ++cell) {
      if (moment != nullptr && cell->sequence_id > moment->sequence_id) continue;
      families[cell->family].push_back(&*cell);
    }
  }
  for (auto& [family, cells] : families) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell* a, const Cell* b) { return InOrder(*a, *b); });
  }
  return families;
}

class MemoryScanner : public Scanner {
 public:
  MemoryScanner(std::shared_ptr<Shared> shared, std::shared_ptr<TableCells> table, const Scan& scan)
      : shared_(std::move(shared)),
        table_(std::move(table)),
        scan_(scan),
        reader_(scan, table_->schema, shared_->options.site.max_row_size) {}

  Status Check() const { return reader_.Check(); }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    if (cancelled_) return Cancelled();
    const WorkLimit limit(batch);
    const SearchLimit searches(limit);
    auto rows = NextUntil(batch, limit);
    cancelled_ = limit.IsCancelled();
    if (cancelled_) return Cancelled();
    return rows;
  }
  bool at_end() const override { return at_end_ || IsOver(); }

 private:
  bool IsOver() const { return reader_.done() || (scan_.limit >= 0 && returned_ >= scan_.limit); }

  StatusOr<std::vector<RowCells>> NextUntil(const ScanBatch& batch, const WorkLimit& limit) {
    std::vector<RowCells> rows;
    const std::lock_guard lock(shared_->mutex);
    const Timestamp now = scan_.moment ? scan_.moment->now : shared_->options.clock->Now();
    size_t bytes = 0;
    bool first = true;
    for (const std::string& row : RowsAhead()) {
      if (rows.size() >= batch.max_rows || bytes >= batch.max_bytes || IsOver()) return rows;
      if (!std::exchange(first, false) && limit.IsUp()) return rows;
      const auto families = CellsOfRow(*table_, row, scan_.moment.get());
      // A family may have been closed since the rows were listed.
      const bool shown = std::any_of(families.begin(), families.end(), [&](const auto& family) {
        return reader_.IsEssential(family.first);
      });
      last_row_ = row;
      started_ = true;
      if (!shown) continue;
      CELLFS_ASSIGN_OR_RETURN(RowCells cells, reader_.ReadRow(row, families, now));
      if (cells.empty()) continue;
      ++returned_;
      bytes += SizeOf(cells);
      rows.push_back(std::move(cells));
    }
    at_end_ = rows.empty();
    return rows;
  }

  // The rows not yet passed that have any cell, in the order of the scan.
  std::vector<std::string> RowsAhead() const {
    std::set<std::string> rows;
    for (const SortedCells* cells : {&table_->memstore, &table_->file}) {
      for (const Cell& cell : *cells) {
        if (IsAhead(cell.row)) rows.insert(cell.row);
      }
    }
    if (scan_.reversed) return {rows.rbegin(), rows.rend()};
    return {rows.begin(), rows.end()};
  }

  bool IsAhead(const std::string& row) const {
    const auto before = [this](const std::string& a, const std::string& b) {
      return scan_.reversed ? b < a : a < b;
    };
    if (started_ && !before(last_row_, row)) return false;
    if (!scan_.start_row.empty() &&
        (before(row, scan_.start_row) || (!scan_.include_start_row && row == scan_.start_row))) {
      return false;
    }
    return scan_.stop_row.empty() || before(row, scan_.stop_row) ||
           (scan_.include_stop_row && row == scan_.stop_row);
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<TableCells> table_;
  const Scan scan_;
  NaiveReader reader_;
  bool started_ = false;
  std::string last_row_;
  int64_t returned_ = 0;
  bool at_end_ = false;
  bool cancelled_ = false;
};

class MemoryStorage : public CellStorage {
 public:
  MemoryStorage(std::shared_ptr<Shared> shared, std::shared_ptr<const TableSchema> schema)
      : shared_(std::move(shared)), table_(std::make_shared<TableCells>()) {
    table_->schema = std::move(schema);
  }

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
    const WorkLimit limit(get);
    const SearchLimit searches(limit);
    auto cells = ReadUntilCancelled(get, now);
    if (limit.IsCancelled()) return Cancelled();
    return cells;
  }

  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    const std::lock_guard lock(shared_->mutex);
    auto scanner = std::make_unique<MemoryScanner>(shared_, table_, scan);
    CELLFS_RETURN_IF_ERROR(scanner->Check());
    return std::unique_ptr<Scanner>(std::move(scanner));
  }

  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override {
    const std::lock_guard lock(shared_->mutex);
    ColumnHead head;
    for (const auto& [name, cells] : CellsOfRow(*table_, std::string(row), nullptr)) {
      for (const Cell* cell : cells) {
        if (name != family) continue;
        const bool of_column = cell->qualifier == qualifier;
        if (cell->type == CellType::kPut && of_column) {
          if (head.Counts(cell->timestamp)) {
            head.newest_put = std::max(head.newest_put, cell->timestamp);
          }
        } else if (cell->type == CellType::kDeleteFamily ||
                   (cell->type == CellType::kDeleteColumn && of_column)) {
          head.newest_wide_tombstone = std::max(head.newest_wide_tombstone, cell->timestamp);
        } else if (cell->type == CellType::kDeleteFamilyVersion ||
                   (cell->type == CellType::kDelete && of_column)) {
          head.version_tombstones.push_back(cell->timestamp);
        }
      }
    }
    std::sort(head.version_tombstones.rbegin(), head.version_tombstones.rend());
    return head;
  }

  StatusOr<LogPosition> Apply(std::span<RowBatch> batches) override {
    const std::lock_guard lock(shared_->mutex);
    const SequenceId pinned = shared_->Pinned().first;
    for (const RowBatch& batch : batches) {
      for (const WithdrawCell& withdrawn : batch.withdrawn) {
        for (const SortedCells* cells : {&table_->memstore, &table_->file}) {
          for (const Cell& cell : *cells) {
            if (cell.sequence_id <= pinned && Names(batch.row, withdrawn, cell)) {
              return Status(StatusCode::kUnavailable, "a pinned moment sees a cell to withdraw");
            }
          }
        }
      }
    }
    for (RowBatch& batch : batches) ApplyOne(batch);
    return LogPosition{shared_->last_sequence_id};
  }

  Status Flush() override {
    const std::lock_guard lock(shared_->mutex);
    FlushLocked();
    return {};
  }

  Status Compact(CompactionKind kind) override {
    const std::lock_guard lock(shared_->mutex);
    table_->file = Rewrite(table_->file, kind == CompactionKind::kMajor);
    ++table_->compactions;
    return {};
  }

  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override {
    const std::lock_guard lock(shared_->mutex);
    FlushLocked();
    table_->schema = std::move(schema);
    std::erase_if(table_->file, [this](const Cell& cell) {
      return table_->schema->FindFamily(cell.family) == nullptr;
    });
    return {};
  }

  Status Truncate() override {
    const std::lock_guard lock(shared_->mutex);
    table_->memstore.clear();
    table_->file.clear();
    return {};
  }

  TableStatistics GetStatistics() override {
    const std::lock_guard lock(shared_->mutex);
    TableStatistics statistics;
    statistics.memstore_bytes = SizeOf(table_->memstore);
    statistics.memstore_cells = table_->memstore.size();
    statistics.file_bytes = SizeOf(table_->file);
    statistics.flushes = table_->flushes;
    statistics.compactions = table_->compactions;
    return statistics;
  }

 private:
  StatusOr<RowCells> ReadUntilCancelled(const Get& get, Timestamp now) {
    const std::lock_guard lock(shared_->mutex);
    Scan scan;
    static_cast<Query&>(scan) = get;
    NaiveReader reader(scan, table_->schema, shared_->options.site.max_row_size);
    const auto families = CellsOfRow(*table_, get.row, get.moment.get());
    for (const auto& [family, cells] : families) {
      if (reader.IsEssential(family)) {
        return reader.ReadRow(get.row, families, get.moment ? get.moment->now : now);
      }
    }
    return RowCells{};
  }

  static bool Names(const std::string& row, const WithdrawCell& withdrawn, const Cell& cell) {
    return cell.row == row && cell.family == withdrawn.family &&
           cell.qualifier == withdrawn.qualifier && cell.timestamp == withdrawn.timestamp &&
           cell.type == withdrawn.type;
  }

  void ApplyOne(const RowBatch& batch) {
    ++shared_->mutations;
    for (const WithdrawCell& withdrawn : batch.withdrawn) {
      for (SortedCells* cells : {&table_->memstore, &table_->file}) {
        std::erase_if(*cells, [&](const Cell& cell) { return Names(batch.row, withdrawn, cell); });
      }
    }
    ++shared_->last_sequence_id;
    SortedCells& memstore = table_->memstore;
    for (Cell cell : batch.cells) {
      cell.row = batch.row;
      cell.sequence_id = shared_->last_sequence_id;
      cell.value_length = cell.value.size();
      memstore.insert(std::lower_bound(memstore.begin(), memstore.end(), cell, InOrder), cell);
    }
  }

  void FlushLocked() {
    if (table_->memstore.empty()) return;
    SortedCells flushed = Rewrite(table_->memstore, false);
    table_->memstore.clear();
    table_->file.insert(table_->file.end(), flushed.begin(), flushed.end());
    std::sort(table_->file.begin(), table_->file.end(), InOrder);
    ++table_->flushes;
  }

  // `cells` as a flush or compaction at this moment leaves them. Nobody reads before that is in
  // force, so that the observer may be told already.
  SortedCells Rewrite(const SortedCells& cells, bool major) {
    if (shared_->Pinned().second > 0) return cells;
    std::map<std::pair<std::string, std::string>, CellList> family_rows;
    std::map<std::string, Timestamp> oldest_put;
    for (const Cell& cell : cells) {
      family_rows[{cell.row, cell.family}].push_back(&cell);
      Timestamp& oldest = oldest_put.try_emplace(cell.family, kLatestTimestamp).first->second;
      if (!IsTombstone(cell.type)) oldest = std::min(oldest, cell.timestamp);
    }
    SortedCells kept;
    std::vector<RewrittenColumn> changed;
    for (const auto& [key, list] : family_rows) {
      const FamilySchema* family = table_->schema->FindFamily(key.second);
      if (family == nullptr) continue;
      const NaiveRewrite rewrite{
          .major = major,
          .now = shared_->options.clock->Now(),
          .oldest_put = oldest_put[key.second],
          .time_to_purge_deletes = shared_->options.site.time_to_purge_deletes};
      const CellList kept_here = Rewritten(list, *family, rewrite);
      for (const Cell* cell : kept_here) kept.push_back(*cell);
      if (kept_here.size() < list.size()) changed.push_back({key.first, key.second, std::nullopt});
    }
    if (shared_->observer != nullptr && !changed.empty()) {
      shared_->observer->Rewritten(table_->schema->name(), changed);
    }
    return kept;
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<TableCells> table_;  // shared with scanners
};

class MemoryEngine : public StorageEngine {
 public:
  explicit MemoryEngine(const StoreOptions& options) : shared_(std::make_shared<Shared>(options)) {}

  StatusOr<std::string> LoadCatalog() override { return catalog_; }
  Status SaveCatalog(std::string_view bytes) override {
    catalog_ = bytes;
    return {};
  }

  StatusOr<std::vector<StatusOr<std::shared_ptr<CellStorage>>>> OpenTables(
      const std::vector<StoredTable>& tables) override {
    std::vector<StatusOr<std::shared_ptr<CellStorage>>> opened;
    opened.reserve(tables.size());
    for (const StoredTable& table : tables) opened.push_back(CreateTable(table));
    return opened;
  }
  StatusOr<std::shared_ptr<CellStorage>> CreateTable(const StoredTable& table) override {
    return std::shared_ptr<CellStorage>(std::make_shared<MemoryStorage>(shared_, table.schema));
  }
  Status DropTable(TableId) override { return {}; }  // goes with its last holder

  Status MakeDurable(LogPosition, Durability) override { return {}; }
  Status Sync() override { return {}; }

  std::shared_ptr<const Moment> PinMoment() override {
    const std::lock_guard lock(shared_->mutex);
    auto moment = std::make_shared<Moment>();
    moment->sequence_id = shared_->last_sequence_id;
    moment->now = shared_->options.clock->Now();
    shared_->moments.push_back(moment);
    return moment;
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
    statistics.pinned_moments = shared_->Pinned().second;
    return statistics;
  }

 private:
  const std::shared_ptr<Shared> shared_;
  std::string catalog_;
};

}  // namespace

std::unique_ptr<StorageEngine> MakeMemoryEngine(const StoreOptions& options) {
  return std::make_unique<MemoryEngine>(options);
}

}  // namespace cellfs
