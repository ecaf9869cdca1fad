// SPDX-License-Identifier: MIT
//
// What is there again after the process has died without closing the store.
#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class RecoveryTest : public EngineTest {
 protected:
  // Opens the engine with table 1, which is whole, and gives what became of table 2.
  StatusOr<std::shared_ptr<CellStorage>> OpenTwo() {
    CELLFS_ASSIGN_OR_RETURN(engine_, LocalEngine::Open(path(), options_, files_));
    const std::vector<StoredTable> two = {{1, schema_}, {2, schema_}};
    CELLFS_ASSIGN_OR_RETURN(auto tables, engine_->OpenTables(two, kNextId));
    CELLFS_ASSIGN_OR_RETURN(table_, std::move(tables.storages[0]));
    return std::move(tables.storages[1]);
  }
};

TEST_F(RecoveryTest, ATableThatIsRenamedIsNotFlushed) {
  const auto renamed = std::make_shared<TableSchema>(schema_->Renamed(ParseTableName("renamed")));
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "before"));
    ASSERT_OK(table_->ReplaceSchema(renamed));
    EXPECT_EQ(table_->GetStatistics().flushes, 0u);
    ASSERT_OK(PutOne("b", 1, "after"));
  });
  schema_ = renamed;
  Open();
  EXPECT_EQ(Raw(), "a/f:q/1=before b/f:q/1=after ");
}

TEST_F(RecoveryTest, WhatWasOnlyInTheLogComesBack) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "flushed"));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(PutOne("b", 1, std::string("logged\0\xff", 8)));
    ASSERT_OK(Write("c", {CellOf("q", 2, "2"), CellOf("q", 3, "", CellType::kDelete)}));
    ASSERT_OK(PutOne("d", 1, "withdrawn"));
    ASSERT_OK(Write("d", {}, {{"f", "q", 1, CellType::kPut}}));
  });
  Open();
  EXPECT_EQ(Raw(), "a/f:q/1=flushed b/f:q/1=" + std::string("logged\0\xff", 8) +
                       " c/f:q/3/Delete= c/f:q/2=2 ");
  EXPECT_EQ(engine_->GetStatistics().last_sequence_id, 5u);
  ASSERT_OK(PutOne("a", 1, "newer"));  // same timestamp: the later sequence id wins
  EXPECT_EQ(ValueOf("a"), "newer");
}

TEST_F(RecoveryTest, AWriteThatSkippedTheLogIsLostWithTheProcess) {
  DieAfter([&] {
    RowBatch batch{.row = "a", .cells = {CellOf("q", 1, "v")}, .durability = Durability::kSkipWal};
    ASSERT_OK(Apply(*table_, batch));
    EXPECT_EQ(ValueOf("a"), "v");
  });
  Open();
  EXPECT_EQ(Visible(), "");
}

// The log is kept by another table, and holds a tombstone that flush and compaction have seen off.
TEST_F(RecoveryTest, WhatACompactionHasDroppedDoesNotComeBackFromTheLog) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 3, "hidden"));
    ASSERT_OK(Write("a", {CellOf("q", 9, "", CellType::kDeleteColumn)}));
    auto other = engine_->CreateTable({2, schema_});
    ASSERT_OK(other);
    RowBatch batch{.row = "x", .cells = {CellOf("q", 1, "v")}};
    ASSERT_OK(Apply(**other, batch));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(table_->Compact(CompactionKind::kMajor));
    ASSERT_OK(PutOne("a", 4, "shows"));
  });
  Open();
  EXPECT_EQ(Raw(), "a/f:q/4=shows ");
}

TEST_F(RecoveryTest, WhatADroppedTableNeverFlushedIsGoneWithIt) {
  DieAfter([&] {
    auto other = engine_->CreateTable({2, schema_});
    ASSERT_OK(other);
    RowBatch batch{.row = "x", .cells = {CellOf("q", 1, std::string(5000, 'v'))}};
    ASSERT_OK(Apply(**other, batch));
    ASSERT_OK(engine_->DropTable(2));
    ASSERT_OK(PutOne("a", 1, "stays"));
  });
  Open();
  EXPECT_EQ(Raw(), "a/f:q/1=stays ");
  ASSERT_OK(table_->Flush());
  EXPECT_LT(engine_->GetStatistics().log_bytes, 1000u) << "it holds nothing of the log";
}

