// SPDX-License-Identifier: MIT
#include "engine/file/store_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/file/page_checksums.h"
#include "engine/file/store_file_builder.h"
#include "engine/file/store_file_cursor.h"
#include "engine/file/stored_facts.h"
#include "engine/visibility/vector_cursor.h"
#include "tests/support/assert_ok.h"
#include "tests/support/descriptors.h"
#include "tests/support/family_of.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr int32_t kInlineLimit = 256;
constexpr uint64_t kStore = 7;
constexpr TableId kTableId = 1;

std::vector<Cell> InOrder(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; });
  return cells;
}

class StoreFileTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<StoreFileBuilder>> Begin(const FamilySchema& family, size_t cells = 1000,
                                                    FileLayer& files = PosixFiles()) {
    return StoreFileBuilder::Begin(files, folder_, family,
                                   {.number = next_number_++,
                                    .inline_value_limit = kInlineLimit,
                                    .cells_at_most = static_cast<int64_t>(cells),
                                    .written = 77});
  }
  // The next file, of these cells in their order.
  void Store(const FamilySchema& family, const std::vector<Cell>& cells) {
    auto builder = Begin(family, cells.size());
    ASSERT_OK(builder);
    SequenceId highest = 0;
    for (const Cell& cell : InOrder(cells)) {
      ASSERT_OK((*builder)->Put(ViewOf(cell)));
      highest = std::max(highest, cell.sequence_id);
    }
    auto facts = (*builder)->Finish(1, highest);
    ASSERT_OK(facts);
    ASSERT_TRUE(facts->has_value());
    facts_ = **facts;
    const auto stored = ReadStoredFacts(folder_->path + "/" + StoreFileName(facts_.number));
    ASSERT_OK(stored);
    EXPECT_EQ(stored->facts, facts_) << "a lost manifest can be made anew from them";
    Open();
  }
  // As a store that was opened anew: nothing of it is in memory.
  void Open() {
    file_.reset();
    cache_ = std::make_unique<FileCache>(1 << 20, 4);
    file_ = std::make_shared<StoreFile>(folder_, facts_, *cache_);
  }
  StatusOr<std::unique_ptr<CellCursor>> OpenCursor(SequenceId read_point = kMaxSequenceId,
                                                   bool lengths_only = false) {
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file_->Open());
    return std::unique_ptr<CellCursor>(std::make_unique<StoreFileCursor>(
        std::move(lease), CellSet::kShown, read_point, lengths_only));
  }
  // Ends with the first error.
  StatusOr<std::vector<Cell>> ReadAll(bool lengths_only = false) {
    std::vector<Cell> cells;
    CELLFS_ASSIGN_OR_RETURN(auto cursor, OpenCursor(kMaxSequenceId, lengths_only));
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
  static Cell Withdrawal(std::string row, std::string qualifier, Timestamp timestamp,
                         SequenceId sequence, CellType withdrawn) {
    return Make(std::move(row), std::move(qualifier), timestamp, sequence,
                std::string(1, static_cast<char>(withdrawn)), kWithdrawMarker);
  }
  // With page checksums that match, so that only those of cells and values can tell.
  void Damage(const std::string& sql) {
    {
      sqlite3* connection = nullptr;
      ASSERT_EQ(sqlite3_open_v2(file_->path().c_str(), &connection, SQLITE_OPEN_READWRITE,
                                ChecksummedVfs()),
                SQLITE_OK);
      const int done = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
      EXPECT_EQ(done, SQLITE_OK) << sqlite3_errmsg(connection);
      sqlite3_close(connection);
    }
    Open();
  }
  std::string Bytes() const {
    std::ostringstream bytes;
    bytes << std::ifstream(file_->path(), std::ios::binary).rdbuf();
    return bytes.str();
  }
  void Write(const std::string& bytes) const {
    std::ofstream(file_->path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  // So that its page no longer matches its checksum: the first one of a table or an index.
  void FlipPageOf(const std::string& name) {
    int64_t page = 0;
    {
      auto lease = file_->Open();
      ASSERT_OK(lease);
      page = *lease->reader().database().QueryInteger(
          "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
    }
    std::string bytes = Bytes();
    bytes.at(static_cast<size_t>(page * kDatabasePageSize - 100)) ^= 0x10;
    Write(bytes);
    Open();
  }
  // "row:qualifier/timestamp " of each.
  static std::string PlacesOf(CellCursor& cursor) {
    std::string places;
    Status status = cursor.Seek({});
    for (; status.ok() && cursor.valid(); status = cursor.Next()) {
      const CellView& cell = cursor.cell();
      places += std::string(cell.row) + ":" + std::string(cell.qualifier) + "/" +
                std::to_string(cell.timestamp) + " ";
    }
    return places + status.ToString();
  }
  std::vector<std::string> Names() const { return *PosixFiles().List(directory_.path()); }

  TemporaryDirectory directory_;
  const std::shared_ptr<TableFolder> folder_ =
      std::make_shared<TableFolder>(TableFolder{directory_.path(), kStore, kTableId});
  uint64_t next_number_ = 1;
  FileFacts facts_;
  std::unique_ptr<FileCache> cache_;
  std::shared_ptr<StoreFile> file_;
};

TEST_F(StoreFileTest, CellsComeBackExactWhateverTheirBytesAndCompression) {
  std::mt19937 random(7);
  for (const char* compression : {"NONE", "ZSTD", "LZ4", "SNAPPY"}) {
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
    cells.push_back(Withdrawal("u", "q", 5, 9, CellType::kDeleteFamily));
    cells.push_back(Withdrawal("u", "q", 5, 9, CellType::kPut));  // by the same mutation
    Store(FamilyOf("f", {{"COMPRESSION", compression}}), cells);
    auto read = ReadAll();
    ASSERT_OK(read);
    std::vector<Cell> expected = InOrder(cells);
    std::swap(*(expected.end() - 2), *(expected.end() - 1));
    const auto last_two_swapped = expected;
    std::swap(*(expected.end() - 2), *(expected.end() - 1));
    EXPECT_TRUE(*read == expected || *read == last_two_swapped) << compression;
  }
}

TEST_F(StoreFileTest, ALongValueIsHandedOverAndComesAgainWhenItIsAskedForAgain) {
  for (const char* compression : {"NONE", "ZSTD"}) {
    const std::vector<Cell> cells = {Make("r", "a", 1, 1, std::string(1000000, 'x')),
                                     Make("r", "b", 1, 1, "short")};
    Store(FamilyOf("f", {{"COMPRESSION", compression}}), cells);
    auto cursor = OpenCursor();
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

TEST_F(StoreFileTest, CompressibleValuesTakeLessRoom) {
  const std::vector<Cell> cells = {Make("r", "q", 1, 1, std::string(1000000, 'x'))};
  Store(FamilyOf("z", {{"COMPRESSION", "ZSTD"}}), cells);
  EXPECT_LT(facts_.bytes, 20000u);
  Store(FamilyOf("p"), cells);
  EXPECT_GT(facts_.bytes, 1000000u);
  EXPECT_LT(facts_.bytes, 1050000u);
}

TEST_F(StoreFileTest, FactsTellWhatIsThere) {
  Store(FamilyOf("f", {{"VERSIONS", "2"}}),
        {Make("b", "q", 30, 3, "v"), Make("b", "q", 20, 2, "v"), Make("b", "q", 15, 4, "v"),
         Make("c", "q", 10, 5, "", CellType::kDeleteColumn),
         Make("d", "", 12, 5, "", CellType::kDeleteFamily),
         Make("d", "", 13, 5, "", CellType::kDeleteFamilyVersion),
         Withdrawal("e", "q", 40, 6, CellType::kPut)});
  const FileFacts expected{.number = 1,
                           .family = "f",
                           .first_row = "b",
                           .last_row = "e",
                           .oldest = 10,
                           .newest = 40,
                           .oldest_put = 15,
                           .lowest = 1,
                           .highest = 6,
                           .cells = 7,
                           .tombstones = 3,
                           .family_tombstones = 2,
                           .withdrawals = 1,
                           .surplus = 1,
                           .bytes = facts_.bytes,
                           .written = 77,
                           .filter_blocks = 1,
                           .room = facts_.room};
  EXPECT_EQ(facts_, expected);
  // The shell of SQLite shows them too.
  auto database = Database::OpenImmutable(file_->path(), cache_->blocks, cache_->blocks.NewOwner());
  ASSERT_OK(database);
  for (const auto& [name, value] : std::map<std::string, int64_t>{{"store", kStore},
                                                                  {"table", kTableId},
                                                                  {"number", 1},
                                                                  {"oldest", 10},
                                                                  {"newest", 40},
                                                                  {"oldest_put", 15},
                                                                  {"lowest", 1},
                                                                  {"highest", 6},
                                                                  {"cells", 7},
                                                                  {"tombstones", 3},
                                                                  {"family_tombstones", 2},
                                                                  {"withdrawals", 1},
                                                                  {"surplus", 1},
                                                                  {"written", 77}}) {
    auto stored = (*database)->QueryInteger("SELECT value FROM facts WHERE name='" + name + "'");
    ASSERT_OK(stored);
    EXPECT_EQ(*stored, value) << name;
  }
}

TEST_F(StoreFileTest, ADamagedLongValueIsFoundAndNotServed) {
  Store(FamilyOf("f"), {Make("r", "q", 1, 1, std::string(1000000, 'x'))});
  Damage("UPDATE long_values SET V = substr(V, 2)");
  EXPECT_EQ(ReadAll().status().code(), StatusCode::kCorruption);
  Damage("DELETE FROM long_values");
  EXPECT_EQ(ReadAll().status().code(), StatusCode::kCorruption);
}

TEST_F(StoreFileTest, ADamagedCellIsFoundAndNotServed) {
  for (const std::string damage :
       {"UPDATE cells SET V = 5 WHERE R IS NULL", "UPDATE cells SET L = 12 WHERE R IS NULL",
        "UPDATE cells SET L = L + 1 WHERE R IS NOT NULL", "UPDATE cells SET K = 'text'",
        "UPDATE cells SET S = 1.5", "UPDATE cells SET Z = 1", "UPDATE cells SET R = 99",
        "UPDATE long_values SET V = zeroblob(999)", "DELETE FROM long_values"}) {
    Store(FamilyOf("f"),
          {Make("r", "q", 5, 1, "short value"), Make("r", "r", 5, 1, std::string(1000, 'x'))});
    ASSERT_OK(ReadAll());
    Damage(damage);
    const auto read = ReadAll();
    EXPECT_EQ(read.status().code(), StatusCode::kCorruption) << damage;
    EXPECT_NE(read.status().message().find(file_->path()), std::string::npos);
  }
}

TEST_F(StoreFileTest, LengthsAloneDoNotTouchTheLongValues) {
  Store(FamilyOf("f"), {Make("r", "q", 5, 1, std::string(1000, 'x'))});
  Damage("DELETE FROM long_values");
  auto read = ReadAll(true);
  ASSERT_OK(read);
  EXPECT_EQ((*read)[0].value, "");
  EXPECT_EQ((*read)[0].value_length, 1000u);
}

TEST_F(StoreFileTest, WithdrawalsAreReadAlone) {
  Store(FamilyOf("f"), {Make("a", "q", 5, 1, "v"), Withdrawal("b", "q", 9, 4, CellType::kPut),
                        Withdrawal("b", "q", 5, 3, CellType::kDelete), Make("b", "q", 5, 1, "v"),
                        Make("b", "r", 5, 1, "", CellType::kDeleteColumn),
                        Withdrawal("c", "", 5, 2, CellType::kDeleteFamily)});
  auto lease = file_->Open();
  ASSERT_OK(lease);
  const auto cursor = OpenWithdrawals(*std::move(lease));
  ASSERT_OK(cursor->Seek({}));
  std::string text;
  for (; cursor->valid();) {
    const CellView& cell = cursor->cell();
    text += std::string(cell.row) + ":" + std::string(cell.qualifier) + "/" +
            std::to_string(cell.timestamp) + "/" + std::to_string(cell.sequence_id) + "/" +
            std::string(TypeName(static_cast<CellType>(static_cast<uint8_t>(cell.value[0])))) + " ";
    EXPECT_EQ(cell.type, kWithdrawMarker);
    ASSERT_OK(cursor->Next());
  }
  EXPECT_EQ(text, "b:q/9/4/Put b:q/5/3/Delete c:/5/2/DeleteFamily ");
}

// ---- Making it ----------------------------------------------------------------------------------

TEST_F(StoreFileTest, WhatIsNotFinishedLeavesNoFile) {
  {
    auto builder = Begin(FamilyOf("f"));
    ASSERT_OK(builder);
    ASSERT_OK((*builder)->Put(ViewOf(Make("r", "q", 1, 1, "v"))));
    EXPECT_EQ(Names().size(), 1u);
  }
  EXPECT_TRUE(Names().empty());
  {
    auto builder = Begin(FamilyOf("f"));
    ASSERT_OK(builder);
    const auto facts = (*builder)->Finish(1, 1);
    ASSERT_OK(facts);
    EXPECT_FALSE(facts->has_value()) << "there were no cells";
  }
  EXPECT_TRUE(Names().empty());
  FaultyFiles files;
  for (const int n : {1, 2}) {  // to open it, to sync it
    auto builder = Begin(FamilyOf("f"), 1, files);
    ASSERT_OK(builder);
    ASSERT_OK((*builder)->Put(ViewOf(Make("r", "q", 1, 1, "v"))));
    files.FailNth(n);
    EXPECT_EQ((*builder)->Finish(1, 1).status().code(), StatusCode::kIoError);
    EXPECT_TRUE(Names().empty());
  }
}

TEST_F(StoreFileTest, AFileIsSyncedWhenItIsFinished) {
  FaultyFiles files;
  auto builder = Begin(FamilyOf("f"), 1, files);
  ASSERT_OK(builder);
  ASSERT_OK((*builder)->Put(ViewOf(Make("r", "q", 1, 1, std::string(9000, 'v')))));
  const auto facts = (*builder)->Finish(1, 1);
  ASSERT_OK(facts);
  facts_ = **facts;
  Open();
  const std::string whole = Bytes();
  files.LosePower();
  EXPECT_EQ(Bytes(), whole);
  EXPECT_EQ(ReadAll()->size(), 1u);
}

TEST_F(StoreFileTest, NobodyElseMayReadItAndNothingIsOverwritten) {
  const mode_t before = umask(0);
  Store(FamilyOf("f"), {Make("r", "q", 1, 1, "v")});
  umask(before);
  struct stat found {};
  ASSERT_EQ(stat(file_->path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  const std::string whole = Bytes();
  next_number_ = 1;
  EXPECT_EQ(Begin(FamilyOf("f")).status().code(), StatusCode::kIoError);
  EXPECT_EQ(Bytes(), whole);
  std::filesystem::create_symlink(file_->path(), directory_.path() + "/2.db");
  EXPECT_FALSE(Begin(FamilyOf("f")).ok());
  EXPECT_EQ(Bytes(), whole);
}

// ---- Whose it is --------------------------------------------------------------------------------

TEST_F(StoreFileTest, WhatIsNotRefusedCanBeStored) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &connection), SQLITE_OK);
  const int most = sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, -1);
  sqlite3_close(connection);
  EXPECT_LE(StoreFileBuilder::kMostBytesOfCell + 1000, static_cast<uint64_t>(most));
}

TEST_F(StoreFileTest, ReadsChangeNothing) {
  std::vector<Cell> cells;
  for (int i = 0; i < 500; ++i)
    cells.push_back(Make("r" + std::to_string(i), "q", 1, 1, std::string(i * 10, 'v')));
  Store(FamilyOf("f"), cells);
  const std::string before = Bytes();
  ASSERT_EQ(chmod(file_->path().c_str(), 0400), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0500), 0);
  EXPECT_EQ(ReadAll()->size(), 500u);
  ASSERT_OK(file_->MayHold("r7", nullptr));
  Open();
  EXPECT_EQ(Bytes(), before);
  EXPECT_EQ(Names(), std::vector<std::string>{"1.db"});
  ASSERT_EQ(chmod(directory_.path().c_str(), 0700), 0);
}

TEST_F(StoreFileTest, AnotherFormatOrAnotherFileIsCorruption) {
  const auto expect_refusal = [&](const std::string& words) {
    const Status status = file_->Open().status();
    EXPECT_EQ(status.code(), StatusCode::kCorruption);
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(file_->path()), std::string::npos) << status.message();
  };
  Store(FamilyOf("f"), {Make("r", "q", 1, 5, "v")});
  Damage("PRAGMA user_version = 1");
  expect_refusal("format 1 is not known");
  Damage("PRAGMA user_version = 2; PRAGMA application_id = 1");
  expect_refusal("not a store file");

  Store(FamilyOf("f"), {Make("r", "q", 1, 5, "v")});
  const FileFacts right = facts_;
  facts_.highest = 6;
  Open();
  expect_refusal("not the file that the manifest names");
  facts_ = right;
  std::filesystem::copy(file_->path(), directory_.path() + "/3.db");
  facts_.number = 3;
  Open();
  expect_refusal("not the file that the manifest names");

  facts_ = right;
  const auto open_as = [&](uint64_t store, TableId table) {
    file_ = std::make_shared<StoreFile>(
        std::make_shared<TableFolder>(TableFolder{directory_.path(), store, table}), facts_,
        *cache_);
  };
  open_as(kStore + 1, kTableId);
  expect_refusal("another store");
  open_as(kStore, kTableId + 1);
  expect_refusal("table 1");
  open_as(kStore, kTableId);
  ASSERT_OK(file_->Open());
}

TEST_F(StoreFileTest, ALinkIsRefused) {
  Store(FamilyOf("f"), {Make("r", "q", 1, 5, "v")});
  std::filesystem::rename(file_->path(), directory_.path() + "/outside");
  std::filesystem::create_symlink(directory_.path() + "/outside", file_->path());
  const Status status = file_->Open().status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("symbolic link"), std::string::npos) << status.message();
}

