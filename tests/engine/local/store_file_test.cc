// SPDX-License-Identifier: MIT
#include "engine/local/store_file.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include "engine/visibility/vector_cursor.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

constexpr int32_t kInlineLimit = 256;
constexpr StoreFileOwner kOwner{.store_id = 7, .table = 1};

class StoreFileTest : public testing::Test {
 protected:
  void Open(const std::vector<std::string>& families,
            Database::Mode mode = Database::Mode::kCreate) {
    file_.reset();
    auto opened = StoreFile::Open(path_, mode, kOwner, families, budget_);
    ASSERT_OK(opened);
    file_ = *std::move(opened);
  }
  void Store(const FamilySchema& family, const std::vector<Cell>& cells) {
    auto writer = StoreFileWriter::Begin(*file_, kInlineLimit);
    ASSERT_OK(writer);
    for (const Cell& cell : cells) ASSERT_OK((*writer)->Put(family, ViewOf(cell)));
    ASSERT_OK((*writer)->Commit());
    file_->Published();
  }
  // Null with the status where it ends with an error.
  StatusOr<std::vector<Cell>> ReadAll(const std::string& family, bool lengths_only = false) {
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Snapshot snapshot, file_->OpenSnapshot());
    return ReadAll(snapshot, family, lengths_only);
  }
  static StatusOr<std::vector<Cell>> ReadAll(StoreFile::Snapshot& snapshot,
                                             const std::string& family, bool lengths_only = false) {
    std::vector<Cell> cells;
    CELLFS_ASSIGN_OR_RETURN(auto cursor, snapshot.OpenCursor(family, kMaxSequenceId, lengths_only));
    if (cursor == nullptr) return cells;
    CELLFS_RETURN_IF_ERROR(cursor->Seek({}));
    while (cursor->valid()) {
      CELLFS_RETURN_IF_ERROR(cursor->LoadValue());
      cells.push_back(CopyOf(cursor->cell()));
      CELLFS_RETURN_IF_ERROR(cursor->Next());
    }
    return cells;
  }
  static Cell Make(std::string row, std::string qualifier, Timestamp timestamp, SequenceId sequence,
                   std::string value, CellType type = CellType::kPut) {
    const uint64_t length = value.size();
    return {.row = std::move(row),
            .qualifier = std::move(qualifier),
            .timestamp = timestamp,
            .type = type,
            .sequence_id = sequence,
            .value = std::move(value),
            .value_length = length};
  }
  // That do not compress.
  static std::string RandomBytes(size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }
  void Damage(const std::string& sql) {
    ASSERT_OK(file_->writer().Execute(sql));
    file_->Published();
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/1.db";
  CacheBudget budget_{1 << 20};
  std::shared_ptr<StoreFile> file_;
};

std::vector<Cell> InOrder(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; });
  return cells;
}

TEST_F(StoreFileTest, CellsComeBackExactWhateverTheirBytesAndCompression) {
  std::mt19937 random(7);
  for (const char* compression : {"NONE", "ZSTD", "LZ4", "SNAPPY"}) {
    const std::string name = std::string("f") + compression[0];
    Open({name});
    std::vector<Cell> cells;
    for (const size_t length : {0, 1, 31, 256, 257, 5000, 300000}) {
      std::string noise(length, '\0');
      for (char& c : noise) c = static_cast<char>(random());
      cells.push_back(Make(std::string("r\0\xff", 3), std::to_string(length), 5, 9, noise));
      cells.push_back(Make("s", "", static_cast<Timestamp>(length), 9, std::string(length, 'x')));
      cells.back().time_to_live = static_cast<int64_t>(length);
    }
    cells.push_back(Make("t", std::string(1, '\0'), kLatestTimestamp - 1, kMaxSequenceId, "",
                         CellType::kDeleteColumn));
    Store(FamilyOf(name, {{"COMPRESSION", compression}}), cells);
    auto read = ReadAll(name);
    ASSERT_OK(read);
    EXPECT_EQ(*read, InOrder(cells)) << compression;
  }
}

TEST_F(StoreFileTest, ALongValueIsHandedOverAndComesAgainWhenItIsAskedForAgain) {
  for (const char* compression : {"NONE", "ZSTD"}) {
    const std::string name = std::string("f") + compression[0];
    Open({name});
    const std::vector<Cell> cells = {Make("r", "a", 1, 1, std::string(1000000, 'x')),
                                     Make("r", "b", 1, 1, "short")};
    Store(FamilyOf(name, {{"COMPRESSION", compression}}), cells);
    auto snapshot = file_->OpenSnapshot();
    ASSERT_OK(snapshot);
    auto cursor = snapshot->OpenCursor(name, kMaxSequenceId, /*lengths_only=*/false);
    ASSERT_OK(cursor);
    ASSERT_OK((*cursor)->Seek({}));
    for (const Cell& cell : cells) {
      for (int i = 0; i < 2; ++i) {
        ASSERT_OK((*cursor)->LoadValue());
        std::string value = "before";
        (*cursor)->TakeValue(&value);
        EXPECT_EQ(value, cell.value) << compression;
      }
      ASSERT_OK((*cursor)->Next());
    }
  }
}

