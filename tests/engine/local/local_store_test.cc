// SPDX-License-Identifier: MIT
//
// A table of the local engine as its users meet it, alone and from several threads at once.
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class LocalStoreTest : public EngineTest {};

TEST_F(LocalStoreTest, AScanGoesOnWhereItWasAfterFlushesAndCompactions) {
  Open();
  for (char c = 'a'; c <= 'h'; ++c) ASSERT_OK(PutOne(std::string(1, c), 1, "v"));
  Scan scan;
  auto scanner = table_->OpenScanner(scan);
  ASSERT_OK(scanner);
  std::string seen;
  for (int batch = 0;; ++batch) {
    auto rows = (*scanner)->Next({.max_rows = 1});
    ASSERT_OK(rows);
    if (rows->empty()) break;
    seen += (*rows)[0][0].row;
    if (batch == 1) ASSERT_OK(table_->Flush());
    if (batch == 3) ASSERT_OK(Write("f", {CellOf("q", 2, "", CellType::kDeleteColumn)}));
    if (batch == 4) ASSERT_OK(table_->Flush());
    if (batch == 5) ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  }
  EXPECT_EQ(seen, "abcdegh");
}

TEST_F(LocalStoreTest, AReversedScanReadsMemstoreAndFile) {
  Open();
  for (const char* row : {"a", "c", "e"}) ASSERT_OK(PutOne(row, 1, "file"));
  ASSERT_OK(table_->Flush());
  for (const char* row : {"b", "c", "f"}) ASSERT_OK(PutOne(row, 2, "memory"));
  Scan scan;
  scan.reversed = true;
  EXPECT_EQ(ScanText(scan),
            "f/f:q/2=memory e/f:q/1=file c/f:q/2=memory b/f:q/2=memory a/f:q/1=file ");
}

TEST_F(LocalStoreTest, FamiliesComeAndGoWithTheSchema) {
  Open();
  ASSERT_OK(PutOne("a", 1, "v"));
  ASSERT_OK(table_->ReplaceSchema(TableOf({FamilyOf("f"), FamilyOf("g")})));
  ASSERT_OK(Write("a", {CellOf("q", 1, "w", CellType::kPut, "g")}));
  EXPECT_EQ(Visible(), "a/f:q/1=v a/g:q/1=w ");
  schema_ = TableOf({FamilyOf("g")});
  ASSERT_OK(table_->ReplaceSchema(schema_));
  EXPECT_EQ(Visible(), "a/g:q/1=w ");
  Reopen();
  EXPECT_EQ(Visible(), "a/g:q/1=w ");
}

TEST_F(LocalStoreTest, AScanOfAFamilyThatHasGoneSaysSo) {
  schema_ = TableOf({FamilyOf("f"), FamilyOf("g")});
  Open();
  ASSERT_OK(PutOne("a", 1, "v"));
  ASSERT_OK(table_->Flush());
  auto scanner = table_->OpenScanner(Scan());
  ASSERT_OK(table_->ReplaceSchema(TableOf({FamilyOf("g")})));
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kNoSuchColumnFamily);
}

TEST_F(LocalStoreTest, ADroppedTableLeavesNoFileAndAnswersThatItIsGone) {
  Open();
  ASSERT_OK(PutOne("a", 1, "v"));
  ASSERT_OK(table_->Flush());
  auto scanner = table_->OpenScanner(Scan());
  const auto moment = *engine_->PinMoment("");
  EXPECT_EQ(Visible(moment), "a/f:q/1=v ");
  ASSERT_OK(engine_->DropTable(1));
  EXPECT_TRUE(std::filesystem::is_empty(path() + "/tables"));
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kTableNotFound);
}

// As when a backup is put there while the store still ends.
TEST_F(LocalStoreTest, WhatStandsInTheStoresPlaceIsLeftAlone) {
  Open();
  ASSERT_OK(PutOne("a", 1, "v"));
  const std::string path = this->path();
  std::filesystem::rename(path, path + ".moved");
  std::filesystem::copy(path + ".moved", path, std::filesystem::copy_options::recursive);
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      found.insert(entry.path().string());
    return found;
  };
  const auto before = names();
  const Status flushed = table_->Flush();
  EXPECT_EQ(flushed.code(), StatusCode::kIoError);
  EXPECT_NE(flushed.message().find("another put in its place"), std::string::npos);
  EXPECT_FALSE(engine_->SaveCatalogEdit("x").ok());
  EXPECT_FALSE(engine_->CreateTable({77, schema_}).ok());
  EXPECT_EQ(names(), before);
  std::filesystem::remove_all(path);
  std::filesystem::rename(path + ".moved", path);
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Visible(), "a/f:q/1=v ");
}

