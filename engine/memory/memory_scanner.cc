// SPDX-License-Identifier: MIT
#include "engine/memory/memory_scanner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/filter/regex.h"
#include "engine/memory/naive_read.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

class MemoryScanner : public Scanner {
 public:
  MemoryScanner(std::shared_ptr<MemoryShared> shared, std::shared_ptr<TableCells> table,
                const Scan& scan)
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
      bytes += BytesOfCells(cells);
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
        if (cell.IsSeenAt(ReadPointOf(scan_.moment.get())) && IsAhead(cell.row))
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

  const std::shared_ptr<MemoryShared> shared_;
  const std::shared_ptr<TableCells> table_;
  const Scan scan_;
  NaiveReader reader_;
  bool started_ = false;
  std::string last_row_;
  int64_t returned_ = 0;
  bool at_end_ = false;
  bool cancelled_ = false;
};

}  // namespace

StatusOr<std::unique_ptr<Scanner>> OpenMemoryScanner(std::shared_ptr<MemoryShared> shared,
                                                     std::shared_ptr<TableCells> table,
                                                     const Scan& scan) {
  auto scanner = std::make_unique<MemoryScanner>(std::move(shared), std::move(table), scan);
  CELLFS_RETURN_IF_ERROR(scanner->Check());
  return std::unique_ptr<Scanner>(std::move(scanner));
}

}  // namespace cellfs
