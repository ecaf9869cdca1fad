// SPDX-License-Identifier: MIT
#include "fs/store/told_changes.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/open.h"
#include "tests/fs/names.h"
#include "tests/support/remote_store.h"
#include "tests/support/temporary_directory.h"

namespace cellfs::fs {
namespace {

class ToldChangesTest : public ::testing::Test {
 protected:
  ToldChangesTest() : store_(*OpenLocalStore(directory_.path() + "/store", {})) {
    EXPECT_TRUE(told_.CreateTable(me_, Schema()).ok());
    for (const char* row : {"a", "b", "c", "d"}) EXPECT_TRUE(Mutate(row, "before").ok());
    Know();
  }

  static TableSchema Schema() {
    TableSchema schema(kTable);
    for (const char* family : {"f", "g"}) schema.families.emplace(family, FamilySchema(family));
    return schema;
  }
  static RowMutations PutOf(const std::string& row, const std::string& value) {
    return RowMutations::Of(
        Put{.row = row, .cells = {{"f", "q", kLatestTimestamp, value, {}}}});
  }
  Status Mutate(const std::string& row, const std::string& value) {
    return told_.Mutate(me_, kTable, PutOf(row, value)).status();
  }

  std::string Value(const std::string& row) {
    Get get;
    get.row = row;
    get.columns["f"] = {"q"};
    const auto cells = told_.read_ahead().Read(me_, kTable, get);
    if (!cells.ok()) return cells.status().ToString();
    return cells->empty() ? "none" : cells->front().value;
  }
  // Of all rows something is brought.
  void Know() {
    for (const char* row : {"a", "b", "c"}) Value(row);
  }

  TemporaryDirectory directory_;
  const Caller& me_ = Caller::Superuser();
  const std::unique_ptr<Store> store_;
  ManualClock clock_{1'000'000};
  const StoreTraits traits_{.has_other_writers = true, .max_staleness_ms = 1000};
  const Freshness freshness_{traits_, clock_};
  ToldChanges told_{*store_, freshness_};
};

TEST_F(ToldChangesTest, OthersAreSeenLater) {
  ASSERT_TRUE(store_->Mutate(me_, kTable, PutOf("c", "after")).ok());
  EXPECT_EQ(Value("c"), "before");
  clock_.Advance(501);
  EXPECT_EQ(Value("c"), "after");
}

TEST_F(ToldChangesTest, EachChangeOfCellsIsSeenAtOnce) {
  ASSERT_TRUE(Mutate("b", "after").ok());
  EXPECT_EQ(Value("b"), "after");
  CheckAndMutate check;
  check.row = "c";
  check.condition = ColumnCondition{"f", "q", CompareOperator::kEqual, "before"};
  check.action = PutOf("c", "after");
  ASSERT_TRUE(told_.CheckAndMutate(me_, kTable, check)->done);
  EXPECT_EQ(Value("c"), "after");
  for (const auto& row : told_.Batch(me_, kTable, {PutOf("a", "late"), PutOf("d", "late")}))
    ASSERT_TRUE(row.ok());
  for (const char* row : {"a", "d"}) EXPECT_EQ(Value(row), "late");
}

TEST_F(ToldChangesTest, AConditionThatDoesNotHoldTellsThatTheRowIsAnother) {
  ASSERT_TRUE(store_->Mutate(me_, kTable, PutOf("c", "others")).ok());
  ASSERT_EQ(Value("c"), "before");
  CheckAndMutate check;
  check.row = "c";
  check.condition = ColumnCondition{"f", "q", CompareOperator::kEqual, "before"};
  check.action = PutOf("c", "after");
  ASSERT_FALSE(told_.CheckAndMutate(me_, kTable, check)->done);
  EXPECT_EQ(Value("c"), "others");
}

TEST_F(ToldChangesTest, EachChangeOfATableIsSeenAtOnce) {
  TableSchema other = Schema();
  ASSERT_TRUE(other.Set("purpose", "another").ok());
  const std::vector<std::function<Status()>> changes = {
      [&] { return told_.AlterTable(me_, other); },
      [&] { return told_.AddFamily(me_, kTable, FamilySchema("h")); },
      [&] { return told_.ModifyFamily(me_, kTable, FamilySchema("h")); },
      [&] { return told_.DropFamily(me_, kTable, "h"); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    ASSERT_TRUE(store_->Mutate(me_, kTable, PutOf("c", std::to_string(i))).ok()) << i;
    const auto changed = changes[i]();
    ASSERT_TRUE(changed.ok()) << i << changed.ToString();
    EXPECT_EQ(Value("c"), std::to_string(i));
    Know();
  }
  ASSERT_TRUE(told_.DisableTable(me_, kTable).ok());
  EXPECT_NE(Value("c"), "3");  // it cannot be read
  ASSERT_TRUE(told_.TruncateTable(me_, kTable).ok());
  if (!*told_.IsTableEnabled(kTable)) {
    ASSERT_TRUE(told_.EnableTable(me_, kTable).ok());
  }
  EXPECT_EQ(Value("c"), "none");
}

// Of both names: what was known of the one that takes another's place is another's, too.
TEST_F(ToldChangesTest, ARenamedTableIsSeenAtOnceUnderBothNames) {
  const TableName other{"default", "other"};
  ASSERT_TRUE(told_.RenameTable(me_, kTable, other).ok());
  EXPECT_NE(Value("c"), "before");  // there is no such table
  ASSERT_TRUE(told_.CreateTable(me_, Schema()).ok());
  EXPECT_EQ(Value("c"), "none");
  Know();
  ASSERT_TRUE(told_.RenameTable(me_, kTable, {"default", "third"}).ok());
  ASSERT_TRUE(told_.RenameTable(me_, other, kTable).ok());
  EXPECT_EQ(Value("c"), "before");
}

// What was begun to be read before it began may be older than what was acknowledged before.
TEST_F(ToldChangesTest, WithinAReadOnceATableIsDescribedOnce) {
  RemoteStore remote(OpenMemoryStore({}));
  ToldChanges told(remote, freshness_);
  ASSERT_TRUE(told.CreateTable(me_, Schema()).ok());
  const auto families = [&] { return (*told.DescribeTable(kTable))->families.size(); };
  {
    const ReadOnce once(true);
    const int before = remote.descriptions();
    EXPECT_EQ(families(), 2U);
    {
      const ReadOnce within(true);
      EXPECT_EQ(families(), 2U);
    }
    ASSERT_TRUE(remote.elsewhere().AddFamily(me_, kTable, FamilySchema("h")).ok());
    EXPECT_EQ(families(), 2U);
    EXPECT_EQ(remote.descriptions(), before + 1);
  }
  EXPECT_EQ(families(), 3U) << "outside of any";
  ASSERT_TRUE(remote.elsewhere().DropFamily(me_, kTable, "h").ok());
  const ReadOnce another(true);
  EXPECT_EQ(families(), 2U);
}

}  // namespace
}  // namespace cellfs::fs