// Of every page, wherever in it; and of a file that is shorter than it was.
TEST_F(StoreFileTest, AFlippedByteIsFoundAndNothingElseIsServed) {
  std::vector<Cell> cells;
  for (int i = 0; i < 200; ++i)
    cells.push_back(Make("row" + std::to_string(1000 + i), "q", 5, 1,
                         std::string(i % 3 == 0 ? 5000 : 200, static_cast<char>('a' + i % 26)),
                         CellType::kPut));
  Store(FamilyOf("f"), cells);
  const std::string whole = Bytes();
  ASSERT_EQ(whole.size() % kDatabasePageSize, 0u);
  const auto read_as_far_as_it_goes = [&] {  // false: something was damaged
    auto cursor = OpenCursor();
    if (!cursor.ok()) return false;
    bool intact = true;
    size_t at = 0;
    for (Status status = (*cursor)->Seek({});; status = (*cursor)->Next()) {
      if (status.ok() && (*cursor)->valid()) status = (*cursor)->LoadValue();
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::kCorruption);
        intact = false;
      }
      if (!(*cursor)->valid()) break;
      if (status.ok()) {
        while (at < cells.size() && cells[at].row < (*cursor)->cell().row) ++at;
        EXPECT_EQ(CopyOf((*cursor)->cell()), cells[at]);
      }
    }
    auto may = file_->MayHold("row1007", nullptr);
    return intact && may.ok() && file_->damage().empty();
  };
  size_t found = 0, pages = 0;
  for (size_t page = 0; page < whole.size(); page += kDatabasePageSize, ++pages) {
    std::string flipped = whole;
    const size_t at = page + (page * 7 + 11) % kDatabasePageSize;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    Write(flipped);
    Open();
    if (!read_as_far_as_it_goes()) ++found;
  }
  // The indexes of tombstones and withdrawals are not asked, nor is what holds hidden cells.
  EXPECT_GE(found, pages - 4);
  for (size_t size = 0; size < whole.size(); size += 3 * kDatabasePageSize + 100) {
    Write(whole.substr(0, size));
    Open();
    EXPECT_FALSE(read_as_far_as_it_goes()) << size;
  }
  Write(whole);
  Open();
  EXPECT_TRUE(read_as_far_as_it_goes());
}

