// SPDX-License-Identifier: MIT
#include "engine/memory/memory_engine.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/filter/regex.h"
#include "engine/memory/naive_read.h"
#include "engine/memory/naive_rewrite.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

// A withdrawn cell stays stored for the moments that see it.
struct WrittenCell : Cell {
  SequenceId withdrawn_by = 0;  // the mutation that took it back; 0: none did

  bool IsSeenAt(SequenceId read_point) const {
    return sequence_id <= read_point && (withdrawn_by == 0 || read_point < withdrawn_by);
  }
};

using SortedCells = std::vector<WrittenCell>;  // by CompareCells
using Files = std::vector<SortedCells>;        // of one family, newest first

bool InOrder(const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; }

template <typename Cells>
uint64_t SizeOf(const Cells& cells) {
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
  std::mutex mutex;  // not held while a filter runs: it may read from the store itself
  SequenceId last_sequence_id = 0;
  uint64_t mutations = 0;
  std::vector<std::weak_ptr<const Moment>> moments;
  RewriteObserver* observer = nullptr;

  // The sequence ids up to which the pinned moments see, ascending.
  std::vector<SequenceId> Pinned() {
    std::vector<SequenceId> pinned;
    std::erase_if(moments, [&](const auto& weak) {
      const auto moment = weak.lock();
      if (moment != nullptr) pinned.push_back(moment->sequence_id);
      return moment == nullptr;
    });
    std::sort(pinned.begin(), pinned.end());
    return pinned;
  }
};

struct TableCells {
  std::shared_ptr<const TableSchema> schema;
  SortedCells memstore;
  std::map<std::string, Files> files;  // by family
  SequenceId flushed = 0;
  std::map<std::string, Timestamp> major_compactions;  // by family
  uint64_t flushes = 0;
  uint64_t compactions = 0;

  // Of memstore and files alike.
  template <typename Visit>
  void ForEachList(const Visit& visit) {
    visit(memstore);
    for (auto& [family, list] : files) {
      for (SortedCells& file : list) visit(file);
    }
  }
};

SequenceId ReadPoint(const Moment* moment) {
  return moment == nullptr ? kMaxSequenceId : moment->sequence_id;
}

// A copy of the cells of a row that a read at `moment` may look at.
struct RowAsRead {
  std::deque<Cell> cells;
  std::map<std::string, CellList> families;  // in order
};

