// SPDX-License-Identifier: MIT
#include "engine/local/database.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    auto opened = Database::Open(path_, Database::Mode::kCreate);
    EXPECT_TRUE(opened.ok());
    database_ = *std::move(opened);
    EXPECT_TRUE(database_->Execute("CREATE TABLE t(b BLOB)").ok());
  }
  int64_t Count() { return *database_->QueryInteger("SELECT count(*) FROM t"); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/x.db";
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, BytesComeBackAsTheyWereAndNoBytesAreNotNull) {
  Statement insert = *database_->Prepare("INSERT INTO t VALUES (?1)");
  for (const std::string_view bytes : {std::string_view("a\0b\xff", 4), std::string_view()}) {
    insert.Bind(1, bytes);
    ASSERT_TRUE(insert.Run().ok());
  }
  insert.BindNull(1);
  ASSERT_TRUE(insert.Run().ok());
  Statement select = *database_->Prepare("SELECT b FROM t ORDER BY rowid");
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Bytes(0), std::string_view("a\0b\xff", 4));
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Bytes(0), "");
  EXPECT_FALSE(select.IsNull(0));
  ASSERT_TRUE(*select.Step());
  EXPECT_TRUE(select.IsNull(0));
  EXPECT_FALSE(*select.Step());
}

TEST_F(DatabaseTest, ATransactionIsRolledBackUnlessCommitted) {
  {
    auto transaction = Transaction::Begin(*database_);
    ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES ('a')").ok());
  }
  EXPECT_EQ(Count(), 0);
  {
    auto transaction = Transaction::Begin(*database_);
    ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES ('a')").ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }
  EXPECT_EQ(Count(), 1);
}

TEST_F(DatabaseTest, AFullDatabaseIsStoreFullAndNamesTheFile) {
  ASSERT_TRUE(database_->Execute("PRAGMA max_page_count = 3").ok());
  const Status status = database_->Execute("INSERT INTO t VALUES (zeroblob(100000))");
  EXPECT_EQ(status.code(), StatusCode::kStoreFull);
  EXPECT_NE(status.message().find(path_), std::string::npos);
}

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsCorruption) {
  const std::string other = directory_.path() + "/other.db";
  std::ofstream(other) << std::string(8192, 'x');
  auto opened = Database::Open(other, Database::Mode::kOpen);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->QueryInteger("SELECT count(*) FROM sqlite_schema").status().code(),
            StatusCode::kCorruption);
}

TEST_F(DatabaseTest, AMissingFileIsNotMade) {
  EXPECT_EQ(Database::Open(directory_.path() + "/none.db", Database::Mode::kOpen).status().code(),
            StatusCode::kIoError);
}

TEST(QuotedNameTest, QuotesInANameAreDoubled) { EXPECT_EQ(QuotedName("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace cellfs