// ---- Whether it may hold something --------------------------------------------------------------

class BloomTest : public StoreFileTest, public testing::WithParamInterface<const char*> {};

TEST_P(BloomTest, WhatIsThereIsNeverDeniedAndMostOfTheRestIs) {
  const std::string kind = GetParam();
  std::vector<Cell> cells;
  for (int i = 0; i < 1000; ++i)
    cells.push_back(Make("r" + std::to_string(2 * i), "q" + std::to_string(i % 7), 1, 1, "v"));
  cells.push_back(Make("r7", "", 1, 1, "", CellType::kDeleteFamily));
  cells.push_back(Withdrawal("r9", "w", 1, 1, CellType::kPut));
  cells.push_back(Withdrawal("r11", "", 1, 1, CellType::kDeleteFamily));
  Store(FamilyOf("f", {{"BLOOMFILTER", kind}}), cells);
  const auto may_hold = [&](const std::string& row, const std::set<std::string>* columns) {
    auto may = file_->MayHold(row, columns);
    EXPECT_TRUE(may.ok()) << may.status().ToString();
    return may.ok() && *may;
  };
  for (int round = 0; round < 2; ++round) {  // the second time from the cache
    int rows = 0, columns = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::string row = "r" + std::to_string(2 * i);
      const std::set<std::string> there = {"q" + std::to_string(i % 7)};
      const std::set<std::string> both = {"a", "q" + std::to_string(i % 7)};
      const std::set<std::string> other = {"x"};
      EXPECT_TRUE(may_hold(row, nullptr) && may_hold(row, &there) && may_hold(row, &both));
      if (may_hold(row, &other)) ++columns;
      if (may_hold("r" + std::to_string(2 * i + 13), nullptr)) ++rows;
    }
    EXPECT_TRUE(kind == "NONE" ? rows > 900 : rows < 50) << rows;
    EXPECT_TRUE(kind == "ROWCOL" ? columns < 50 : columns == 1000) << columns;
  }
  // A family's tombstones, and what takes them back, are of every column.
  const std::set<std::string> any = {"any"};
  EXPECT_TRUE(may_hold("r7", &any));
  EXPECT_TRUE(may_hold("r11", &any));
  const std::set<std::string> withdrawn = {"w"};
  EXPECT_TRUE(may_hold("r9", &withdrawn));
  EXPECT_FALSE(may_hold("a", nullptr)) << "before the first row";
  EXPECT_FALSE(may_hold("s", nullptr)) << "behind the last";
}

