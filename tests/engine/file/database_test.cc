// SPDX-License-Identifier: MIT
#include "engine/file/database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/file/block_cache.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    auto opened = Database::Build(path_);
    EXPECT_TRUE(opened.ok());
    database_ = *std::move(opened);
    EXPECT_TRUE(database_->Execute("CREATE TABLE t(b BLOB)").ok());
  }
  int64_t Count() { return *database_->QueryInteger("SELECT count(*) FROM t"); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/x.db";
  BlockCache cache_{1 << 20};
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

TEST_F(DatabaseTest, AnImmutableFileIsReadAndNotWritten) {
  ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES ('a')").ok());
  database_.reset();
  auto opened = Database::OpenImmutable(path_, cache_, cache_.NewOwner());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  database_ = *std::move(opened);
  EXPECT_EQ(Count(), 1);
  EXPECT_GT(cache_.bytes(), 0);
  EXPECT_EQ(database_->Execute("INSERT INTO t VALUES ('b')").code(), StatusCode::kIoError);
}

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsCorruption) {
  const std::string other = directory_.path() + "/other.db";
  std::ofstream(other) << std::string(8192, 'x');
  auto opened = Database::OpenImmutable(other, cache_, cache_.NewOwner());
  EXPECT_EQ(opened.status().code(), StatusCode::kCorruption);
}

TEST_F(DatabaseTest, AMissingFileIsNotMadeAndOneThatIsThereIsNotOverwritten) {
  const std::string none = directory_.path() + "/none.db";
  EXPECT_EQ(Database::OpenImmutable(none, cache_, cache_.NewOwner()).status().code(),
            StatusCode::kCorruption);
  EXPECT_FALSE(std::filesystem::exists(none));
  EXPECT_EQ(Database::Build(path_).status().code(), StatusCode::kIoError);
}

// They are the user's: a store may lie in any directory.
TEST_F(DatabaseTest, APathMayHaveAnyBytes) {
  const std::string odd = directory_.path() + "/a?b#c%41 \xff&mode=rw.db";
  {
    auto built = Database::Build(odd);
    ASSERT_TRUE(built.ok()) << built.status().ToString();
    ASSERT_TRUE((*built)->Execute("CREATE TABLE t(b BLOB); INSERT INTO t VALUES (7)").ok());
  }
  auto opened = Database::OpenImmutable(odd, cache_, cache_.NewOwner());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(*(*opened)->QueryInteger("SELECT b FROM t"), 7);
}

}  // namespace
}  // namespace cellfs