TEST_F(LocalStoreTest, StatisticsTellWhatLiesWhere) {
  Open();
  EXPECT_EQ(table_->GetStatistics().file_bytes, 0u);
  EXPECT_EQ(table_->GetStatistics().memstore_bytes, 0u);
  ASSERT_OK(PutOne("a", 1, std::string(2000, 'x')));
  EXPECT_GT(table_->GetStatistics().memstore_bytes, 2000u);
  EXPECT_EQ(table_->GetStatistics().memstore_cells, 1u);
  EXPECT_EQ(engine_->GetStatistics().mutations, 1u);
  EXPECT_EQ(engine_->GetStatistics().maintenance, "off");
  ASSERT_OK(table_->Flush());
  EXPECT_GT(table_->GetStatistics().file_bytes, 2000u);
  EXPECT_LT(table_->GetStatistics().file_bytes, 20000u);
  const auto moment = *engine_->PinMoment("");
  clock_->Advance(250);
  EXPECT_EQ(engine_->GetStatistics().pinned_moments, 1u);
  EXPECT_EQ(engine_->GetStatistics().oldest_moment_age_ms, 250);
}

// Each connection that is kept open is one to a file; beyond their number files are opened anew.
TEST_F(LocalStoreTest, TheNewestTimestampIsKnownWhereverItLies) {
  Open();
  ASSERT_OK(PutOne("a", 7, "v"));
  ASSERT_OK(Write("a", {CellOf("q", 9, "", CellType::kDeleteColumn)}));
  EXPECT_EQ(table_->NewestTimestamp(), 9);
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("b", 8, "v"));
  EXPECT_EQ(table_->NewestTimestamp(), 9);
  Reopen();
  EXPECT_EQ(table_->NewestTimestamp(), 9);
  ASSERT_OK(PutOne("b", 10, "v"));
  Reopen();
  EXPECT_EQ(table_->NewestTimestamp(), 10);
}

TEST_F(LocalStoreTest, ManyFilesAreReadWithFewDescriptors) {
  Open();
  constexpr int kFiles = 30;
  for (int i = 0; i < kFiles; ++i) {
    ASSERT_OK(PutOne("r" + std::to_string(i % 7), i, std::to_string(i)));
    ASSERT_OK(table_->Flush());
  }
  EXPECT_EQ(StoreFileNames().size(), size_t{kFiles});
  Reopen();
  EXPECT_EQ(DescriptorsInto(table_path()), 0) << "files are opened when they are first read";
  EXPECT_EQ(ValueOf("r0"), "28");
  EXPECT_LT(DescriptorsInto(table_path()), 8) << "the Bloom filter tells which have the row";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Visible(nullptr, 1),
              "r0/f:q/28=28 r1/f:q/29=29 r2/f:q/23=23 r3/f:q/24=24 r4/f:q/25=25 r5/f:q/26=26 "
              "r6/f:q/27=27 ");
    EXPECT_EQ(DescriptorsInto(table_path()), kFiles);
  }
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(StoreFileNames().size(), 1u);
  EXPECT_LE(DescriptorsInto(table_path()), 1);
}