INSTANTIATE_TEST_SUITE_P(Kinds, BloomTest, testing::Values("NONE", "ROW", "ROWCOL"),
                         [](const auto& test) { return std::string(test.param); });

// ---- Damage of what only saves time
// --------------------------------------------------------------

TEST_F(StoreFileTest, MarkersAreFoundWithoutTheirIndexWhereThatIsDamaged) {
  std::vector<Cell> cells;
  for (int i = 0; i < 400; ++i) {  // more than one page of the index
    const std::string row = "row" + std::to_string(1000 + i);
    cells.push_back(Make(row, "q", 9, 5, "v"));
    cells.push_back(Make(row, "q", 7, 6, "", CellType::kDelete));
    cells.push_back(Withdrawal(row, "w", 5, 7, CellType::kPut));
  }
  Store(FamilyOf("f"), cells);
  const auto places = [&] {
    return std::pair(PlacesOf(*OpenTombstones(*file_->Open(), CellSet::kShown)),
                     PlacesOf(*OpenWithdrawals(*file_->Open())));
  };
  const auto intact = places();
  EXPECT_EQ(intact.first.substr(0, 32), "row1000:q/7 row1001:q/7 row1002:");
  EXPECT_EQ(file_->damage(), "");
  for (const char* index : {"tombstones", "withdrawals"}) {
    FlipPageOf(index);
    EXPECT_TRUE(places() == intact) << index;
    EXPECT_NE(file_->damage().find("page"), std::string::npos) << index;
    ASSERT_OK(ReadAll());
  }
}

