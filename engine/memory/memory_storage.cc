// SPDX-License-Identifier: MIT
#include "engine/memory/memory_storage.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/filter/regex.h"
#include "engine/memory/memory_scanner.h"
#include "engine/memory/naive_read.h"
#include "engine/memory/naive_rewrite.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

class MemoryStorage : public CellStorage {
 public:
  MemoryStorage(std::shared_ptr<MemoryShared> shared, std::shared_ptr<const TableSchema> schema)
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
    return OpenMemoryScanner(shared_, table_, scan);
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

  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* /*room*/) override {
    const std::lock_guard lock(shared_->mutex);
    for (RowBatch& batch : batches) ApplyOne(batch);
    return Applied{.position = shared_->last_sequence_id};
  }

  Status Flush() override {
    const std::lock_guard lock(shared_->mutex);
    FlushLocked();
    return {};
  }

  // SortedFiles cost nothing here, so nothing is worth it.
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
      std::sort(cells.begin(), cells.end(), IsInOrder);
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
    statistics.memstore_bytes = BytesOfCells(table_->memstore);
    statistics.memstore_cells = table_->memstore.size();
    for (const auto& [family, files] : table_->files) {
      for (const SortedCells& file : files) statistics.file_bytes += BytesOfCells(file);
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
      memstore.insert(std::lower_bound(memstore.begin(), memstore.end(), cell, IsInOrder), cell);
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

  static void AddFile(SortedCells file, SortedFiles& files) {
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
    std::sort(kept.begin(), kept.end(), IsInOrder);
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

  const std::shared_ptr<MemoryShared> shared_;
  const std::shared_ptr<TableCells> table_;  // shared with scanners
};

}  // namespace

std::shared_ptr<CellStorage> MakeMemoryStorage(std::shared_ptr<MemoryShared> shared,
                                               std::shared_ptr<const TableSchema> schema) {
  return std::make_shared<MemoryStorage>(std::move(shared), std::move(schema));
}

}  // namespace cellfs
