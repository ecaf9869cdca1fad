// SPDX-License-Identifier: MIT
//
// A CellStorage of sorted vectors that counts what is asked of it, and remembers what was to be made
// durable.
#ifndef CELLFS_TESTS_ENGINE_TABLE_FAKE_STORAGE_H_
#define CELLFS_TESTS_ENGINE_TABLE_FAKE_STORAGE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/storage/cell_storage.h"
#include "engine/visibility/region_scanner.h"
#include "engine/visibility/vector_cursor.h"

namespace cellfs {

class FakeStorage : public CellStorage {
 public:
  FakeStorage(std::shared_ptr<const TableSchema> schema, std::shared_ptr<const Clock> clock)
      : schema_(std::move(schema)), clock_(std::move(clock)) {}

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
    ++reads;
    return RegionScanner::Read(get, {schema_}, Source(), now);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, RegionScanner::Open(scan, {schema_}));
    return std::unique_ptr<Scanner>(new FakeScanner(std::move(scanner), *this));
  }
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override {
    ++head_reads;
    ColumnHead head;
    for (const Cell& cell : families_[std::string(family)]) {
      if (cell.row != row || (!IsFamilyTombstone(cell.type) && cell.qualifier != qualifier))
        continue;
      if (cell.type == CellType::kPut) {
        head.newest_put = std::max(head.newest_put, cell.timestamp);
      } else if (cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily) {
        head.newest_wide_tombstone = std::max(head.newest_wide_tombstone, cell.timestamp);
      } else {
        head.version_tombstones.push_back(cell.timestamp);
      }
    }
    std::sort(head.version_tombstones.begin(), head.version_tombstones.end(), std::greater<>());
    return head;
  }
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) override {
    ++applies;
    Applied applied;
    if (on_await && room == nullptr) {
      applied.lacks = std::make_unique<FakeRoom>(on_await);
      return applied;
    }
    if (!apply_error.ok()) return apply_error;
    for (const RowBatch& batch : batches) {
      ++position_;
      for (const WithdrawCell& withdrawn : batch.withdrawn) Withdraw(batch.row, withdrawn);
      for (Cell cell : batch.cells) {
        cell.row = batch.row;
        cell.sequence_id = position_;
        families_[cell.family].push_back(std::move(cell));
      }
    }
    for (auto& [family, cells] : families_) {
      std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
        return CompareCells(ViewOf(a), ViewOf(b)) < 0;
      });
    }
    applied.position = position_;
    return applied;
  }
  std::unique_ptr<WriteRoom> RoomAhead(uint64_t bytes) override {
    if (bytes < 1000 || !on_await_ahead) return nullptr;
    return std::make_unique<FakeRoom>(std::exchange(on_await_ahead, nullptr));
  }
  StatusOr<std::unique_ptr<RowStorage>> KeepRows(std::span<const std::string_view> rows) override {
    std::unique_ptr<RowStorage> kept;
    if (!keep_error.ok()) return keep_error;
    if (has_other_writers) kept = std::make_unique<KeptRow>(*this, rows.front());
    return kept;
  }
  Status MakeDurable(LogPosition position, Durability durability) override {
    const std::lock_guard lock(waits_mutex_);
    waits.push_back({position, durability});
    return durable_error;
  }
  Status Flush() override { return {}; }
  Status Compact(CompactionKind) override { return {}; }
  Status CompactSelected() override { return {}; }
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override {
    schema_ = std::move(schema);
    return {};
  }
  Status Truncate() override {
    families_.clear();
    return {};
  }
  TableStatistics GetStatistics() override { return {}; }

  // How often each was called.
  int reads = 0;
  int head_reads = 0;
  int applies = 0;
  Status apply_error;
  bool has_other_writers = false;
  Status keep_error;
  int kept_rows = 0;  // now
  int calls_of_kept_rows = 0;
  std::vector<std::pair<LogPosition, Durability>> waits;
  Status durable_error;
  std::function<Status()> on_await;  // each write lacks room first, and waits for this
  std::function<Status()> on_await_ahead;  // likewise the next of 1,000 bytes, before it begins

 private:
  class FakeRoom : public WriteRoom {
   public:
    explicit FakeRoom(std::function<Status()> await) : await_(std::move(await)) {}
    Status Await() override { return await_(); }

   private:
    const std::function<Status()> await_;
  };
  class FakeScanner : public Scanner {
   public:
    FakeScanner(std::unique_ptr<RegionScanner> scanner, FakeStorage& storage)
        : scanner_(std::move(scanner)), storage_(storage) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      return scanner_->Next(batch, storage_.Source(), storage_.clock_->Now());
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    std::unique_ptr<RegionScanner> scanner_;
    FakeStorage& storage_;
  };

  class KeptRow : public RowStorage {
   public:
    KeptRow(FakeStorage& storage, std::string_view row) : storage_(storage), row_(row) {
      ++storage_.kept_rows;
    }
    ~KeptRow() override { --storage_.kept_rows; }
    StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
      EXPECT_EQ(get.row, row_);
      return Counted().Read(get, now);
    }
    StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
      EXPECT_EQ(scan.start_row, row_);
      return Counted().OpenScanner(scan);
    }
    StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                        std::string_view qualifier) override {
      EXPECT_EQ(row, row_);
      return Counted().ReadColumnHead(row, family, qualifier);
    }
    StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) override {
      return Counted().Apply(batches, room);
    }

   private:
    FakeStorage& Counted() {
      ++storage_.calls_of_kept_rows;
      return storage_;
    }
    FakeStorage& storage_;
    const std::string row_;
  };

  CursorSource Source() {
    return [this](const std::string& family, bool) -> StatusOr<std::unique_ptr<CellCursor>> {
      return MakeVectorCursor(std::make_shared<const std::vector<Cell>>(families_[family]));
    };
  }
  void Withdraw(const std::string& row, const WithdrawCell& withdrawn) {
    std::erase_if(families_[withdrawn.family], [&](const Cell& cell) {
      return cell.row == row && cell.qualifier == withdrawn.qualifier &&
             cell.timestamp == withdrawn.timestamp && cell.type == withdrawn.type;
    });
  }

  std::shared_ptr<const TableSchema> schema_;
  std::shared_ptr<const Clock> clock_;
  std::map<std::string, std::vector<Cell>> families_;  // each in cell order
  LogPosition position_ = 0;
  std::mutex waits_mutex_;  // of waits, while several threads write
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_TABLE_FAKE_STORAGE_H_
