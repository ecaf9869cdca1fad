// SPDX-License-Identifier: MIT
//
// What an error of one table, or of one step, leaves to the others.
#include <atomic>
#include <thread>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class AfterErrorsTest : public EngineTest {
 protected:
  AfterErrorsTest() { Open(); }
  ~AfterErrorsTest() override { files_.SetChangeHook({}); }

  static constexpr int64_t kFlushSize = 100000;
  void ReopenWithLittleMemory() {
    options_.site.memstore_flush_size = kFlushSize;
    options_.memstore_limit = 4 * kFlushSize;
    Reopen();
  }
  std::shared_ptr<CellStorage> MakeTable(TableId id) {
    auto table = engine_->CreateTable({id, schema_});
    EXPECT_TRUE(table.ok());
    return *table;
  }
  static Status PutTo(CellStorage& table, const std::string& row, std::string value) {
    return Apply(table, {.row = row, .cells = {CellOf("q", 1, std::move(value))}, .withdrawn = {}});
  }
};

TEST_F(AfterErrorsTest, WhatOneTableCannotFlushLeavesTheOthersTheirMemory) {
  ReopenWithLittleMemory();
  const auto other = MakeTable(2);
  ASSERT_OK(PutOne("a", 1, std::string(250000, 'x')));
  files_.SetChangeHook([] { return true; });
  EXPECT_FALSE(table_->Flush().ok());
  files_.SetChangeHook({});
  EXPECT_EQ(PutOne("b", 1, std::string(1000, 'x')).code(), StatusCode::kIoError)
      << "what it has waits for a flush";
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK(PutTo(*other, "r" + std::to_string(i), std::string(10000, 'x')));
    if (i % 10 == 9) ASSERT_OK(other->Flush());
  }
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("b", 1, "again"));
}

// A background that flushes tables which have little in them, again and again, would keep the disk
// busy and leave files for compactions.
TEST_F(AfterErrorsTest, HealthyTablesAreNotFlushedIntoTinyFiles) {
  options_.background_maintenance = true;
  ReopenWithLittleMemory();
  const auto other = MakeTable(2);
  engine_->SetMaintenancePaused(true);
  ASSERT_OK(PutOne("a", 1, std::string(350000, 'x')));
  files_.SetChangeHook([] { return true; });
  EXPECT_FALSE(table_->Flush().ok());
  files_.SetChangeHook({});
  engine_->SetMaintenancePaused(false);
  for (int i = 0; i < 40; ++i) {
    ASSERT_OK(PutTo(*other, "r" + std::to_string(i), std::string(100, 'x')));
    engine_->SetMaintenancePaused(false);  // it looks for work
    usleep(1000);
  }
  EXPECT_EQ(other->GetStatistics().flushes, 0u);
}

TEST_F(AfterErrorsTest, MemoryIsBoundedWhileNothingFlushesInTheBackground) {
  ReopenWithLittleMemory();
  const auto idle = MakeTable(2);
  ASSERT_OK(PutTo(*idle, "r", std::string(3 * kFlushSize, 'x')));
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(PutOne("r" + std::to_string(i), 1, std::string(10000, 'x')));
    EXPECT_LT(engine_->GetStatistics().memstore_bytes, 5u * kFlushSize);
  }
  EXPECT_LT(table_->GetStatistics().flushes, 50u) << "not for each write";
}

TEST_F(AfterErrorsTest, AFlushThatADropEndsIsNoFailure) {
  const auto other = MakeTable(2);
  for (int i = 0; i < 200; ++i)
    ASSERT_OK(PutTo(*other, "r" + std::to_string(i), std::string(1000, 'x')));
  std::atomic<bool> has_begun{false};
  files_.SetChangeHook([&] {
    has_begun = true;
    return false;
  });
  std::thread flush([&] { static_cast<void>(other->Flush()); });
  while (!has_begun) usleep(100);
  ASSERT_OK(engine_->DropTable(2));
  flush.join();
  EXPECT_EQ(other->GetStatistics().error, "");
  EXPECT_TRUE(engine_->GetStatistics().puts_refused.ok());
  ASSERT_OK(PutOne("a", 1, "v"));
}

