// SPDX-License-Identifier: MIT
//
// The stand-ins of rows: who waits for whom, and what they tell of a transaction.
#include "engine/obkv/row_locks_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "engine/obkv/obkv_store.h"
#include "tests/support/test_database.h"

namespace cellfs::obkv {
namespace {

const TableName kLocked{"locks", "t"};

class RowLocksTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto options = TestDatabase();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_DATABASE names no database";
    options_ = *options;
    first_ = Connect();
    second_ = Connect();
    ASSERT_TRUE(first_ != nullptr && second_ != nullptr);
  }
  static Patience Soon() { return Patience::For(std::chrono::seconds(60)); }
  std::unique_ptr<Connection> Connect() {
    auto opened = Connection::Open(options_, Soon());
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  // Of rows; committed, or not.
  Turn TakeTurn(const std::vector<std::string_view>& rows, bool commit) {
    Transaction transaction(*first_, Soon());
    EXPECT_TRUE(transaction.Begin(Transaction::Kind::kWriting).ok());
    const auto turn = locks_.Lock(transaction, kLocked, rows);
    EXPECT_TRUE(turn.ok()) << turn.status().ToString();
    if (commit) {
      EXPECT_TRUE(transaction.Commit().ok());
    }
    return turn.ok() ? *turn : Turn();
  }
  std::optional<bool> WasMade(const Turn& turn) {
    Transaction transaction(*second_, Soon());
    EXPECT_TRUE(transaction.Begin(Transaction::Kind::kWriting).ok());
    const auto was_made = locks_.WasMade(transaction, turn);
    EXPECT_TRUE(was_made.ok()) << was_made.status().ToString();
    return was_made.ok() ? *was_made : std::nullopt;
  }

  ObkvOptions options_;
  std::unique_ptr<Connection> first_;
  std::unique_ptr<Connection> second_;
  RowLocksTable locks_;
};

TEST_F(RowLocksTest, TellsWhetherATransactionWasCommitted) {
  const Turn made = TakeTurn({"a"}, /*commit=*/true);
  const Turn left = TakeTurn({"a"}, /*commit=*/false);
  EXPECT_EQ(made.lock, left.lock);
  EXPECT_EQ(WasMade(made), true);
  EXPECT_EQ(WasMade(left), false);
  const Turn of_many = TakeTurn({"a", "b", "c"}, /*commit=*/true);
  const Turn of_many_left = TakeTurn({"c", "b", "a"}, /*commit=*/false);
  EXPECT_EQ(WasMade(of_many), true);
  EXPECT_EQ(WasMade(of_many_left), false);
  EXPECT_EQ(WasMade(made), true);
}

TEST_F(RowLocksTest, SaysWhatNobodyKnowsAnyMore) {
  const Turn made = TakeTurn({"a"}, /*commit=*/true);
  const Turn left = TakeTurn({"a"}, /*commit=*/false);
  for (int i = 0; i < 31; ++i) TakeTurn({"a"}, /*commit=*/true);
  EXPECT_EQ(WasMade(made), true);
  EXPECT_EQ(WasMade(left), false);
  for (int i = 0; i < 2; ++i) TakeTurn({"a"}, /*commit=*/true);
  EXPECT_EQ(WasMade(made), std::nullopt);
  EXPECT_EQ(WasMade(left), std::nullopt);
}

// Also one that looks at nothing: it would else come to lie beneath what an increment makes of what
// it has read before.
TEST_F(RowLocksTest, EveryWriteWaitsForARowThatIsKept) {
  options_.operation_timeout = std::chrono::seconds(10);
  const auto store = ObkvStore::Open(options_, {});
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  const Caller& me = Caller::Superuser();
  (void)(*store)->CreateNamespace(me, {kLocked.namespace_name, {}});
  TableSchema schema(kLocked);
  schema.families.emplace("f", FamilySchema("f"));
  const Status created = (*store)->CreateTable(me, schema);
  ASSERT_TRUE(created.ok()) << created.ToString();
  const auto put = [](const std::string& row) {
    return RowMutations::Of(Put{.row = row, .cells = {{"f", "q", kLatestTimestamp, "v", {}}}});
  };
  ASSERT_TRUE((*store)->Mutate(me, kLocked, put("r")).ok());

  options_.operation_timeout = std::chrono::milliseconds(300);
  const auto hasty = ObkvStore::Open(options_, {});
  ASSERT_TRUE(hasty.ok());
  {
    Transaction transaction(*first_, Soon());
    ASSERT_TRUE(transaction.Begin(Transaction::Kind::kWriting).ok());
    ASSERT_TRUE(locks_.Lock(transaction, kLocked, std::vector<std::string_view>{"r"}).ok());
    EXPECT_EQ((*hasty)->Mutate(me, kLocked, put("r")).status().code(), StatusCode::kTimedOut);
    const auto answers = (*hasty)->Batch(me, kLocked, {put("other"), put("r")});
    for (const auto& answer : answers) EXPECT_EQ(answer.status().code(), StatusCode::kTimedOut);
  }
  EXPECT_TRUE((*store)->Mutate(me, kLocked, put("r")).ok());
  EXPECT_TRUE((*store)->Batch(me, kLocked, {put("other"), put("r")})[1].ok());
  EXPECT_TRUE((*store)->DisableTable(me, kLocked).ok());
  EXPECT_TRUE((*store)->DropTable(me, kLocked).ok());
}

}  // namespace
}  // namespace cellfs::obkv
