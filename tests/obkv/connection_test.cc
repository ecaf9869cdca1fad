// SPDX-License-Identifier: MIT
//
// Sessions with a real server: what goes in and comes out, and how what fails, or takes long, ends.
#include "engine/obkv/connection.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "engine/obkv/connection_pool.h"
#include "engine/obkv/sql_error.h"
#include "tests/support/test_database.h"

namespace cellfs::obkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto options = TestDatabase();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_DATABASE names no database";
    options_ = *options;
    connection_ = Connect();
    ASSERT_NE(connection_, nullptr);
    Do("CREATE DATABASE IF NOT EXISTS connections");
    Do("DROP TABLE IF EXISTS connections.t");
    Do("CREATE TABLE connections.t (K VARBINARY(8) PRIMARY KEY, T BIGINT NOT NULL, V MEDIUMBLOB)");
  }
  static Patience Soon() { return Patience::For(seconds(20)); }
  std::unique_ptr<Connection> Connect() {
    auto opened = Connection::Open(options_, Soon());
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void Do(const std::string& sql) {
    const Status done = connection_->Command(sql, Soon());
    EXPECT_TRUE(done.ok()) << sql << ": " << done.ToString();
  }
  StatusOr<uint64_t> Put(Connection& connection, std::string_view key, int64_t number,
                         const SqlParameter& value, const Patience& patience) {
    return connection.Change("INSERT INTO connections.t VALUES (?, ?, ?)", {key, number, value},
                             patience);
  }

  ObkvOptions options_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, CarriesBytesNumbersAndNulls) {
  const std::string zeros("a\0\xff", 3);
  const std::string large(3'000'000, '\x80');
  ASSERT_TRUE(Put(*connection_, zeros, INT64_MIN, std::string_view(""), Soon()).ok());
  ASSERT_TRUE(Put(*connection_, "", INT64_MAX, {}, Soon()).ok());
  ASSERT_TRUE(Put(*connection_, "large", 0, std::string_view(large), Soon()).ok());
  const auto rows = connection_->Query("SELECT K, T, V FROM connections.t ORDER BY K", {}, Soon());
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  const std::vector<SqlRow> expected = {{std::string(), INT64_MAX, std::monostate()},
                                        {zeros, INT64_MIN, std::string()},
                                        {std::string("large"), int64_t{0}, large}};
  EXPECT_EQ(*rows, expected);
}

TEST_F(ConnectionTest, PreparesAStatementOnceAndTakesOthersParameters) {
  for (const char* const key : {"a", "b"}) {
    const auto changed = Put(*connection_, key, 7, {}, Soon());
    ASSERT_TRUE(changed.ok()) << changed.status().ToString();
    EXPECT_EQ(*changed, 1u);
  }
  const auto count = connection_->Query("SELECT COUNT(*) FROM connections.t WHERE T = ?",
                                        {int64_t{7}}, Soon());
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(NumberOf(count->front().front()), 2);
}

TEST_F(ConnectionTest, TakesAsManyStatementsAsOneLikes) {
  for (int i = 0; i < 200; ++i) {
    const auto rows = connection_->Query("SELECT CAST(? AS SIGNED) + " + std::to_string(i),
                                         {int64_t{1000}}, Soon());
    ASSERT_TRUE(rows.ok()) << i << ": " << rows.status().ToString();
    EXPECT_EQ(NumberOf(rows->front().front()), 1000 + i);
  }
}

TEST_F(ConnectionTest, TellsWhatFailed) {
  EXPECT_EQ(connection_->Query("SELECT * FROM connections.none", {}, Soon()).status().code(),
            StatusCode::kTableNotFound);
  EXPECT_EQ(connection_->Command("USE none_such", Soon()).code(),
            StatusCode::kNamespaceNotFound);
  EXPECT_EQ(Put(*connection_, "longer than eight", 0, {}, Soon()).status().code(),
            StatusCode::kValueTooLarge);
  EXPECT_EQ(connection_->Command("nonsense", Soon()).code(), StatusCode::kIoError);
  EXPECT_FALSE(connection_->is_lost());
  EXPECT_TRUE(Put(*connection_, "k", 0, {}, Soon()).ok());
}

TEST_F(ConnectionTest, HandsNoFilesOver) {
  EXPECT_FALSE(
      connection_->Command("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE connections.t", Soon())
          .ok());
}

TEST_F(ConnectionTest, IsBrokenOffWhereItTakesTooLong) {
  const auto began = SteadyClock::now();
  const auto slow = connection_->Query("SELECT SLEEP(20)", {}, Patience::For(milliseconds(300)));
  EXPECT_EQ(slow.status().code(), StatusCode::kTimedOut);
  EXPECT_LT(SteadyClock::now() - began, seconds(10));
  EXPECT_TRUE(connection_->is_lost());
  EXPECT_EQ(connection_->Query("SELECT 1", {}, Soon()).status().code(), StatusCode::kUnavailable);
}

TEST_F(ConnectionTest, IsBrokenOffWhereNobodyWaits) {
  std::atomic<bool> cancelled{false};
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(100));
    cancelled = true;
  });
  const auto slow =
      connection_->Query("SELECT SLEEP(20)", {}, Patience::For(seconds(20), &cancelled));
  later.join();
  EXPECT_EQ(slow.status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(connection_->is_lost());
}

TEST_F(ConnectionTest, SaysWhereNobodyAnswers) {
  ObkvOptions nowhere = options_;
  nowhere.socket = "/nonexistent/socket";
  EXPECT_EQ(Connection::Open(nowhere, Soon()).status().code(), StatusCode::kUnavailable);
  ObkvOptions stranger = options_;
  stranger.user = "stranger";
  stranger.password = "wrong";
  EXPECT_EQ(Connection::Open(stranger, Soon()).status().code(), StatusCode::kAccessDenied);
}

TEST_F(ConnectionTest, WhoFindsNoneFreeWaitsForOne) {
  options_.connections = 1;
  ConnectionPool pool(options_);
  auto first = pool.Lend(Soon());
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(pool.Lend(Patience::For(milliseconds(50))).status().code(), StatusCode::kTimedOut);
  std::thread waiting([&] { EXPECT_TRUE(pool.Lend(Soon()).ok()); });
  std::this_thread::sleep_for(milliseconds(20));
  first->reset();
  waiting.join();
}

TEST_F(ConnectionTest, OneThatTheServerHasClosedIsReplaced) {
  ConnectionPool pool(options_);
  int64_t session = 0;
  {
    const auto lent = pool.Lend(Soon());
    ASSERT_TRUE(lent.ok());
    const auto rows = (*lent)->Query("SELECT CONNECTION_ID()", {}, Soon());
    ASSERT_TRUE(rows.ok());
    session = NumberOf(rows->front().front());
  }
  Do("KILL " + std::to_string(session));
  std::this_thread::sleep_for(milliseconds(200));
  const auto lent = pool.Lend(Soon());
  ASSERT_TRUE(lent.ok());
  EXPECT_TRUE((*lent)->Query("SELECT 1", {}, Soon()).ok());
}

TEST(SqlError, IsOfTheSessionWhereTheClientSaysIt) {
  EXPECT_TRUE(EndsSession(2013));
  EXPECT_FALSE(EndsSession(1205));
  EXPECT_FALSE(EndsSession(6002));
  EXPECT_EQ(StatusOfError(1205, "Lock wait timeout exceeded").message(),
            "the database says: Lock wait timeout exceeded (1205)");
}

}  // namespace
}  // namespace cellfs::obkv