TEST_F(StoreFileTest, ADamagedLongValueIsFoundAndNotServed) {
  Open({"f"});
  Store(FamilyOf("f"), {Make("r", "q", 1, 1, std::string(1000000, 'x'))});
  Damage("UPDATE " + QuotedName(ValueTableName("f")) + " SET V = zeroblob(1) || substr(V, 2)");
  EXPECT_EQ(ReadAll("f").status().code(), StatusCode::kCorruption);
  Damage("DELETE FROM " + QuotedName(ValueTableName("f")));
  EXPECT_EQ(ReadAll("f").status().code(), StatusCode::kCorruption);
}

TEST_F(StoreFileTest, CompressibleValuesTakeLessRoom) {
  Open({"p", "z"});
  const std::vector<Cell> cells = {Make("r", "q", 1, 1, std::string(1000000, 'x'))};
  Store(FamilyOf("z", {{"COMPRESSION", "ZSTD"}}), cells);
  EXPECT_LT(file_->bytes(), 20000u);
  Store(FamilyOf("p"), cells);
  EXPECT_GT(file_->bytes(), 1000000u);
}

TEST_F(StoreFileTest, ACheckpointEmptiesTheWalThoughIdleReadersStandInIt) {
  Open({"f"});
  Store(FamilyOf("f"), {Make("r", "q", 1, 1, "v")});
  ASSERT_OK(ReadAll("f"));
  EXPECT_GT(std::filesystem::file_size(path_ + "-wal"), 0u);
  ASSERT_OK(file_->Checkpoint());
  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), 0u);
  {
    auto snapshot = file_->OpenSnapshot();
    ASSERT_OK(snapshot);
    Store(FamilyOf("f"), {Make("r", "q", 2, 2, "w")});
    EXPECT_EQ(file_->Checkpoint().code(), StatusCode::kUnavailable) << "somebody reads there";
    EXPECT_EQ(ReadAll(*snapshot, "f")->size(), 1u);
  }
  ASSERT_OK(file_->Checkpoint());
  EXPECT_EQ(ReadAll("f")->size(), 2u);
}

TEST_F(StoreFileTest, FamiliesWithOddNamesAreKeptApart) {
  const std::vector<std::string> names = {"a",    "A",    "a$values", "a\"b", "a;b",
                                          "a%41", "\xff", "a_b",      "a'b"};
  Open(names);
  for (const std::string& name : names) Store(FamilyOf(name), {Make("r", "q", 1, 1, name)});
  Open(names);
  for (const std::string& name : names) {
    auto read = ReadAll(name);
    ASSERT_OK(read);
    ASSERT_EQ(read->size(), 1u) << name;
    EXPECT_EQ((*read)[0].value, name);
  }
}

