// SPDX-License-Identifier: MIT
//
// A manifest that is made anew where a compaction has written several files, and nothing but the
// files tells which are the table's.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/embedded/embedded_store.h"
#include "engine/local/local_engine.h"
#include "engine/repair.h"
#include "tests/support/assert_ok.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr int kRowsOfTable = 200;

class RepairedPiecesTest : public testing::Test {
 protected:
  const Caller& root() const { return Caller::Superuser(); }
  const TableName table_ = ParseTableName("t");
  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/store";
  const std::string of_table_ = path_ + "/tables/1/";

  // A file that a compaction writes has eight times so many bytes.
  StatusOr<std::unique_ptr<ControlledStore>> OpenStore(int64_t flush_size = 512) {
    StoreOptions options;
    options.background_maintenance = false;
    options.site.memstore_flush_size = flush_size;
    CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StorageEngine> engine,
                            LocalEngine::Open(path_, options, PosixFiles()));
    return EmbeddedStore::Open(std::move(engine), options);
  }

  // A compaction has just put the files from 3.db on in the place of 1.db and 2.db, the manifest is
  // lost, and the log was given up.
  void SetUp() override {
    auto store = OpenStore(1 << 20);
    ASSERT_OK(store);
    TableSchema schema(table_);
    schema.families.emplace("f", FamilySchema("f"));
    ASSERT_OK((*store)->CreateTable(root(), schema));
    for (int file = 0; file < 2; ++file) {
      for (int i = file; i < kRowsOfTable; i += 2) {
        ASSERT_OK((*store)->Mutate(
            root(), table_,
            RowMutations::Of(Put{.row = "r" + std::to_string(1000 + i),
                                 .cells = {{"f", "q", 1, std::string(100, 'x'), std::nullopt}}})));
      }
      ASSERT_OK((*store)->Flush(root(), table_));
    }
    *store = nullptr;
    std::filesystem::copy(of_table_, directory_.path() + "/inputs");
    store = OpenStore();
    ASSERT_OK(store);
    ASSERT_OK((*store)->Compact(root(), table_, CompactionKind::kMajor));
    *store = nullptr;
    std::filesystem::remove(of_table_ + "MANIFEST");
    for (const char* const input : {"1.db", "2.db"})
      std::filesystem::copy(directory_.path() + "/inputs/" + input, of_table_ + input);
    std::filesystem::remove_all(path_ + "/wal");
    std::filesystem::create_directory(path_ + "/wal");
    std::ofstream(path_ + "/wal/0000000000000001.log").close();
    ASSERT_TRUE(std::filesystem::exists(of_table_ + "5.db"));
  }

  size_t CountRows() {
    auto store = OpenStore();
    if (!store.ok()) return 0;
    auto scanner = (*store)->OpenScanner(root(), table_, Scan());
    size_t count = 0;
    for (bool again = scanner.ok(); again;) {
      const auto rows = (*scanner)->Next({});
      again = rows.ok() && !rows->empty();
      if (again) count += rows->size();
    }
    return count;
  }
};

TEST_F(RepairedPiecesTest, WhatHasBecomeSeveralFilesStaysOut) {
  const auto repair = RepairLocalStore(path_, RepairMode::kAct);
  ASSERT_OK(repair);
  ASSERT_EQ(repair->tables.size(), 1u);
  EXPECT_EQ(repair->tables[0].obstacle, "");
  EXPECT_EQ(repair->tables[0].files.front(), "3.db");
  EXPECT_EQ(CountRows(), size_t{kRowsOfTable});
}

// A compaction that was cut short leaves so much, and what it read is all there is of the rest.
TEST_F(RepairedPiecesTest, NotWhereSomeOfTheseAreMissing) {
  std::filesystem::remove(of_table_ + "5.db");
  const auto repair = RepairLocalStore(path_, RepairMode::kAct);
  ASSERT_OK(repair);
  ASSERT_EQ(repair->tables.size(), 1u);
  EXPECT_NE(repair->tables[0].obstacle.find(" has a part of what "), std::string::npos)
      << repair->tables[0].obstacle;
  EXPECT_FALSE(std::filesystem::exists(of_table_ + "MANIFEST"));
}

}  // namespace
}  // namespace cellfs
