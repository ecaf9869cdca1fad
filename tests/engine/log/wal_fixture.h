// SPDX-License-Identifier: MIT
//
// A log over files with faults, and what its records were when it was opened.
#ifndef CELLFS_TESTS_ENGINE_LOG_WAL_FIXTURE_H_
#define CELLFS_TESTS_ENGINE_LOG_WAL_FIXTURE_H_

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/log/log_check.h"
#include "engine/log/log_summary.h"
#include "engine/log/wal.h"
#include "engine/visibility/cell_cursor.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {

struct SeenRecord {
  TableId table_id;
  SequenceId sequence_id;
  std::string row;
  std::vector<Cell> cells;
  LogPosition position;
};

class WalTest : public testing::Test {
 protected:
  using Ids = std::vector<SequenceId>;

  Status Open(WalOptions options = {}) {
    wal_.reset();
    seen_.clear();
    if (options.store_id == 0) options.store_id = kStoreId;
    auto wal = Wal::Open(files_, directory(), options, Recorder());
    if (wal.ok()) wal_ = *std::move(wal);
    return wal.status();
  }

  LogVisitor Recorder() {
    return [this](const LogRecord& record, LogPosition position) {
      std::vector<Cell> cells;
      for (const CellView& cell : record.cells) cells.push_back(CopyOf(cell));
      seen_.push_back(
          {record.table_id, record.sequence_id, std::string(record.row), cells, position});
      return Status();
    };
  }

  // One put of `value` to row "r<sequence>".
  StatusOr<LogPosition> Append(TableId table, SequenceId sequence, const std::string& value = "v") {
    RowBatch batch;
    batch.row = "r" + std::to_string(sequence);
    batch.cells = {{"", "f", "q", 100, CellType::kPut, 0, kNoCellTtl, value}};
    const auto cells = CellsOf(batch, sequence);
    const LogRecord record{table, sequence, batch.row, cells};
    return wal_->Append({&record, 1});
  }
  void AppendAll(SequenceId first, SequenceId last) {
    for (SequenceId sequence = first; sequence <= last; ++sequence)
      ASSERT_TRUE(Append(1, sequence).ok());
  }

  std::vector<SequenceId> Sequences() const {
    std::vector<SequenceId> sequences;
    for (const SeenRecord& seen : seen_) sequences.push_back(seen.sequence_id);
    return sequences;
  }

  std::string directory() const { return temporary_.path() + "/wal"; }
  std::string PathOf(uint64_t number) const { return directory() + "/" + SegmentName(number); }
  std::string Read(uint64_t number) { return *PosixFiles().Read(PathOf(number)); }
  void Overwrite(uint64_t number, const std::string& bytes) {
    wal_.reset();
    std::ofstream(PathOf(number), std::ios::binary | std::ios::trunc) << bytes;
  }
  void ExpectCorruption(uint64_t number, size_t offset) {
    const Status status = Open();
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << status.ToString();
    EXPECT_NE(status.message().find(PathOf(number)), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("offset " + std::to_string(offset) + ":"), std::string::npos)
        << status.message();
  }

  // Segment 1 with these bytes is refused for what begins at the offset.
  void ExpectRefused(const std::string& bytes, size_t offset) {
    Overwrite(1, bytes);
    ExpectCorruption(1, offset);
    EXPECT_EQ(Read(1), bytes) << "the evidence stays";
  }

  // What is whole to who reads, and what he is told otherwise.
  void ExpectNoDamage() {
    const auto summary = SummarizeLog(files_, directory(), kStoreId);
    ASSERT_TRUE(summary.ok());
    EXPECT_TRUE(summary->is_whole());
    const auto check = CheckLog(files_, temporary_.path(), kStoreId, true, {});
    ASSERT_TRUE(check.ok());
    for (const Damage& damage : check->damage)
      EXPECT_NE(damage.what.find("power was lost"), std::string::npos) << damage.what;
    ASSERT_TRUE(Open().ok()) << Open().ToString();
    EXPECT_EQ(summary->end, wal_->end());
    EXPECT_EQ(check->records, seen_.size());
    EXPECT_EQ(wal_->CutOff().empty(), check->damage.empty());
    if (check->damage.empty()) {
      EXPECT_EQ(check->end, wal_->end());
    }
  }
  void ExpectDamage() {
    EXPECT_EQ(Open().code(), StatusCode::kCorruption);
    const auto summary = SummarizeLog(files_, directory(), kStoreId);
    ASSERT_TRUE(summary.ok());
    EXPECT_FALSE(summary->is_whole());
    const auto check = CheckLog(files_, temporary_.path(), kStoreId, true, {});
    ASSERT_TRUE(check.ok());
    EXPECT_FALSE(check->damage.empty());
  }

  static constexpr uint64_t kStoreId = 0x0123456789abcdef;
  TemporaryDirectory temporary_;
  FaultyFiles files_;
  std::unique_ptr<Wal> wal_;
  std::vector<SeenRecord> seen_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_LOG_WAL_FIXTURE_H_