TEST_F(StoreFileTest, FamiliesThatAreNotNamedLoseTheirCells) {
  Open({"a", "b"});
  Store(FamilyOf("a"), {Make("r", "q", 1, 1, std::string(1000, 'a'))});
  Store(FamilyOf("b"), {Make("r", "q", 1, 1, "b")});
  Open({"b", "c"});
  EXPECT_EQ(ReadAll("a").status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(ReadAll("b")->size(), 1u);
  Open({"a", "b"});
  EXPECT_EQ(ReadAll("a")->size(), 0u);
}

TEST_F(StoreFileTest, ADamagedCellIsFoundAndNotServed) {
  const std::string cells = QuotedName(CellTableName("f"));
  const std::string values = QuotedName(ValueTableName("f"));
  for (const std::string& damage :
       {"UPDATE " + cells + " SET V = 'short valuf' WHERE R IS NULL",
        "UPDATE " + cells + " SET L = L + 1 WHERE R IS NULL", "UPDATE " + cells + " SET T = T - 1",
        "UPDATE " + cells + " SET K = x'73'", "UPDATE " + cells + " SET X = 5",
        "UPDATE " + cells + " SET Y = -8", "UPDATE " + cells + " SET S = S - 1",
        "UPDATE " + values + " SET V = zeroblob(1000)", "DELETE FROM " + values}) {
    StoreFile::Remove(path_);
    Open({"f"});
    Store(FamilyOf("f"),
          {Make("r", "q", 5, 1, "short value"), Make("r", "r", 5, 1, std::string(1000, 'x'))});
    ASSERT_OK(ReadAll("f"));
    Damage(damage);
    const auto read = ReadAll("f");
    EXPECT_EQ(read.status().code(), StatusCode::kCorruption) << damage;
    EXPECT_NE(read.status().message().find(path_), std::string::npos);
  }
}

TEST_F(StoreFileTest, LengthsAloneDoNotTouchTheValueTable) {
  Open({"f"});
  Store(FamilyOf("f"), {Make("r", "q", 5, 1, std::string(1000, 'x'))});
  Damage("DELETE FROM " + QuotedName(ValueTableName("f")));
  auto read = ReadAll("f", true);
  ASSERT_OK(read);
  EXPECT_EQ((*read)[0].value, "");
  EXPECT_EQ((*read)[0].value_length, 1000u);
}

TEST_F(StoreFileTest, ASnapshotKeepsItsStateAndTheNextOneHasTheNew) {
  Open({"f"});
  auto empty = file_->OpenSnapshot();
  Store(FamilyOf("f"), {Make("r", "a", 5, 1, "1")});
  auto first = file_->OpenSnapshot();
  Store(FamilyOf("f"), {Make("r", "b", 5, 2, "2")});
  auto second = file_->OpenSnapshot();
  EXPECT_EQ(ReadAll(*empty, "f")->size(), 0u);
  EXPECT_EQ(ReadAll(*first, "f")->size(), 1u);
  EXPECT_EQ(ReadAll(*second, "f")->size(), 2u);
  EXPECT_LT(first->generation(), second->generation());
}

TEST_F(StoreFileTest, FactsAndTheGenerationOfAnIdleReaderFollowACommit) {
  Open({"f"});
  for (SequenceId flushed : {3, 8}) {
    auto writer = StoreFileWriter::Begin(*file_, kInlineLimit);
    (*writer)->facts().flushed = flushed;
    ASSERT_OK((*writer)->Put(FamilyOf("f"), ViewOf(Make("r", "q", 1, flushed, "v"))));
    ASSERT_OK((*writer)->Commit());
    const uint64_t generation = file_->Published();
    auto snapshot = file_->OpenSnapshot();
    EXPECT_EQ(snapshot->flushed(), flushed);
    EXPECT_EQ(snapshot->generation(), generation);
  }
  Open({"f"}, Database::Mode::kOpen);
  EXPECT_EQ(file_->facts().flushed, 8u);
  EXPECT_EQ(file_->facts().cells, 2);
}

TEST_F(StoreFileTest, EraseTakesTheSequenceIdsAskedForAndTheirValues) {
  Open({"f"});
  const std::string value(1000, 'x');
  Store(FamilyOf("f"), {Make("r", "q", 5, 1, value), Make("r", "q", 5, 2, value),
                        Make("r", "q", 5, 3, value), Make("r", "q", 6, 1, value)});
  auto writer = StoreFileWriter::Begin(*file_, kInlineLimit);
  ASSERT_OK((*writer)->Erase("f", ViewOf(Make("r", "q", 5, 0, "")), 0, 2));
  ASSERT_OK((*writer)->Commit());
  file_->Published();
  auto left = ReadAll("f");
  ASSERT_OK(left);
  ASSERT_EQ(left->size(), 2u);
  EXPECT_EQ((*left)[0].timestamp, 6);
  EXPECT_EQ((*left)[1].sequence_id, 3u);
  EXPECT_EQ(
      *file_->writer().QueryInteger("SELECT count(*) FROM " + QuotedName(ValueTableName("f"))), 2);
}

TEST_F(StoreFileTest, AFileThatShrinksKeepsItsCellsAndAnOpenSnapshotItsState) {
  Open({"f"});
  std::vector<Cell> cells;
  for (int i = 0; i < 200; ++i) {
    cells.push_back(Make("r" + std::to_string(100 + i % 2), std::to_string(1000 + i), 5, 1,
                         RandomBytes(20000, i)));
  }
  Store(FamilyOf("f"), cells);
  ASSERT_OK(file_->Checkpoint());
  const auto all = std::filesystem::file_size(path_);
  auto writer = StoreFileWriter::Begin(*file_, kInlineLimit);
  for (const Cell& cell : cells) {
    if (cell.row == "r100") ASSERT_OK((*writer)->Erase("f", ViewOf(cell), 0, 1));
  }
  auto before = file_->OpenSnapshot();
  ASSERT_OK((*writer)->Commit());
  file_->Published();
  writer->reset();

  ASSERT_OK(file_->Shrink(all));  // less than that is free
  EXPECT_GT(*file_->writer().QueryInteger("PRAGMA freelist_count"), 400);
  ASSERT_OK(file_->Shrink());
  EXPECT_EQ(ReadAll(*before, "f")->size(), 200u);
  { const StoreFile::Snapshot done = *std::move(before); }
  ASSERT_OK(file_->Checkpoint());
  EXPECT_LT(std::filesystem::file_size(path_), all * 6 / 10);
  EXPECT_EQ(*file_->writer().QueryInteger("PRAGMA freelist_count"), 0);
  std::erase_if(cells, [](const Cell& cell) { return cell.row == "r100"; });
  const auto left = ReadAll("f");
  ASSERT_EQ(left->size(), cells.size());
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_EQ((*left)[i].value, cells[i].value);
}

TEST_F(StoreFileTest, NoOtherCommitShrinksAFile) {
  Open({"f"});
  ASSERT_OK(file_->writer().Execute("PRAGMA auto_vacuum = FULL"));  // as a crash may leave it
  Open({"f"}, Database::Mode::kOpen);
  const Cell cell = Make("r", "q", 5, 1, RandomBytes(100000, 1));
  Store(FamilyOf("f"), {cell});
  auto writer = StoreFileWriter::Begin(*file_, kInlineLimit);
  ASSERT_OK((*writer)->Erase("f", ViewOf(cell), 0, 1));
  ASSERT_OK((*writer)->Commit());
  EXPECT_GT(*file_->writer().QueryInteger("PRAGMA freelist_count"), 20);
  writer->reset();
  ASSERT_OK(file_->Shrink());
  Store(FamilyOf("f"), {cell});
  EXPECT_EQ(*file_->writer().QueryInteger("PRAGMA auto_vacuum"), 2);
}

TEST_F(StoreFileTest, AnotherFormatOrAnotherFileIsCorruption) {
  Open({"f"});
  ASSERT_OK(file_->writer().Execute("PRAGMA user_version = 2"));
  file_.reset();
  EXPECT_EQ(StoreFile::Open(path_, Database::Mode::kOpen, kOwner, {"f"}, budget_).status().code(),
            StatusCode::kCorruption);
  auto other = Database::Open(directory_.path() + "/2.db", Database::Mode::kCreate);
  ASSERT_OK((*other)->Execute("CREATE TABLE t(x)"));
  EXPECT_EQ(
      StoreFile::Open(directory_.path() + "/2.db", Database::Mode::kOpen, kOwner, {"f"}, budget_)
          .status()
          .code(),
      StatusCode::kCorruption);
}

// Against a cursor over a sorted vector.
TEST_F(StoreFileTest, ACursorMovesAsOneOverASortedVectorDoes) {
  std::mt19937 random(20261121);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto letter = [&](int n) { return std::string(1, static_cast<char>('a' + below(n))); };
  Open({"f"});
  std::vector<Cell> cells;
  for (SequenceId sequence = 1; sequence <= 300; ++sequence) {
    const auto type = below(4) == 0 ? CellType::kDeleteColumn : CellType::kPut;
    cells.push_back(Make(letter(8), below(4) == 0 ? "" : letter(5), below(6), sequence,
                         std::string(static_cast<size_t>(below(400)), 'v'), type));
  }
  Store(FamilyOf("f"), cells);
  for (const SequenceId read_point : {SequenceId{300}, SequenceId{40}, SequenceId{3}}) {
    std::vector<Cell> seen;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(seen),
                 [&](const Cell& cell) { return cell.sequence_id <= read_point; });
    const auto expected =
        MakeVectorCursor(std::make_shared<const std::vector<Cell>>(InOrder(seen)));
    auto snapshot = file_->OpenSnapshot();
    auto cursor = snapshot->OpenCursor("f", read_point, false);
    ASSERT_OK(cursor);
    for (int step = 0; step < 4000; ++step) {
      if ((*cursor)->valid() && below(3) != 0) {
        ASSERT_OK((*cursor)->Next());
        ASSERT_OK(expected->Next());
      } else if (below(4) == 0) {
        const std::string row = below(5) == 0 ? "" : letter(9);
        ASSERT_OK((*cursor)->SeekToRowBefore(row));
        ASSERT_OK(expected->SeekToRowBefore(row));
      } else {
        const std::string row = letter(9), qualifier = below(3) == 0 ? "" : letter(6);
        const CellPlace place{row, qualifier, below(3) == 0 ? kLatestTimestamp : below(7)};
        ASSERT_OK((*cursor)->Seek(place));
        ASSERT_OK(expected->Seek(place));
      }
      ASSERT_EQ((*cursor)->valid(), expected->valid()) << step;
      if (expected->valid()) {
        ASSERT_OK((*cursor)->LoadValue());
        ASSERT_EQ(CopyOf((*cursor)->cell()), CopyOf(expected->cell())) << step;
      }
    }
  }
}

}  // namespace
}  // namespace cellfs