TEST_F(StoreFileTest, TombstonesMayBeAnywhereWhereTheirIndexIsDamaged) {
  Store(FamilyOf("f"), {Make("r", "q", 9, 5, "v"), Make("s", "q", 7, 6, "", CellType::kDelete)});
  EXPECT_FALSE(*file_->Open()->MayHaveTombstones(CellSet::kShown, "r", "q"));
  FlipPageOf("tombstones");
  EXPECT_TRUE(*file_->Open()->MayHaveTombstones(CellSet::kShown, "r", "q"));
  EXPECT_NE(file_->damage(), "");
}

TEST_F(StoreFileTest, ABlockOfTheFilterThatIsMissingKnowsEveryKey) {
  Store(FamilyOf("f"), {Make("r1", "q", 1, 5, "v"), Make("r9", "q", 1, 5, "v")});
  EXPECT_FALSE(*file_->MayHold("r5", nullptr));
  EXPECT_EQ(file_->damage(), "");
  Damage("DELETE FROM filter");
  EXPECT_TRUE(*file_->MayHold("r5", nullptr));
  EXPECT_NE(file_->damage().find("filter"), std::string::npos);
}

// ---- Connections --------------------------------------------------------------------------------

TEST_F(StoreFileTest, IdleConnectionsHaveABoundAndGoWithTheirFile) {
  FileCache cache(1 << 20, /*most_idle_readers=*/3);
  std::vector<std::shared_ptr<StoreFile>> files;
  for (int i = 0; i < 5; ++i) {
    Store(FamilyOf("f"), {Make("r", "q", 1, 5, "v")});
    files.push_back(std::make_shared<StoreFile>(folder_, facts_, cache));
  }
  file_.reset();
  EXPECT_EQ(DescriptorsInto(directory_.path()), 0) << "opened when it is first read";
  {
    std::vector<StoreFile::Lease> leases;
    for (int round = 0; round < 2; ++round) {
      for (const auto& file : files) {
        auto lease = file->Open();
        ASSERT_OK(lease);
        leases.push_back(*std::move(lease));
      }
    }
    EXPECT_EQ(DescriptorsInto(directory_.path()), 10);
  }
  EXPECT_EQ(DescriptorsInto(directory_.path()), 3);
  { ASSERT_OK(files[0]->Open()); }
  EXPECT_EQ(DescriptorsInto(directory_.path()), 3);
  files.clear();
  EXPECT_EQ(DescriptorsInto(directory_.path()), 0);
}

