// SPDX-License-Identifier: MIT
//
// Writes that find no room at once: they wait for it with no lock held, and look at their row anew.
#include <gtest/gtest.h>

#include "engine/table/region.h"
#include "tests/engine/table/fake_storage.h"
#include "tests/support/assert_ok.h"

namespace cellfs {
namespace {

class RegionRoomTest : public ::testing::Test {
 protected:
  RegionRoomTest() {
    options_.clock = std::make_shared<ManualClock>(1000000);
    const auto schema = SchemaOf({"f", "g"});
    storage_ = std::make_shared<FakeStorage>(schema, options_.clock);
    region_ = std::make_unique<Region>(storage_, schema, options_);
  }

  static std::shared_ptr<const TableSchema> SchemaOf(const std::vector<std::string>& families) {
    auto schema = std::make_shared<TableSchema>(TableName{"default", "t"});
    for (const std::string& name : families) schema->families.emplace(name, FamilySchema(name));
    return schema;
  }
  // `act` happens while the next write waits, which then finds room.
  void WhileItWaits(std::function<Status()> act) {
    storage_->on_await = [this, act = std::move(act)] {
      ++waits_;
      const auto again = std::exchange(storage_->on_await, nullptr);
      return act();
    };
  }
  static RowMutations PutOf(const std::string& row, const std::string& family, std::string value) {
    return RowMutations::Of(Put{row, {{family, "q", 7, std::move(value)}}});
  }
  std::string ValueOf(const std::string& row) {
    Get get;
    get.row = row;
    const auto cells = region_->Read(get);
    return !cells.ok() ? cells.status().ToString() : cells->empty() ? "" : cells->front().value;
  }

  StoreOptions options_;
  std::shared_ptr<FakeStorage> storage_;
  std::unique_ptr<Region> region_;
  int waits_ = 0;
};

TEST_F(RegionRoomTest, AnotherSchemaComesWhileAWriterWaits) {
  WhileItWaits([&] { return region_->ReplaceSchema(SchemaOf({"g"})); });
  EXPECT_EQ(region_->Mutate(PutOf("r", "f", "v")).status().code(),
            StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(waits_, 1);
  ASSERT_OK(region_->Mutate(PutOf("r", "g", "v")));
}

TEST_F(RegionRoomTest, TheSameRowIsWrittenWhileAWriterWaits) {
  Append append{"r", {{"f", "q", " late"}}};
  WhileItWaits([&] { return region_->Mutate(PutOf("r", "f", "early")).status(); });
  ASSERT_OK(region_->Mutate(RowMutations::Of(append)));
  EXPECT_EQ(ValueOf("r"), "early late");
}

TEST_F(RegionRoomTest, AConditionIsLookedAtAnew) {
  CheckAndMutate check{"r", ColumnCondition{"f", "q", CompareOperator::kEqual, ""}, {}, {}};
  check.action = PutOf("r", "f", "mine");
  WhileItWaits([&] { return region_->Mutate(PutOf("r", "f", "another's")).status(); });
  const auto done = region_->CheckAndMutate(check, nullptr);
  ASSERT_OK(done);
  EXPECT_FALSE(done->done);
  EXPECT_EQ(ValueOf("r"), "another's");
}

TEST_F(RegionRoomTest, RowsInOneCallAreAnsweredOnceEach) {
  WhileItWaits([&] { return region_->ReplaceSchema(SchemaOf({"g"})); });
  const std::vector<RowMutations> rows = {PutOf("a", "f", "1"), PutOf("b", "g", "2"),
                                          PutOf("c", "f", "3")};
  const auto answers = region_->Batch(rows);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status().code(), StatusCode::kNoSuchColumnFamily);
  ASSERT_OK(answers[1]);
  EXPECT_EQ(answers[2].status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(ValueOf("b"), "2");
}

TEST_F(RegionRoomTest, WhoFindsNoRoomHasWrittenNothing) {
  const Status full(StatusCode::kStoreFull, "no room");
  WhileItWaits([&] { return full; });
  EXPECT_EQ(region_->Mutate(PutOf("r", "f", "v")).status().code(), StatusCode::kStoreFull);
  WhileItWaits([&] { return full; });
  const std::vector<RowMutations> rows = {PutOf("r", "f", "v"), PutOf("r", "none", "v")};
  const auto answers = region_->Batch(rows);
  EXPECT_EQ(answers[0].status().code(), StatusCode::kStoreFull);
  EXPECT_EQ(answers[1].status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(ValueOf("r"), "");
}

TEST_F(RegionRoomTest, WhoHoldsLocksGetsItHandedBack) {
  RoomToAwait room;
  WhileItWaits([] { return Status(); });
  const auto put = [&] {
    const RoomToAwait::Within within(&room);
    return region_->Mutate(PutOf("r", "f", "v")).status();
  };
  EXPECT_EQ(put().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(room.is_lacking());
  EXPECT_EQ(waits_, 0);
  EXPECT_EQ(ValueOf("r"), "");
  EXPECT_TRUE(room.Await());
  EXPECT_EQ(waits_, 1);
  WhileItWaits([] { return Status(); });
  ASSERT_OK(put());  // with what it has got
  EXPECT_FALSE(room.Await());
  EXPECT_EQ(ValueOf("r"), "v");
}

TEST_F(RegionRoomTest, WhereNoneCameTheNextWriteSaysWhy) {
  RoomToAwait room;
  const Status full(StatusCode::kStoreFull, "no room");
  WhileItWaits([&] { return full; });
  const auto check = [&] {
    const RoomToAwait::Within within(&room);
    return region_->CheckAndMutate({"r", ColumnCondition{"f", "q", CompareOperator::kEqual, ""}, {},
                                    PutOf("r", "f", "v")},
                                   nullptr);
  };
  EXPECT_FALSE(check().ok());
  EXPECT_TRUE(room.Await());
  WhileItWaits([&] { return full; });
  EXPECT_EQ(check().status().code(), StatusCode::kStoreFull);
  EXPECT_FALSE(room.Await());
}

TEST_F(RegionRoomTest, ALargeWriteWaitsBeforeItKeepsItsRow) {
  const std::string large(1000, 'x');
  const auto others_write = [&] {
    ++waits_;
    EXPECT_EQ(storage_->applies, 0);
    return region_->Mutate(PutOf("r", "f", "small")).status();
  };
  storage_->on_await_ahead = others_write;
  ASSERT_OK(region_->Mutate(PutOf("r", "f", large)));
  EXPECT_EQ(waits_, 1);
  EXPECT_EQ(storage_->applies, 2);
  EXPECT_EQ(ValueOf("r"), large);
  RoomToAwait room;
  storage_->applies = 0;
  storage_->on_await_ahead = others_write;
  const auto append = [&] {
    const RoomToAwait::Within within(&room);
    return region_->Mutate(RowMutations::Of(Append{"r", {{"f", "q", large}}})).status();
  };
  EXPECT_EQ(append().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(room.Await());
  ASSERT_OK(append());
  EXPECT_FALSE(room.Await());
  EXPECT_EQ(ValueOf("r"), "small" + large);
}

TEST_F(RegionRoomTest, RowsInOneCallWaitThemselves) {
  RoomToAwait room;
  WhileItWaits([] { return Status(); });
  const RoomToAwait::Within within(&room);
  const std::vector<RowMutations> rows = {PutOf("a", "f", "1"), PutOf("b", "g", "2")};
  for (const auto& answer : region_->Batch(rows)) ASSERT_OK(answer);
  EXPECT_FALSE(room.is_lacking());
  EXPECT_EQ(waits_, 1);
}

}  // namespace
}  // namespace cellfs
