// SPDX-License-Identifier: MIT
//
// What lies in a store file, as SQLite alone tells it: the program writes just that, and reads a
// file that the test has made of it. So a change of the format is seen here; it needs a number of
// its own, and a way to read the files that there are (docs/storage.md, "The store file").
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/file/store_file_builder.h"
#include "engine/file/store_file_check.h"
#include "engine/file/store_file_cursor.h"
#include "engine/file/stored_facts.h"
#include "tests/support/assert_ok.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kPage = 4096;
constexpr size_t kCheckedBytes = 4088;  // of a page; behind them lies their checksum

const Lines kSchema = {
    "PRAGMA application_id = 1667591276",
    "PRAGMA user_version = 5",
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cells(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
    "S INTEGER NOT NULL, V BLOB, L INTEGER, R INTEGER, X INTEGER, Z INTEGER, "
    "PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID",
    "CREATE INDEX tombstones ON cells(K, Q) WHERE Y < -4 AND Y > -256",
    "CREATE INDEX withdrawals ON cells(K, Q, T) WHERE Y < -255",
    "CREATE TABLE long_values(R INTEGER PRIMARY KEY, V BLOB NOT NULL)",
    "CREATE TABLE filter(N INTEGER PRIMARY KEY, B BLOB NOT NULL)",
    "CREATE TABLE hidden(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
    "S INTEGER NOT NULL, V BLOB, L INTEGER, R INTEGER, X INTEGER, Z INTEGER, "
    "PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID",
    "CREATE INDEX hidden_tombstones ON hidden(K, Q) WHERE Y < -4 AND Y > -256",
};
const Lines kRows = {
    "INSERT INTO facts VALUES('bytes',12288)",
    "INSERT INTO facts VALUES('cells',6)",
    "INSERT INTO facts VALUES('family',X'66')",
    "INSERT INTO facts VALUES('family_tombstones',1)",
    "INSERT INTO facts VALUES('filter_blocks',1)",
    "INSERT INTO facts VALUES('filter_has_columns',1)",
    "INSERT INTO facts VALUES('first_row',X'61')",
    "INSERT INTO facts VALUES('hidden_cells',3)",
    "INSERT INTO facts VALUES('highest',15)",
    "INSERT INTO facts VALUES('is_major',1)",
    "INSERT INTO facts VALUES('last_row',X'62')",
    "INSERT INTO facts VALUES('lowest',10)",
    "INSERT INTO facts VALUES('newest',10)",
    "INSERT INTO facts VALUES('newest_hidden_tombstone',8)",
    "INSERT INTO facts VALUES('number',3)",
    "INSERT INTO facts VALUES('oldest',5)",
    "INSERT INTO facts VALUES('oldest_put',5)",
    "INSERT INTO facts VALUES('room_deleted',625)",
    "INSERT INTO facts VALUES('store',7)",
    "INSERT INTO facts VALUES('surplus',0)",
    "INSERT INTO facts VALUES('table',1)",
    "INSERT INTO facts VALUES('tombstones',2)",
    "INSERT INTO facts VALUES('withdrawals',1)",
    "INSERT INTO facts VALUES('written',77)",
    "INSERT INTO cells VALUES(X'61',X'6C6F6E67',-7,-4,-12,NULL,12,1,NULL,NULL)",
    "INSERT INTO cells VALUES(X'61',X'71',-9,-268,-15,X'',12,NULL,NULL,NULL)",
    "INSERT INTO cells VALUES(X'62',X'00FF',-10,-4,-13,X'',NULL,NULL,60000,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'',-6,-14,-11,X'',NULL,NULL,NULL,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'71',-8,-12,-14,X'',NULL,NULL,NULL,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'71',-5,-4,-10,X'66697665',NULL,NULL,NULL,NULL)",
    "INSERT INTO long_values VALUES(1,X'7477656C7665206279746573')",
};
// Sixty times x, in each way of compression. Only to be read: who compresses may find another way.
const Lines kCompressed = {
    "INSERT INTO cells VALUES(X'62',X'4C5A34',-1,-4,-1,X'1F78010023507878787878',60,NULL,NULL,2)",
    "INSERT INTO cells VALUES(X'62',X'534E41505059',-1,-4,-1,X'3C0078EA0100',60,NULL,NULL,3)",
    "INSERT INTO cells VALUES(X'62',X'5A535444',-1,-4,-1,"
    "X'28B52FFD203C45000010787801003F0116',60,NULL,NULL,1)",
};
// The same cells in the format before: with lengths, and checksums of their own, before their values.
const Lines kSchemaOfFormat4 = {
    "PRAGMA application_id = 1667591276",
    "PRAGMA user_version = 4",
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cells(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
    "S INTEGER NOT NULL, L INTEGER NOT NULL, H INTEGER NOT NULL, V BLOB, R INTEGER, X INTEGER, "
    "Z INTEGER, PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID",
    "CREATE INDEX tombstones ON cells(K, Q) WHERE Y < -4 AND Y > -256",
    "CREATE INDEX withdrawals ON cells(K, Q, T) WHERE Y < -255",
    "CREATE TABLE long_values(R INTEGER PRIMARY KEY, H INTEGER NOT NULL, V BLOB NOT NULL)",
    "CREATE TABLE filter(N INTEGER PRIMARY KEY, B BLOB NOT NULL)",
    "CREATE TABLE hidden(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
    "S INTEGER NOT NULL, L INTEGER NOT NULL, H INTEGER NOT NULL, V BLOB, R INTEGER, X INTEGER, "
    "Z INTEGER, PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID",
    "CREATE INDEX hidden_tombstones ON hidden(K, Q) WHERE Y < -4 AND Y > -256",
};
const Lines kCellsOfFormat4 = {
    "INSERT INTO cells VALUES(X'61',X'6C6F6E67',-7,-4,-12,12,873123722,NULL,1,NULL,NULL)",
    "INSERT INTO cells VALUES(X'61',X'71',-9,-268,-15,12,-737688003,X'',NULL,NULL,NULL)",
    "INSERT INTO cells VALUES(X'62',X'00FF',-10,-4,-13,0,624011687,X'',NULL,60000,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'',-6,-14,-11,0,-704236815,X'',NULL,NULL,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'71',-8,-12,-14,0,-726182319,X'',NULL,NULL,NULL)",
    "INSERT INTO hidden VALUES(X'61',X'71',-5,-4,-10,4,-1928372539,X'66697665',NULL,NULL,NULL)",
    "INSERT INTO long_values VALUES(1,-596884581,X'7477656C7665206279746573')",
};
// Those that are set of the one block of the filter.
const std::set<size_t> kFilterBits = {
    1581,  1934,  2661,  2793,  3106,  3163,  4701,  6557,  6604,  7478,  8347,  8480,  9206,
    10008, 10255, 10995, 11519, 12250, 12574, 13459, 13902, 14497, 14984, 15025, 15386, 16745,
    17219, 18129, 18993, 19876, 19996, 20408, 20831, 21241, 21570, 23341, 23489, 23683, 24282,
    24799, 25737, 26806, 26960, 27734, 28116, 29190, 29238, 29737, 31698};

constexpr uint64_t kIdOfStore = 7;
constexpr TableId kIdOfTable = 1;

FileFacts Facts() {
  return {.number = 3,
          .family = "f",
          .first_row = "a",
          .last_row = "b",
          .oldest = 5,
          .newest = 10,
          .oldest_put = 5,
          .lowest = 10,
          .highest = 15,
          .cells = 6,
          .tombstones = 2,
          .family_tombstones = 1,
          .withdrawals = 1,
          .hidden = {.cells = 3, .newest_tombstone = 8},
          .surplus = 0,
          .bytes = 3 * kPage,
          .written = 77,
          .filter_blocks = 1,
          .filter_has_columns = true,
          .is_major = true,
          .room = {.deleted = 625}};
}

// In their order.
std::vector<Cell> Cells() {
  const auto make = [](std::string row, std::string qualifier, Timestamp timestamp, CellType type,
                       SequenceId sequence_id, std::string value) {
    const uint64_t length = value.size();
    return Cell{.row = std::move(row),
                .family = {},
                .qualifier = std::move(qualifier),
                .timestamp = timestamp,
                .type = type,
                .sequence_id = sequence_id,
                .value = std::move(value),
                .value_length = length};
  };
  std::vector<Cell> cells = {
      make("a", "", 6, CellType::kDeleteFamily, 11, ""),
      make("a", "long", 7, CellType::kPut, 12, "twelve bytes"),
      make("a", "q", 9, kWithdrawMarker, 15, "\x0c"),
      make("a", "q", 8, CellType::kDeleteColumn, 14, ""),
      make("a", "q", 5, CellType::kPut, 10, "five"),
      make("b", std::string("\0\xff", 2), 10, CellType::kPut, 13, ""),
  };
  cells.back().time_to_live = 60000;
  return cells;
}

class StoreFileBytesTest : public testing::Test {
 protected:
  void Write() {
    FamilySchema family("f");
    ASSERT_OK(family.Set("BLOOMFILTER", "ROWCOL"));
    auto builder = StoreFileBuilder::Begin(PosixFiles(), folder_, family,
                                           {.number = 3,
                                            .inline_value_limit = 11,
                                            .cells_at_most = 6,
                                            .written = 77,
                                            .is_major = true,
                                            .tells_hidden = true});
    ASSERT_OK(builder);
    for (const Cell& cell : Cells())
      ASSERT_OK((*builder)->Put(ViewOf(cell)));
    const auto facts = (*builder)->Finish(10, 15);
    ASSERT_OK(facts);
    EXPECT_EQ(**facts, Facts());
  }

  // Without the program: SQLite gives each page its last bytes, and the test fills them.
  void WriteByHand(const Lines& schema, const Lines& rows, const std::set<size_t>& filter_bits) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    int reserved = kPage - kCheckedBytes;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    std::string block(4000, '\0');
    for (const size_t bit : filter_bits) block[bit / 8] |= static_cast<char>(1 << (bit % 8));
    Lines statements = {"PRAGMA page_size = 4096", "PRAGMA journal_mode = OFF"};
    statements.insert(statements.end(), schema.begin(), schema.end());
    statements.insert(statements.end(), rows.begin(), rows.end());
    statements.push_back("INSERT INTO filter VALUES(0," + Blob(block) + ")");
    for (const std::string& statement : statements)
      ASSERT_EQ(sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
          << statement << ": " << sqlite3_errmsg(database);
    sqlite3_close(database);
    std::string bytes = Bytes();
    for (size_t page = 0; page < bytes.size() / kPage; ++page) {
      const uint64_t checksum = ChecksumOfPage(bytes, page);
      std::memcpy(bytes.data() + page * kPage + kCheckedBytes, &checksum, sizeof checksum);
    }
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  static uint64_t ChecksumOfPage(const std::string& bytes, size_t page) {
    return XXH3_64bits_withSeed(bytes.data() + page * kPage, kCheckedBytes, page + 1);
  }
  static std::string Blob(std::string_view bytes) {
    std::string text = "X'";
    for (const char byte : bytes) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02X", static_cast<unsigned char>(byte));
      text += digits;
    }
    return text + "'";
  }

  std::string Bytes() const {
    std::ostringstream bytes;
    bytes << std::ifstream(path_, std::ios::binary).rdbuf();
    return bytes.str();
  }
  // The answers of SQLite, each row of them as text.
  Lines Ask(const std::string& query) const {
    sqlite3* database = nullptr;
    const std::string name = "file:" + path_ + "?immutable=1";
    EXPECT_EQ(
        sqlite3_open_v2(name.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr),
        SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    Lines lines;
    while (sqlite3_step(statement) == SQLITE_ROW)
      lines.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return lines;
  }
  // As statements that would make them again.
  Lines SchemaOfFile() const {
    Lines lines = {"PRAGMA application_id = " + Ask("PRAGMA application_id").at(0),
                   "PRAGMA user_version = " + Ask("PRAGMA user_version").at(0)};
    for (const std::string& sql : Ask("SELECT sql FROM sqlite_schema WHERE sql NOT NULL"))
      lines.push_back(sql);
    return lines;
  }
  Lines RowsOf(const std::string& table, const Lines& columns) const {
    std::string values;
    for (const std::string& column : columns)
      values += (values.empty() ? "quote(" : " || ',' || quote(") + column + ")";
    return Ask("SELECT 'INSERT INTO " + table + " VALUES(' || " + values + " || ')' FROM " + table);
  }
  Lines RowsOfFile() const {
    Lines lines = RowsOf("facts", {"name", "value"});
    const Lines of_cell = {"K", "Q", "T", "Y", "S", "V", "L", "R", "X", "Z"};
    for (const Lines& rows : {RowsOf("cells", of_cell), RowsOf("hidden", of_cell),
                              RowsOf("long_values", {"R", "V"})})
      lines.insert(lines.end(), rows.begin(), rows.end());
    return lines;
  }

  // Both sets, in the order of cells.
  StatusOr<std::vector<Cell>> Read() {
    FileCache cache(1 << 20, 4);
    const auto file = std::make_shared<StoreFile>(folder_, Facts(), cache);
    std::vector<std::unique_ptr<CellCursor>> cursors;
    for (const CellSet set : kCellSets) {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
      cursors.push_back(std::make_unique<StoreFileCursor>(std::move(lease), set, kMaxSequenceId,
                                                          /*lengths_only=*/false));
    }
    const auto cursor = MergeAllCells(std::move(cursors));
    std::vector<Cell> cells;
    CELLFS_RETURN_IF_ERROR(cursor->Seek({}));
    while (cursor->valid()) {
      CELLFS_RETURN_IF_ERROR(cursor->LoadValue());
      cells.push_back(CopyOf(cursor->cell()));
      CELLFS_RETURN_IF_ERROR(cursor->Next());
    }
    return cells;
  }

  // As the filter says.
  StatusOr<bool> MayHold(const std::string& row, const std::string& qualifier) {
    FileCache cache(1 << 20, 4);
    const std::set<std::string> columns = {qualifier};
    return std::make_shared<StoreFile>(folder_, Facts(), cache)->MayHold(row, &columns);
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/3.db";
  const std::shared_ptr<const TableFolder> folder_ =
      std::make_shared<TableFolder>(TableFolder{directory_.path(), kIdOfStore, kIdOfTable});
};

TEST_F(StoreFileBytesTest, WhatIsWrittenIsThatAndNothingElse) {
  Write();
  EXPECT_EQ(SchemaOfFile(), kSchema);
  EXPECT_EQ(RowsOfFile(), kRows);
  const Lines filter = Ask("SELECT hex(B) FROM filter ORDER BY N");
  ASSERT_EQ(filter.size(), 1u);
  ASSERT_EQ(filter[0].size(), 8000u);
  std::set<size_t> bits;
  for (size_t bit = 0; bit < 32000; ++bit)
    if ((std::stoi(filter[0].substr(bit / 8 * 2, 2), nullptr, 16) >> (bit % 8) & 1) != 0)
      bits.insert(bit);
  EXPECT_EQ(bits, kFilterBits);
}

TEST_F(StoreFileBytesTest, PagesHaveTheirChecksums) {
  Write();
  const std::string bytes = Bytes();
  ASSERT_EQ(bytes.size(), 9 * kPage);
  EXPECT_EQ(bytes.substr(0, 16), std::string("SQLite format 3\0", 16));
  EXPECT_EQ(bytes[20], 8) << "the bytes of each page that are not SQLite's";
  for (size_t page = 0; page < 9; ++page) {
    const uint64_t checksum = ChecksumOfPage(bytes, page);
    EXPECT_EQ(std::memcmp(bytes.data() + page * kPage + kCheckedBytes, &checksum, 8), 0) << page;
  }
}

TEST_F(StoreFileBytesTest, AFileMadeOfItIsRead) {
  WriteByHand(kSchema, kRows, kFilterBits);
  const auto stored = ReadStoredFacts(path_);
  ASSERT_OK(stored);
  EXPECT_EQ(stored->store_id, kIdOfStore);
  EXPECT_EQ(stored->table, kIdOfTable);
  EXPECT_EQ(stored->facts, Facts());
  const auto cells = Read();
  ASSERT_OK(cells);
  EXPECT_EQ(*cells, Cells());
  EXPECT_TRUE(*MayHold("a", "long"));
  EXPECT_TRUE(*MayHold("b", std::string("\0\xff", 2)));
  EXPECT_TRUE(*MayHold("a", "another")) << "for the tombstone of the family";
  EXPECT_FALSE(*MayHold("b", "another"));
  EXPECT_FALSE(*MayHold("aa", "q"));
  CheckedStoreFile found;
  const Status checked = CheckStoreFile(folder_, Facts(), &found);
  EXPECT_TRUE(checked.ok()) << checked.ToString();
  EXPECT_TRUE(found.damage.empty());
  EXPECT_EQ(found.cells, 6u);
}

TEST_F(StoreFileBytesTest, AFileOfTheFormatBeforeIsReadAsItIs) {
  Lines rows(kRows.begin(), std::find_if(kRows.begin(), kRows.end(), [](const std::string& row) {
    return row.find("facts") == std::string::npos;
  }));
  rows.insert(rows.end(), kCellsOfFormat4.begin(), kCellsOfFormat4.end());
  WriteByHand(kSchemaOfFormat4, rows, kFilterBits);
  const auto cells = Read();
  ASSERT_OK(cells);
  EXPECT_EQ(*cells, Cells());
  CheckedStoreFile found;
  const Status checked = CheckStoreFile(folder_, Facts(), &found);
  EXPECT_TRUE(checked.ok()) << checked.ToString();
  EXPECT_TRUE(found.damage.empty());
}

TEST_F(StoreFileBytesTest, AValueIsReadHoweverItIsCompressed) {
  Lines rows = kRows;
  rows.insert(rows.end(), kCompressed.begin(), kCompressed.end());
  WriteByHand(kSchema, rows, kFilterBits);
  const auto cells = Read();
  ASSERT_OK(cells);
  ASSERT_EQ(cells->size(), Cells().size() + 3);
  for (size_t i = 6; i < 9; ++i) EXPECT_EQ((*cells)[i].value, std::string(60, 'x')) << i;
}

}  // namespace
}  // namespace cellfs