TEST_F(StoreFileTest, AnObsoleteFileIsRemovedWithItsLastReader) {
  Store(FamilyOf("f"), {Make("r", "q", 1, 5, "v")});
  const std::string path = file_->path();
  {
    auto cursor = OpenCursor();
    ASSERT_OK(cursor);
    file_->SetObsolete();
    file_.reset();
    ASSERT_OK((*cursor)->Seek({}));
    EXPECT_TRUE((*cursor)->valid());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Bytes that match their checksum and are no page of a tree: nothing is read beyond them, and no
// way over them has no end.
TEST_F(StoreFileTest, APageOfCellsWithAnyBytesEndsAWalk) {
  std::mt19937 random(20261128);
  std::vector<Cell> cells;
  for (int row = 1000; row < 3000; ++row)
    cells.push_back(
        Make("row" + std::to_string(row), "q", 9, 5, std::string(row % 50 == 0 ? 250 : 20, 'v')));
  cells.push_back(Make(std::string(3000, 'x'), std::string(9000, 'y'), 9, 5, "v"));
  Store(FamilyOf("f"), cells);
  const std::string intact = Bytes();
  const size_t pages = intact.size() / kDatabasePageSize;
  int ended = 0;
  for (int round = 0; round < 600; ++round) {
    std::string bytes = intact;
    const size_t number = 7 + random() % (pages - 7);
    char* const page = bytes.data() + number * kDatabasePageSize;
    const size_t begin = round % 2 == 0 ? 0 : random() % 4000;
    for (size_t i = 0; i < 1 + random() % 8; ++i)
      page[begin + random() % 64] = static_cast<char>(random());
    SealPage(page, static_cast<int64_t>(number) + 1);
    Write(bytes);
    Open();
    ended += ReadAll().ok() ? 0 : 1;
    auto cursor = OpenCursor();
    ASSERT_OK(cursor);
    for (int seek = 0; seek < 5; ++seek) {
      const std::string row = "row" + std::to_string(1000 + random() % 2000);
      if (!(*cursor)->Seek({row, "q", 3}).ok()) break;
    }
  }
  EXPECT_GT(ended, 100);
}

// Cells come by their sequence ids, and the file has such withdrawals by what they take back.
TEST_F(StoreFileTest, WithdrawalsOfOneTimestampLieInTheOrderOfTheFile) {
  Store(FamilyOf("f"),
        {Withdrawal("r", "q", 5, 9, CellType::kPut),
         Withdrawal("r", "q", 5, 7, CellType::kDeleteColumn), Make("r", "q", 5, 6, "v")});
  auto lease = file_->Open();
  ASSERT_OK(lease);
  Statement check = *lease->reader().database().Prepare("PRAGMA integrity_check");
  ASSERT_TRUE(*check.Step());
  EXPECT_EQ(check.Bytes(0), "ok");
  check.Reset();
  const auto cells = ReadAll();
  ASSERT_OK(cells);
  ASSERT_EQ(cells->size(), 3u);
  EXPECT_EQ((*cells)[0].sequence_id, 7u);
  EXPECT_EQ((*cells)[1].sequence_id, 9u);
}

TEST_F(StoreFileTest, CellsOutOfTheirOrderAreRefused) {
  auto builder = Begin(FamilyOf("f"));
  ASSERT_OK(builder);
  ASSERT_OK((*builder)->Put(ViewOf(Make("b", "q", 5, 1, "v"))));
  for (const Cell& cell : {Make("a", "q", 5, 1, "v"), Make("b", "p", 5, 1, "v"),
                           Make("b", "q", 6, 1, "v"), Make("b", "q", 5, 1, "v")})
    EXPECT_EQ((*builder)->Put(ViewOf(cell)).code(), StatusCode::kCorruption);
}

// Against a cursor over a sorted vector.
TEST_F(StoreFileTest, ACursorMovesAsOneOverASortedVectorDoes) {
  std::mt19937 random(20261121);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto letter = [&](int n) { return std::string(1, static_cast<char>('a' + below(n))); };
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
    auto cursor = OpenCursor(read_point);
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