TEST_F(AfterErrorsTest, AWriteAfterADropIsRefusedAndNotLogged) {
  const auto other = MakeTable(2);
  ASSERT_OK(PutTo(*other, "r", "v"));
  ASSERT_OK(engine_->DropTable(2));
  const uint64_t mutations = engine_->GetStatistics().mutations;
  EXPECT_EQ(PutTo(*other, "r", "w").code(), StatusCode::kTableNotFound);
  EXPECT_EQ(engine_->GetStatistics().mutations, mutations);
}

// Truncate and alter take whatever files there are when it is their turn.
TEST_F(AfterErrorsTest, TruncateAndAlterGoOnBesideCompactions) {
  std::atomic<bool> stop{false};
  std::thread compactions([&] {
    while (!stop) static_cast<void>(table_->Compact(CompactionKind::kMinor));
  });
  const auto one = TableOf({FamilyOf("f", {{"VERSIONS", "3"}})});
  const auto two = TableOf({FamilyOf("f", {{"VERSIONS", "3"}}), FamilyOf("g")});
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Write("a", {CellOf("q", i + 1, "v")}).ok());
    EXPECT_TRUE(table_->Flush().ok());
    const Status status = i % 2 == 0 ? table_->Truncate() : table_->ReplaceSchema(i % 4 == 1 ? two : one);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  stop = true;
  compactions.join();
}

class DroppedFamilyTest : public AfterErrorsTest {
 protected:
  // As a catalog names the table whose family g was dropped then.
  void OpenWithout(Timestamp dropped) {
    Close();
    StatusOr<std::unique_ptr<LocalEngine>> engine = LocalEngine::Open(path(), options_, files_);
    ASSERT_OK(engine);
    engine_ = *std::move(engine);
    auto opened = engine_->OpenTables({{1, schema_, {{"g", dropped}}}}, kNextId);
    ASSERT_OK(opened);
    opened_ = opened->storages[0].status();
    if (opened_.ok()) table_ = *opened->storages[0];
  }

  const std::shared_ptr<const TableSchema> both_ =
      TableOf({FamilyOf("f", {{"VERSIONS", "3"}}), FamilyOf("g")});
  Status opened_;
};

// The catalog did not name it any more, and the process died before the table knew.
TEST_F(DroppedFamilyTest, ItsCellsNeverComeBack) {
  ASSERT_OK(table_->ReplaceSchema(both_));
  const auto cell = [](const char* value) {
    return CellOf("q", 5, value, CellType::kPut, "g");
  };
  ASSERT_OK(Write("a", {CellOf("q", 5, "kept"), cell("flushed")}));
  ASSERT_OK(table_->Flush());
  const auto log_one = [&] {
    made_ = true;
    schema_ = both_;
    DieAfter([&] { ASSERT_OK(Write("b", {cell("logged")})); });
    schema_ = TableOf({FamilyOf("f", {{"VERSIONS", "3"}})});
  };
  log_one();
  clock_->Advance(10);
  OpenWithout(clock_->Now());
  ASSERT_OK(opened_);
  EXPECT_EQ(Visible(), "a/f:q/5=kept ");
  EXPECT_EQ(table_->GetStatistics().damage, "");
  ASSERT_OK(table_->ReplaceSchema(both_));
  EXPECT_EQ(Visible(), "a/f:q/5=kept ") << "it is another family of that name";
  schema_ = both_;
  Reopen();
  EXPECT_EQ(Visible(), "a/f:q/5=kept ");
}

TEST_F(DroppedFamilyTest, WhatIsLaterThanTheDropIsOfAnother) {
  ASSERT_OK(table_->ReplaceSchema(both_));
  clock_->Advance(10);
  ASSERT_OK(Write("a", {CellOf("q", 5, "v", CellType::kPut, "g")}));
  ASSERT_OK(table_->Flush());
  OpenWithout(clock_->Now() - 1);
  ASSERT_OK(opened_);
  EXPECT_NE(table_->GetStatistics().damage.find("family 'g'"), std::string::npos)
      << table_->GetStatistics().damage;
  schema_ = both_;
  Reopen();
  EXPECT_EQ(Visible(), "a/g:q/5=v ");
}

}  // namespace
}  // namespace cellfs