TEST_F(LocalStoreTest, RawScansReadNoFileOutsideTheirTimes) {
  Open();
  ASSERT_OK(PutOne("a", 10, "old"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("a", 20, "middle"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(Write("a", {CellOf("q", 30, "", CellType::kDeleteColumn)}));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(Write("a", {}, {{"f", "q", 20, CellType::kPut}}));
  ASSERT_OK(table_->Flush());
  ASSERT_EQ(StoreFileNames().size(), 4u);
  const auto raw = [&](Timestamp from, Timestamp to) {
    Reopen();
    Scan scan;
    scan.raw = true;
    scan.max_versions = kAllVersions;
    scan.time_range = {from, to};
    const std::string text = ScanText(scan);
    return text + std::to_string(DescriptorsInto(table_path()));
  };
  EXPECT_EQ(raw(0, 11), "a/f:q/10=old 1") << "the tombstone's file is newer";
  EXPECT_EQ(raw(15, 25), "2") << "what withdraws the put has its time";
  EXPECT_EQ(raw(25, 35), "a/f:q/30/DeleteColumn= 1");
  EXPECT_EQ(raw(40, 50), "0");
}

TEST_F(LocalStoreTest, ReadsChangeNoFile) {
  Open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(PutOne("a", i, std::string(5000, 'x')));
    ASSERT_OK(PutOne("b", i, "y"));
    ASSERT_OK(table_->Flush());
  }
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    const std::vector<std::string> names = *PosixFiles().List(table_path());
    for (const std::string& name : names)
      files[name] = *PosixFiles().Read(table_path() + "/" + name);
    return files;
  };
  const auto before = contents();
  EXPECT_EQ(before.size(), 4u);
  EXPECT_EQ(ValueOf("b"), "y");
  Visible();
  Raw();
  ASSERT_OK(table_->ReadColumnHead("a", "f", "q"));
  EXPECT_EQ(contents(), before);
  Reopen();
  Visible();
  EXPECT_EQ(contents(), before);
}

TEST_F(LocalStoreTest, PausedMaintenanceFlushesNothingAndResumes) {
  options_.background_maintenance = true;
  options_.site.memstore_flush_size = 50000;
  Open();
  engine_->SetMaintenancePaused(true);
  for (int i = 0; i < 300; ++i)
    ASSERT_OK(PutOne("r" + std::to_string(i), 1, std::string(500, 'x')));
  EXPECT_EQ(engine_->GetStatistics().maintenance, "paused");
  EXPECT_EQ(table_->GetStatistics().flushes, 0u);
  engine_->SetMaintenancePaused(false);
  while (table_->GetStatistics().flushes == 0) usleep(1000);
}

// Writers change both families of a row in one mutation; readers must see them agree, numbers never
// go back, and no row is missing or there twice, whatever flush and compaction do meanwhile.
TEST_F(LocalStoreTest, ReadersSeeWholeRowsWhileWritersFlushAndCompactionRun) {
  constexpr int kRowsWritten = 20, kRounds = 150;
  schema_ = TableOf({FamilyOf("f"), FamilyOf("g")});
  options_.background_maintenance = true;
  options_.site.memstore_flush_size = 20000;
  options_.inline_value_limit = 20;
  Open();
  const auto row_of = [](int row) { return "row" + std::to_string(100 + row); };
  const auto write = [&](int row, int number) {
    const std::string value = std::to_string(1000000 + number) + std::string(number % 40, '.');
    ASSERT_OK(Write(row_of(row),
                    {CellOf("q", number, value), CellOf("q", number, value, CellType::kPut, "g")}));
  };
  for (int row = 0; row < kRowsWritten; ++row) write(row, 1);

  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::vector<std::thread> threads;
  for (int half = 0; half < 2; ++half) {
    threads.emplace_back([&, half] {
      for (int number = 2; number <= kRounds; ++number) {
        for (int row = half; row < kRowsWritten; row += 2) write(row, number);
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&, reader] {
      std::vector<std::string> last(kRowsWritten);
      const auto check = [&](const RowCells& cells, int row) {
        ASSERT_EQ(cells.size(), 2u) << row_of(row);
        ASSERT_EQ(cells[0].value, cells[1].value);
        ASSERT_GE(cells[0].value.substr(0, 7), last[static_cast<size_t>(row)]);
        last[static_cast<size_t>(row)] = cells[0].value.substr(0, 7);
      };
      while (!done) {
        if (reader == 0) {
          for (int row = 0; row < kRowsWritten; ++row) {
            Get get;
            get.row = row_of(row);
            auto cells = table_->Read(get, clock_->Now());
            ASSERT_OK(cells);
            ASSERT_NO_FATAL_FAILURE(check(*cells, row));
          }
        } else {
          auto scanner = table_->OpenScanner(Scan());
          auto rows = (*scanner)->Next({});
          ASSERT_OK(rows);
          ASSERT_EQ(rows->size(), static_cast<size_t>(kRowsWritten));
          for (int row = 0; row < kRowsWritten; ++row) {
            ASSERT_NO_FATAL_FAILURE(check((*rows)[static_cast<size_t>(row)], row));
          }
        }
        ++reads;
      }
    });
  }
  threads.emplace_back([&] {
    while (!done) {
      ASSERT_OK(table_->Flush());
      const Status compacted = table_->Compact(CompactionKind::kMajor);
      ASSERT_TRUE(compacted.ok() || compacted.code() == StatusCode::kUnavailable);
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      const auto moment = *engine_->PinMoment("");
      const std::string before = Visible(moment);
      std::this_thread::yield();
      ASSERT_EQ(Visible(moment), before);
    }
  });
  threads[0].join();
  threads[1].join();
  while (reads < 20 && !HasFailure()) std::this_thread::yield();
  done = true;
  for (size_t i = 2; i < threads.size(); ++i) threads[i].join();
  EXPECT_GT(table_->GetStatistics().flushes, 1u);
}

}  // namespace
}  // namespace cellfs