RowAsRead ReadRow(TableCells& table, const std::string& row, const Moment* moment) {
  RowAsRead read;
  table.ForEachList([&](const SortedCells& cells) {
    const auto [begin, end] =
        std::equal_range(cells.begin(), cells.end(), Cell{.row = row},
                         [](const Cell& a, const Cell& b) { return a.row < b.row; });
    for (auto cell = begin; cell != end; ++cell) {
      if (!cell->IsSeenAt(ReadPoint(moment))) continue;
      read.families[cell->family].push_back(&read.cells.emplace_back(*cell));
    }
  });
  for (auto& [family, cells] : read.families) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell* a, const Cell* b) { return InOrder(*a, *b); });
  }
  return read;
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
    std::unique_lock lock(shared_->mutex);
    const Timestamp now = scan_.moment ? scan_.moment->now : shared_->options.clock->Now();
    size_t bytes = 0;
    bool first = true;
    for (const std::string& row : RowsAhead()) {
      if (rows.size() >= batch.max_rows || bytes >= batch.max_bytes || IsOver()) return rows;
      if (!std::exchange(first, false) && limit.IsUp()) return rows;
      const RowAsRead read = ReadRow(*table_, row, scan_.moment.get());
      // A family may have been closed since the rows were listed.
      const bool shown =
          std::any_of(read.families.begin(), read.families.end(),
                      [&](const auto& family) { return reader_.IsEssential(family.first); });
      last_row_ = row;
      started_ = true;
      if (!shown) continue;
      lock.unlock();
      CELLFS_ASSIGN_OR_RETURN(RowCells cells, reader_.ReadRow(row, read.families, now));
      lock.lock();
      if (cells.empty()) continue;
      ++returned_;
      bytes += SizeOf(cells);
      rows.push_back(std::move(cells));
    }
    at_end_ = rows.empty();
    return rows;
  }

  // The rows not yet passed that have any cell to see, in the order of the scan.
  std::vector<std::string> RowsAhead() const {
    std::set<std::string> rows;
    table_->ForEachList([&](const SortedCells& cells) {
      for (const WrittenCell& cell : cells) {
        if (cell.IsSeenAt(ReadPoint(scan_.moment.get())) && IsAhead(cell.row))
          rows.insert(cell.row);
      }
    });
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
    const RowAsRead read = ReadRow(*table_, std::string(row), nullptr);
    for (const auto& [name, cells] : read.families) {
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
    for (RowBatch& batch : batches) ApplyOne(batch);
    return LogPosition{shared_->last_sequence_id};
  }

  Status Flush() override {
    const std::lock_guard lock(shared_->mutex);
    FlushLocked();
    return {};
  }

  // Files cost nothing here, so nothing is worth it.
  Status CompactSelected() override { return {}; }

  Status Compact(CompactionKind kind) override {
    const std::lock_guard lock(shared_->mutex);
    std::vector<RewrittenColumn> changed;
    for (auto& [name, files] : table_->files) {
      const FamilySchema* family = table_->schema->FindFamily(name);
      NaiveRewrite rewrite = RewriteNow(kind == CompactionKind::kMajor);
      SortedCells cells;
      for (const SortedCells& file : files) {
        rewrite.oldest_put = std::min(rewrite.oldest_put, OldestPut(file));
        if (!IsExpiredAsAWhole(file, *family, rewrite)) {
          cells.insert(cells.end(), file.begin(), file.end());
        }
      }
      std::sort(cells.begin(), cells.end(), InOrder);
      files.clear();
      AddFile(Rewrite(cells, *family, rewrite, changed), files);
      if (kind == CompactionKind::kMajor) NoteMajorCompaction(name);
    }
    TellObserver(std::move(changed));
    ++table_->compactions;
    return {};
  }

  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override {
    const std::lock_guard lock(shared_->mutex);
    if (table_->schema->Renamed(schema->name()) == *schema) {
      table_->schema = std::move(schema);
      return {};
    }
    FlushLocked();
    table_->schema = std::move(schema);
    std::erase_if(table_->files, [this](const auto& files) {
      if (table_->schema->FindFamily(files.first) != nullptr) return false;
      NoteMajorCompaction(files.first);
      return true;
    });
    return {};
  }

  Status Truncate() override {
    const std::lock_guard lock(shared_->mutex);
    table_->memstore.clear();
    table_->files.clear();
    table_->flushed = shared_->last_sequence_id;
    for (const auto& [name, family] : table_->schema->families) NoteMajorCompaction(name);
    return {};
  }

  TableStatistics GetStatistics() override {
    const std::lock_guard lock(shared_->mutex);
    TableStatistics statistics;
    statistics.memstore_bytes = SizeOf(table_->memstore);
    statistics.memstore_cells = table_->memstore.size();
    for (const auto& [family, files] : table_->files) {
      for (const SortedCells& file : files) statistics.file_bytes += SizeOf(file);
    }
    statistics.flushes = table_->flushes;
    statistics.compactions = table_->compactions;
    statistics.flushed = table_->flushed;
    for (const auto& [name, family] : table_->schema->families)
      statistics.major_compactions[name] = table_->major_compactions[name];
    return statistics;
  }

 private:
  StatusOr<RowCells> ReadUntilCancelled(const Get& get, Timestamp now) {
    Scan scan;
    static_cast<Query&>(scan) = get;
    std::unique_lock lock(shared_->mutex);
    NaiveReader reader(scan, table_->schema, shared_->options.site.max_row_size);
    const RowAsRead read = ReadRow(*table_, get.row, get.moment.get());
    lock.unlock();
    for (const auto& [family, cells] : read.families) {
      if (reader.IsEssential(family)) {
        return reader.ReadRow(get.row, read.families, get.moment ? get.moment->now : now);
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
    ++shared_->last_sequence_id;
    table_->ForEachList([&](SortedCells& cells) {
      for (const WithdrawCell& withdrawn : batch.withdrawn) {
        for (WrittenCell& cell : cells) {
          if (cell.withdrawn_by == 0 && Names(batch.row, withdrawn, cell)) {
            cell.withdrawn_by = shared_->last_sequence_id;
          }
        }
      }
    });
    SortedCells& memstore = table_->memstore;
    for (const Cell& given : batch.cells) {
      WrittenCell cell{given};
      cell.row = batch.row;
      cell.sequence_id = shared_->last_sequence_id;
      cell.value_length = cell.value.size();
      memstore.insert(std::lower_bound(memstore.begin(), memstore.end(), cell, InOrder), cell);
    }
  }

  void FlushLocked() {
    if (table_->memstore.empty()) return;
    std::vector<RewrittenColumn> changed;
    for (const auto& [name, family] : table_->schema->families) {
      SortedCells cells;
      for (const WrittenCell& cell : table_->memstore) {
        if (cell.family == name) cells.push_back(cell);
      }
      AddFile(Rewrite(cells, family, RewriteNow(false), changed), table_->files[name]);
    }
    table_->memstore.clear();
    table_->flushed = shared_->last_sequence_id;
    ++table_->flushes;
    TellObserver(std::move(changed));
  }

  void NoteMajorCompaction(const std::string& family) {
    table_->major_compactions[family] = shared_->options.clock->Now();
  }

  static void AddFile(SortedCells file, Files& files) {
    if (!file.empty()) files.insert(files.begin(), std::move(file));
  }

  NaiveRewrite RewriteNow(bool major) const {
    const std::vector<SequenceId> pinned = shared_->Pinned();
    return {.major = major,
            .now = shared_->options.clock->Now(),
            .time_to_purge_deletes = shared_->options.site.time_to_purge_deletes,
            .keep_up_to = pinned.empty() ? 0 : pinned.back()};
  }

  static Timestamp OldestPut(const SortedCells& file) {
    Timestamp oldest = kLatestTimestamp;
    for (const WrittenCell& cell : file) {
      if (!IsTombstone(cell.type)) oldest = std::min(oldest, cell.timestamp);
    }
    return oldest;
  }

  // Such a file is dropped unread, NEW_VERSION_BEHAVIOR or not.
  static bool IsExpiredAsAWhole(const SortedCells& file, const FamilySchema& family,
                                const NaiveRewrite& rewrite) {
    return family.min_versions() == 0 &&
           std::all_of(file.begin(), file.end(), [&](const WrittenCell& cell) {
             return cell.timestamp < OldestAlive(family, rewrite.now) &&
                    cell.sequence_id > rewrite.keep_up_to;
           });
  }

  // What a rewrite of these cells leaves. Adds the rows that lose a cell to `changed`.
  SortedCells Rewrite(const SortedCells& cells, const FamilySchema& family,
                      const NaiveRewrite& rewrite, std::vector<RewrittenColumn>& changed) const {
    const std::vector<SequenceId> pinned = shared_->Pinned();
    SortedCells kept;
    std::map<std::string, CellList> rows;
    for (const WrittenCell& cell : cells) {
      if (cell.withdrawn_by == 0) {
        rows[cell.row].push_back(&cell);
      } else if (std::any_of(pinned.begin(), pinned.end(),
                             [&](SequenceId read_point) { return cell.IsSeenAt(read_point); })) {
        kept.push_back(cell);
      }
    }
    for (const auto& [row, list] : rows) {
      const CellList kept_here = Rewritten(list, family, rewrite);
      for (const Cell* cell : kept_here) kept.push_back({*cell});
      if (kept_here.size() < list.size()) changed.push_back({row, family.name(), std::nullopt});
    }
    std::sort(kept.begin(), kept.end(), InOrder);
    return kept;
  }

  // Nobody reads before the rewrite is in force, so that the observer may be told already.
  void TellObserver(std::vector<RewrittenColumn> changed) const {
    if (shared_->observer == nullptr || changed.empty()) return;
    std::sort(changed.begin(), changed.end(), [](const auto& a, const auto& b) {
      return std::tie(a.row, a.family) < std::tie(b.row, b.family);
    });
    shared_->observer->Rewritten(table_->schema->name(), changed);
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<TableCells> table_;  // shared with scanners
};

class MemoryEngine : public StorageEngine {
 public:
  explicit MemoryEngine(const StoreOptions& options) : shared_(std::make_shared<Shared>(options)) {}

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
    return std::shared_ptr<CellStorage>(std::make_shared<MemoryStorage>(shared_, table.schema));
  }
  Status DropTable(TableId) override { return {}; }  // goes with its last holder

  Status MakeDurable(LogPosition, Durability) override { return {}; }
  Status Sync() override { return {}; }

  StatusOr<std::shared_ptr<const Moment>> PinMoment() override {
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
  const std::shared_ptr<Shared> shared_;
  SavedCatalog catalog_;
};

}  // namespace

std::unique_ptr<StorageEngine> MakeMemoryEngine(const StoreOptions& options) {
  return std::make_unique<MemoryEngine>(options);
}

}  // namespace cellfs
