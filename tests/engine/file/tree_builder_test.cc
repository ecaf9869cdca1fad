// SPDX-License-Identifier: MIT
//
// Trees that the builder makes, as SQLite itself sees them.
#include "engine/file/tree_builder.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/file/block_cache.h"
#include "engine/file/database.h"
#include "tests/support/assert_ok.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

class TreeBuilderTest : public testing::Test {
 protected:
  using Kind = TreeBuilder::Kind;

  void Begin() {
    built_.reset();
    path_ = directory_.path() + "/" + std::to_string(++files_) + ".db";
    auto database = Database::Build(path_);
    ASSERT_OK(database);
    ASSERT_OK((*database)->Execute(
        "CREATE TABLE t(R INTEGER PRIMARY KEY, N INTEGER, B BLOB);"
        "CREATE TABLE i(B BLOB, N INTEGER, PRIMARY KEY (B, N)) WITHOUT ROWID"));
    table_ = *(*database)->RootOf("t");
    index_ = *(*database)->RootOf("i");
    database->reset();
    auto pages = PageWriter::Open(path_);
    ASSERT_OK(pages);
    pages_ = *std::move(pages);
  }
  void Open() {
    ASSERT_OK(pages_->Finish());
    pages_.reset();
    auto built = Database::OpenImmutable(path_, cache_, cache_.NewOwner());
    ASSERT_OK(built);
    built_ = *std::move(built);
    Statement check = *built_->Prepare("PRAGMA integrity_check");
    ASSERT_TRUE(*check.Step());
    ASSERT_EQ(check.Bytes(0), "ok");
  }

  // Ascending keys of random lengths.
  std::vector<std::string> Keys(size_t count, size_t longest, std::mt19937& random) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) {
      char number[24];
      std::snprintf(number, sizeof number, "%08zu", i);
      keys.push_back(number + std::string(random() % (longest + 1), 'x'));
    }
    return keys;
  }

  TemporaryDirectory directory_;
  int files_ = 0;
  std::string path_;
  uint32_t table_ = 0, index_ = 0;
  BlockCache cache_{16 << 20};
  std::unique_ptr<PageWriter> pages_;
  std::unique_ptr<Database> built_;
};

// Lengths around all that one page, one node of pages, and an entry within its page can have.
TEST_F(TreeBuilderTest, AnIndexOfAnyLengthIsOneOfSQLite) {
  std::mt19937 random(20261128);
  std::vector<std::pair<size_t, size_t>> shapes = {
      {0, 0}, {1, 0}, {1, 30000}, {2000, 3000}, {300, 1100}, {40000, 60}, {20000, 980}};
  for (size_t count = 140; count < 340; ++count) shapes.emplace_back(count, 0);
  for (size_t count = 4; count < 30; ++count) shapes.emplace_back(count, 1600);
  for (const auto& [count, longest] : shapes) {
    Begin();
    const std::vector<std::string> keys = Keys(count, longest, random);
    TreeBuilder tree(*pages_, Kind::kIndex);
    RecordWriter record;
    for (size_t i = 0; i < count; ++i) {
      record.Begin();
      record.Blob(keys[i]);
      record.Integer(static_cast<int64_t>(i));
      ASSERT_OK(tree.Add(record.Finish()));
    }
    ASSERT_OK(tree.Finish(index_));
    Open();
    Statement all = *built_->Prepare("SELECT B, N FROM i ORDER BY B, N");
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(*all.Step());
      ASSERT_EQ(all.Bytes(0), keys[i]) << count << " up to " << longest;
      ASSERT_EQ(all.Integer(1), static_cast<int64_t>(i));
    }
    ASSERT_FALSE(*all.Step());
    Statement one = *built_->Prepare("SELECT N FROM i WHERE B = ?1");
    for (size_t i = 0; i < count; i += 1 + count / 50) {
      one.Bind(1, keys[i]);
      ASSERT_TRUE(*one.Step()) << i;
      ASSERT_EQ(one.Integer(0), static_cast<int64_t>(i));
      one.Reset();
    }
  }
}

TEST_F(TreeBuilderTest, ATableOfAnyLengthIsOneOfSQLite) {
  std::mt19937 random(7);
  std::vector<std::pair<size_t, size_t>> shapes = {{0, 0}, {1, 5000000}, {3000, 9000}, {70000, 20}};
  for (size_t count = 140; count < 340; ++count) shapes.emplace_back(count, 0);
  for (size_t count = 400; count < 430; ++count) shapes.emplace_back(count, 9000);
  for (const auto& [count, longest] : shapes) {
    Begin();
    const std::vector<std::string> values = Keys(count, longest, random);
    TreeBuilder tree(*pages_, Kind::kTable);
    RecordWriter record;
    for (size_t i = 0; i < count; ++i) {
      record.Begin();
      record.Null();
      record.Integer(static_cast<int64_t>(i));
      record.BlobBehind(values[i].size());
      ASSERT_OK(tree.AddRow(static_cast<int64_t>(3 * i + 1), record.Finish(), values[i]));
    }
    ASSERT_OK(tree.Finish(table_));
    Open();
    Statement all = *built_->Prepare("SELECT R, N, B FROM t ORDER BY R");
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(*all.Step());
      ASSERT_EQ(all.Integer(0), static_cast<int64_t>(3 * i + 1));
      ASSERT_EQ(all.Integer(1), static_cast<int64_t>(i));
      ASSERT_EQ(all.Bytes(2), values[i]);
    }
    ASSERT_FALSE(*all.Step());
  }
}

TEST_F(TreeBuilderTest, NumbersOfEverySizeAreThoseOfSQLite) {
  std::vector<int64_t> numbers = {0, 1, -1, INT64_MAX, INT64_MIN};
  for (int bits = 1; bits < 63; ++bits) {
    for (const int64_t by : {-1, 0, 1}) {
      numbers.push_back((int64_t{1} << bits) + by);
      numbers.push_back(-(int64_t{1} << bits) + by);
    }
  }
  Begin();
  TreeBuilder tree(*pages_, Kind::kTable);
  RecordWriter record;
  for (size_t i = 0; i < numbers.size(); ++i) {
    record.Begin();
    record.Null();
    record.Integer(numbers[i]);
    record.Null();
    const std::string_view written = record.Finish();
    RecordReader reader;
    int64_t read = 7;
    ASSERT_TRUE(reader.Begin(written));
    ASSERT_TRUE(reader.IntegerOrNull(&read, 9));
    ASSERT_EQ(read, 9);
    ASSERT_TRUE(reader.Integer(&read));
    ASSERT_EQ(read, numbers[i]);
    std::string_view bytes = "x";
    ASSERT_TRUE(reader.BlobOrNull(&bytes));
    ASSERT_EQ(bytes, "");
    ASSERT_OK(tree.AddRow(static_cast<int64_t>(i), written));
  }
  ASSERT_OK(tree.Finish(table_));
  Open();
  Statement all = *built_->Prepare("SELECT N, B IS NULL FROM t ORDER BY R");
  for (const int64_t number : numbers) {
    ASSERT_TRUE(*all.Step());
    EXPECT_EQ(all.Integer(0), number);
    EXPECT_EQ(all.Integer(1), 1);
  }
}

TEST_F(TreeBuilderTest, ThePageThatSQLiteLocksIsLeftOut) {
  Begin();
  uint32_t number = 0;
  while (number < kLockPage - 1) number = pages_->Allocate();
  EXPECT_EQ(pages_->Allocate(), kLockPage + 1);
}

}  // namespace
}  // namespace cellfs