TEST_F(RecoveryTest, TruncatedCellsDoNotComeBack) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "flushed"));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(PutOne("b", 1, "logged"));
    ASSERT_OK(table_->Truncate());
    ASSERT_OK(PutOne("c", 1, "after"));
  });
  Open();
  EXPECT_EQ(Raw(), "c/f:q/1=after ");
}

TEST_F(RecoveryTest, TheCellsOfADroppedFamilyDoNotComeBackWithItsName) {
  schema_ = TableOf({FamilyOf("f"), FamilyOf("g")});
  const auto without = TableOf({FamilyOf("f")});
  const auto all = schema_;
  DieAfter([&] {
    ASSERT_OK(Write("a", {CellOf("q", 1, "f"), CellOf("q", 1, "g", CellType::kPut, "g")}));
    ASSERT_OK(table_->ReplaceSchema(without));
    ASSERT_OK(table_->ReplaceSchema(all));
    ASSERT_OK(Write("b", {CellOf("q", 1, "new", CellType::kPut, "g")}));
  });
  Open();
  EXPECT_EQ(Raw(), "a/f:q/1=f b/g:q/1=new ");
}

// The catalog has been told that the family goes, and the manifest has not.
TEST_F(RecoveryTest, NorDoTheyWhereTheDropWasCutShort) {
  const auto all = TableOf({FamilyOf("f"), FamilyOf("g")});
  schema_ = all;
  Open();
  ASSERT_OK(Write("a", {CellOf("q", 1, "f"), CellOf("q", 1, "g", CellType::kPut, "g")}));
  ASSERT_OK(table_->Flush());
  schema_ = TableOf({FamilyOf("f")});
  Reopen();
  EXPECT_EQ(Raw(), "a/f:q/1=f ");
  ASSERT_OK(table_->ReplaceSchema(all));
  EXPECT_EQ(Raw(), "a/f:q/1=f ");
  EXPECT_EQ(table_->GetStatistics().damage, "");
  schema_ = all;
  Reopen();
  EXPECT_EQ(Raw(), "a/f:q/1=f ");
  EXPECT_EQ(StoreFileNames().size(), 1u);
}

// A catalog from a backup does not know the families that were declared since.
TEST_F(RecoveryTest, AFamilyThatAnOlderCatalogDoesNotNameComesBackWithANewerOne) {
  const auto all = TableOf({FamilyOf("f"), FamilyOf("g")});
  schema_ = all;
  Open();
  ASSERT_OK(Write("a", {CellOf("q", 1, "f"), CellOf("q", 1, "g", CellType::kPut, "g")}));
  ASSERT_OK(table_->Flush());
  schema_ = TableOf({FamilyOf("f")});
  Reopen();
  EXPECT_EQ(Raw(), "a/f:q/1=f ");
  EXPECT_NE(table_->GetStatistics().damage.find("does not name family 'g'"), std::string::npos);
  ASSERT_OK(PutOne("b", 1, "later"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  Reopen();
  schema_ = all;
  Reopen();
  EXPECT_EQ(Raw(), "a/f:q/1=f a/g:q/1=g b/f:q/1=later ");
  EXPECT_EQ(table_->GetStatistics().damage, "");
}

TEST_F(RecoveryTest, NorIsItLostWhereTheLogAloneHasIt) {
  const auto all = TableOf({FamilyOf("f"), FamilyOf("g")});
  schema_ = all;
  DieAfter([&] {
    ASSERT_OK(Write("a", {CellOf("q", 1, "f"), CellOf("q", 1, "g", CellType::kPut, "g")}));
  });
  for (int time = 0; time < 2; ++time) {
    schema_ = TableOf({FamilyOf("f")});
    auto opened = LocalEngine::Open(path(), options_, files_);
    ASSERT_OK(opened);
    const auto tables = (*opened)->OpenTables({{1, schema_}}, kNextId);
    ASSERT_OK(tables);
    const std::string& why = tables->storages[0].status().message();
    EXPECT_NE(why.find("does not name family 'g'"), std::string::npos) << why;
  }
  schema_ = all;
  Open();
  EXPECT_EQ(Raw(), "a/f:q/1=f a/g:q/1=g ");
}

// Its sequence id must not be looked for in the store file once the log was cut.
TEST_F(RecoveryTest, AWriteThatTheLogRefusedLeavesATableWhole) {
  Open();
  ASSERT_OK(PutOne("a", 1, "stays"));
  ASSERT_OK(table_->Flush());
  auto other = engine_->CreateTable({2, schema_});
  ASSERT_OK(other);
  files_.SetRoom(0);
  EXPECT_EQ(PutOne("b", 1, "refused").code(), StatusCode::kStoreFull);
  files_.SetRoom(1 << 20);
  RowBatch batch{.row = "x", .cells = {CellOf("q", 1, "v")}};
  ASSERT_OK(Apply(**other, batch));
  ASSERT_OK((*other)->Flush());  // begins a segment
  for (int round = 0; round < 2; ++round) {
    (*other).reset();
    Close();
    other = OpenTwo();
    ASSERT_OK(other);
    EXPECT_EQ(Raw(), "a/f:q/1=stays ");
    EXPECT_LT(engine_->GetStatistics().log_bytes, 400u) << "the log is cut";
  }
}

TEST_F(RecoveryTest, ACopyTakenWhileTheStoreIsOpenIsAStoreToo) {
  Open();
  ASSERT_OK(PutOne("a", 1, "flushed"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("b", 1, "logged"));
  const std::string copy = directory_.path() + "/copy";
  std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
  ASSERT_OK(PutOne("c", 1, "later"));
  Close();
  auto engine = LocalEngine::Open(copy, options_);
  ASSERT_OK(engine);
  engine_ = *std::move(engine);
  auto tables = engine_->OpenTables({{1, schema_}}, kNextId);
  ASSERT_OK(tables);
  table_ = *tables->storages[0];
  EXPECT_EQ(Raw(), "a/f:q/1=flushed b/f:q/1=logged ");
}

// Also not the half record at the end of the log, which a recovery cuts off.
TEST_F(RecoveryTest, OpenedToBeReadAloneAStoreStaysAsItIs) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "flushed"));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(PutOne("b", 1, "logged"));
    ASSERT_OK(PutOne("c", 1, "cut short"));
  });
  std::filesystem::path newest;
  for (const auto& segment : std::filesystem::directory_iterator(path() + "/wal"))
    newest = std::max(newest, segment.path());
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 3);
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      const std::string name = entry.path().string();
      files[name] = entry.is_regular_file() ? *PosixFiles().Read(name) : "";
    }
    return files;
  };
  const auto before = contents();
  options_.read_only = true;
  auto engine = LocalEngine::Open(path(), options_, UnchangedFiles());
  ASSERT_OK(engine);
  engine_ = *std::move(engine);
  auto tables = engine_->OpenTables({{1, schema_}}, kNextId);
  ASSERT_OK(tables);
  table_ = *tables->storages[0];
  EXPECT_EQ(Raw(), "a/f:q/1=flushed b/f:q/1=logged ");
  EXPECT_EQ(PutOne("d", 1, "refused").code(), StatusCode::kReadOnly);
  EXPECT_EQ(table_->Flush().code(), StatusCode::kReadOnly);
  EXPECT_EQ(table_->Compact(CompactionKind::kMajor).code(), StatusCode::kReadOnly);
  EXPECT_EQ(engine_->CreateTable({2, schema_}).status().code(), StatusCode::kReadOnly);
  EXPECT_EQ(engine_->SaveCatalog("x").code(), StatusCode::kReadOnly);
  table_.reset();
  engine_.reset();
  EXPECT_EQ(contents(), before);
}

TEST_F(RecoveryTest, ACleanCloseLeavesAnEmptyLog) {
  Open();
  for (int i = 0; i < 100; ++i)
    ASSERT_OK(PutOne("r" + std::to_string(i), 1, std::string(1000, 'x')));
  const std::string before = Visible();
  EXPECT_GT(engine_->GetStatistics().log_bytes, 100000u);
  Reopen();
  EXPECT_LT(engine_->GetStatistics().log_bytes, 1000u);
  EXPECT_EQ(table_->GetStatistics().memstore_cells, 0u);
  EXPECT_EQ(StoreFileNames().size(), 1u);
  EXPECT_EQ(Visible(), before);
  EXPECT_EQ(engine_->GetStatistics().last_sequence_id, 100u);
}

TEST_F(RecoveryTest, FilesOfTablesThatTheCatalogDoesNotNameAreRemoved) {
  DieAfter([&] {
    ASSERT_OK(engine_->CreateTable({7, schema_}));
    EXPECT_TRUE(std::filesystem::exists(path() + "/tables/7"));
  });
  Open();
  EXPECT_FALSE(std::filesystem::exists(path() + "/tables/7"));
  EXPECT_TRUE(std::filesystem::exists(table_path()));
}

// What a flush or a compaction was making, or had replaced.
TEST_F(RecoveryTest, FilesThatTheManifestDoesNotNameAreRemoved) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "v"));
    ASSERT_OK(table_->Flush());
  });
  const std::vector<std::string> named = StoreFileNames();
  for (const char* name : {"/17.db", "/MANIFEST.new", "/2.db-journal"})
    std::filesystem::copy(table_path() + "/" + named.at(0), table_path() + name);
  Open();
  EXPECT_EQ(StoreFileNames(), named);
  EXPECT_EQ(Raw(), "a/f:q/1=v ");
  ASSERT_OK(PutOne("b", 1, "w"));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Raw(), "a/f:q/1=v b/f:q/1=w ");
}

// A number that a failed flush has used may lie in the directory still.
TEST_F(RecoveryTest, AFileOfTheNextNumberIsNotInTheWay) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "v"));
    ASSERT_OK(table_->Flush());
  });
  const uint64_t next = ReadManifestOfTable()->next_file;
  std::filesystem::copy(table_path() + "/" + StoreFileNames().at(0),
                        table_path() + "/" + StoreFileName(next));
  Open();
  ASSERT_OK(PutOne("b", 1, "w"));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Raw(), "a/f:q/1=v b/f:q/1=w ");
}

// As a disk does that cannot read a directory any more.
TEST_F(RecoveryTest, ADirectoryThatCannotBeReadIsOneTableLessAndNoMore) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "v"));
    ASSERT_OK(engine_->CreateTable({2, schema_}));
  });
  for (const bool is_table : {true, false}) {
    files_.SetUnreadable(path() + (is_table ? "/tables/2" : "/lost"));
    const auto other = OpenTwo();
    ASSERT_NE(table_, nullptr) << other.status().ToString();
    EXPECT_EQ(ValueOf("a"), "v");
    EXPECT_EQ(other.status().code(), is_table ? StatusCode::kIoError : StatusCode::kOk);
    Close();
  }
  files_.SetUnreadable("");
  ASSERT_OK(OpenTwo());
}

TEST_F(RecoveryTest, ATableThatCannotBeOpenedSaysWhyAndTheOthersWork) {
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "v"));
    ASSERT_OK(engine_->CreateTable({2, schema_}));
  });
  std::filesystem::resize_file(path() + "/tables/2/MANIFEST", 100);
  auto engine = LocalEngine::Open(path(), options_);
  ASSERT_OK(engine);
  engine_ = *std::move(engine);
  auto tables = engine_->OpenTables({{1, schema_}, {2, schema_}, {3, schema_}}, kNextId);
  ASSERT_OK(tables);
  ASSERT_OK(tables->storages[0]);
  EXPECT_EQ(tables->storages[1].status().code(), StatusCode::kCorruption)
      << tables->storages[1].status().ToString();
  EXPECT_FALSE(tables->storages[2].ok());  // it has no manifest
  table_ = *tables->storages[0];
  EXPECT_EQ(ValueOf("a"), "v");
}

// Writers of other tables would wait for memory that nobody can flush.
TEST_F(RecoveryTest, ATableThatIsTakenOutOrDroppedLeavesTheAccountOfMemory) {
  const std::string manifest = table_path() + "/MANIFEST";
  const std::string older = directory_.path() + "/older";
  DieAfter([&] {
    ASSERT_OK(PutOne("a", 1, "flushed"));
    ASSERT_OK(table_->Flush());
    std::filesystem::copy(manifest, older);
    ASSERT_OK(PutOne("b", 1, "flushed later"));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(PutOne("c", 1, std::string(100000, 'x')));
    EXPECT_GT(engine_->GetStatistics().memstore_bytes, 100000u);
  });
  std::filesystem::rename(older, manifest);
  auto engine = LocalEngine::Open(path(), options_);
  ASSERT_OK(engine);
  engine_ = *std::move(engine);
  auto tables = engine_->OpenTables({{1, schema_}}, kNextId);
  ASSERT_OK(tables);
  EXPECT_EQ(tables->storages[0].status().code(), StatusCode::kCorruption);
  EXPECT_EQ(engine_->GetStatistics().memstore_bytes, 0u);

  auto other = engine_->CreateTable({2, schema_});
  ASSERT_OK(other);
  table_ = *other;
  ASSERT_OK(PutOne("a", 1, std::string(1000, 'x')));
  EXPECT_GT(engine_->GetStatistics().memstore_bytes, 1000u);
  ASSERT_OK(engine_->DropTable(2));
  EXPECT_EQ(engine_->GetStatistics().memstore_bytes, 0u);
}

}  // namespace
}  // namespace cellfs
