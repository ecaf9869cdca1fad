// SPDX-License-Identifier: MIT
//
// Flips bytes in every kind of file of a store: what was damaged is found, and never read as
// something else than what was written.
#include "engine/check.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "engine/file/page_checksums.h"
#include "engine/local/local_check.h"
#include "engine/local/manifest.h"
#include "engine/log/log_format.h"
#include "engine/open.h"
#include "engine/repair.h"
#include "tests/engine/local/engine_fixture.h"
#include "tests/support/busy_files.h"

namespace cellfs {
namespace {

constexpr int kRows = 60;

class CheckTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<ControlledStore>> Open() {
    StoreOptions options;
    options.background_maintenance = false;
    return OpenLocalStore(path_, options);
  }
  static std::string RowOf(int i) { return "row" + std::to_string(1000 + i); }
  // Short ones lie in the cell's row, long ones in the value table, over several pages.
  static std::string ValueOf(int i) {
    return std::string(i % 3 == 0 ? 20 : i % 3 == 1 ? 1000 : 9000, static_cast<char>('a' + i % 26));
  }
  static Status Fill(Store& store, const std::string& table, int from = 0, int to = kRows) {
    for (int i = from; i < to; ++i) {
      const Put put{.row = RowOf(i), .cells = {{"f", "q", 7, ValueOf(i), std::nullopt}}};
      CELLFS_RETURN_IF_ERROR(
          store.Mutate(Caller::Superuser(), ParseTableName(table), RowMutations::Of(put)).status());
    }
    return {};
  }
  static Status Create(Store& store, const std::string& table) {
    TableSchema schema(ParseTableName(table));
    schema.families.emplace("f", FamilySchema("f"));
    return store.CreateTable(Caller::Superuser(), schema);
  }
  // Two tables of the same cells, in store files, the log empty.
  void MakeStore() {
    auto store = Open();
    ASSERT_OK(store);
    for (const char* table : {"t", "u"}) {
      ASSERT_OK(Create(**store, table));
      ASSERT_OK(Fill(**store, table));
    }
  }
  // The value of a cell, its error, or "none".
  static std::string Read(Store& store, const std::string& table, int i) {
    Get get;
    get.row = RowOf(i);
    auto cells = store.Read(Caller::Superuser(), ParseTableName(table), get);
    if (!cells.ok()) {
      return cells.status().code() == StatusCode::kCorruption ? "damaged"
                                                              : cells.status().ToString();
    }
    return cells->size() == 1 ? cells->front().value : "none";
  }
  // How many of a table's cells can be read; all others must say that they are damaged.
  static int CountReadable(Store& store, const std::string& table, int rows = kRows) {
    int readable = 0;
    for (int i = 0; i < rows; ++i) {
      const std::string value = Read(store, table, i);
      if (value == ValueOf(i)) {
        ++readable;
      } else {
        EXPECT_EQ(value, "damaged") << RowOf(i);
      }
    }
    return readable;
  }
  // In a child process, which closes nothing.
  void DieAfter(const std::function<bool(Store&)>& work) {
    const pid_t child = fork();
    if (child == 0) {
      const auto store = Open();
      _exit(store.ok() && work(**store) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  static Status Flush(Store& store, const std::string& table) {
    return store.Flush(Caller::Superuser(), ParseTableName(table));
  }
  CheckReport Check() {
    auto report = CheckLocalStore(path_);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : CheckReport();
  }
  std::string FirstDamagedFile() {
    const CheckReport report = Check();
    return report.damage.empty() ? "none" : report.damage[0].file;
  }
  std::string Bytes(const std::string& file) {
    std::ostringstream bytes;
    bytes << std::ifstream(path_ + "/" + file, std::ios::binary).rdbuf();
    return bytes.str();
  }
  void Write(const std::string& file, const std::string& bytes) {
    std::ofstream(path_ + "/" + file, std::ios::binary | std::ios::trunc) << bytes;
  }
  // The only store file of a table: "tables/1/1.db".
  std::string StoreFileOf(int table) {
    const std::string directory = "tables/" + std::to_string(table);
    auto names = *PosixFiles().List(path_ + "/" + directory);
    std::erase(names, kManifestFile);
    EXPECT_EQ(names.size(), 1u);
    return directory + "/" + names.at(0);
  }
  void WriteFlipped(const std::string& file, std::string bytes, size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Write(file, bytes);
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/store";
};

TEST_F(CheckTest, TellsHowFarItHasComeUntilAllIsRead) {
  MakeStore();
  std::vector<CheckProgress> told;
  const auto report =
      CheckLocalStore(path_, [&](const CheckProgress& progress) {
        told.push_back(progress);
        return true;
      });
  ASSERT_OK(report);
  ASSERT_GE(told.size(), 3u) << "the log, and two files";
  for (size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].bytes, told[i - 1].bytes);
    EXPECT_EQ(told[i].total, told[0].total);
  }
  EXPECT_EQ(told.back().bytes, told.back().total);
  EXPECT_EQ(told.back().cells, report->cells);
  EXPECT_GT(report->cells, 0u);
}

TEST_F(CheckTest, AnIntactStoreHasNoDamageOpenOrNot) {
  MakeStore();
  EXPECT_TRUE(Check().damage.empty());
  EXPECT_EQ(Check().cells, 2u * kRows);
  auto store = Open();
  ASSERT_OK(store);
  ASSERT_OK(Fill(**store, "t", 0, 5));
  const CheckReport report = Check();
  EXPECT_TRUE(report.damage.empty());
  EXPECT_EQ(report.log_records, 5u);
}

TEST_F(CheckTest, AFlippedByteOfAStoreFileIsFoundAndNeverServed) {
  MakeStore();
  const std::string file = StoreFileOf(1);
  const std::string whole = Bytes(file);
  int least = kRows;
  int partly = 0;
  for (size_t at = 5; at < whole.size(); at += 1237) {
    SCOPED_TRACE(at);
    WriteFlipped(file, whole, at);
    EXPECT_EQ(FirstDamagedFile(), file);
    auto store = Open();
    ASSERT_OK(store);
    const int readable = CountReadable(**store, "t");
    least = std::min(least, readable);
    if (readable > kRows / 2 && readable < kRows) ++partly;
    EXPECT_EQ(CountReadable(**store, "u"), kRows);
  }
  EXPECT_EQ(least, 0);    // the first page holds them all
  EXPECT_GT(partly, 20);  // most pages only their own
}

// In turn the filter and each index: every cell is read, `status` and `check` say what is wrong, and
// a compaction mends it.
TEST_F(CheckTest, WhatOnlySavesTimeMayBeDamaged) {
  for (const char* part : {"filter", "tombstones", "withdrawals"}) {
    SCOPED_TRACE(part);
    std::filesystem::remove_all(path_);
    MakeStore();
    const std::string file = StoreFileOf(1);
    std::string bytes = Bytes(file);
    int64_t page = 0;
    {
      BlockCache cache(1 << 20);
      auto database = Database::OpenImmutable(path_ + "/" + file, cache, cache.NewOwner());
      ASSERT_OK(database);
      page = *(*database)->QueryInteger("SELECT rootpage FROM sqlite_schema WHERE name = '" +
                                        std::string(part) + "'");
    }
    WriteFlipped(file, bytes, static_cast<size_t>(page * kDatabasePageSize - 100));
    const CheckReport report = Check();
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_TRUE(report.damage[0].has_all_cells);
    EXPECT_EQ(report.damage[0].file, file);
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t"), kRows);
    if (part == std::string("filter")) {
      const std::string damage = (*store)->GetStatistics().tables.at(0).damage;
      EXPECT_NE(damage.find("'cellfs compact'"), std::string::npos) << damage;
    }
    ASSERT_OK((*store)->Compact(Caller::Superuser(), ParseTableName("t"), CompactionKind::kMajor));
    EXPECT_EQ(CountReadable(**store, "t"), kRows);
    EXPECT_EQ((*store)->GetStatistics().tables.at(0).damage, "");
    store = Status(StatusCode::kUnavailable, "closed");
    EXPECT_TRUE(Check().damage.empty());
  }
}

TEST_F(CheckTest, AStoreFileThatIsCutShortIsFound) {
  MakeStore();
  const std::string file = StoreFileOf(1);
  const std::string whole = Bytes(file);
  for (size_t size = 0; size < whole.size(); size += whole.size() / 9) {
    SCOPED_TRACE(size);
    Write(file, whole.substr(0, size));
    EXPECT_EQ(FirstDamagedFile(), file);
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_LT(CountReadable(**store, "t"), kRows);
    EXPECT_EQ(CountReadable(**store, "u"), kRows);
  }
}

TEST_F(CheckTest, AFlippedByteOfAManifestIsFoundAndTheOtherTablesWork) {
  MakeStore();
  const std::string file = "tables/1/MANIFEST";
  const std::string whole = Bytes(file);
  for (size_t at = 0; at < whole.size(); at += 37) {
    SCOPED_TRACE(at);
    WriteFlipped(file, whole, at);
    EXPECT_EQ(FirstDamagedFile(), file);
    Write(file, whole.substr(0, at));  // torn
    EXPECT_EQ(FirstDamagedFile(), file);
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t"), 0);
    EXPECT_FALSE(Fill(**store, "t").ok());
    EXPECT_EQ(CountReadable(**store, "u"), kRows);
  }
  Write(file, whole);
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), kRows);
}

TEST_F(CheckTest, TheCheckSaysWhichCellIsDamaged) {
  MakeStore();
  {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open_v2((path_ + "/" + StoreFileOf(1)).c_str(), &connection,
                              SQLITE_OPEN_READWRITE, ChecksummedVfs()),
              SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(connection, "UPDATE cells SET L = 7 WHERE K = x'726f7731303033'",
                     nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(connection);
  }
  const CheckReport report = Check();
  ASSERT_EQ(report.damage.size(), 1u);
  const Damage& damage = report.damage[0];
  EXPECT_EQ(damage.table, ParseTableName("t"));
  EXPECT_EQ(damage.family, "f");
  ASSERT_TRUE(damage.cell.has_value());
  EXPECT_EQ(damage.cell->row + "/" + damage.cell->qualifier, "row1003/q");
  EXPECT_EQ(damage.cell->timestamp, 7);
  EXPECT_EQ(report.cells, 2u * kRows);
}

TEST_F(CheckTest, DamagedPagesOfCellsAreNamedByTheRowsAroundThem) {
  {
    auto store = Open();
    ASSERT_OK(store);
    ASSERT_OK(Create(**store, "t"));
    ASSERT_OK(Fill(**store, "t", 0, 10 * kRows));  // so that they lie in several pages
  }
  const std::string file = StoreFileOf(1);
  const std::string whole = Bytes(file);
  WriteFlipped(file, whole, whole.find(RowOf(300)));
  bool named = false;
  const CheckReport report = Check();
  EXPECT_GT(report.cells, 7u * kRows) << "those behind the damage are read too";
  for (const Damage& damage : report.damage) {
    if (!damage.between_rows) continue;
    named = true;
    const auto& [before, behind] = *damage.between_rows;
    EXPECT_TRUE(before < RowOf(300) && RowOf(300) < behind) << before << " " << behind;
    EXPECT_TRUE(before > RowOf(100) && behind < RowOf(500)) << before << " " << behind;
  }
  EXPECT_TRUE(named);
  auto store = Open();
  ASSERT_OK(store);
  const int readable = CountReadable(**store, "t", 10 * kRows);
  EXPECT_TRUE(readable > 7 * kRows && readable < 10 * kRows) << readable;
}

TEST_F(CheckTest, AFlippedByteOfTheCatalogIsFoundAndTheStoreRefused) {
  MakeStore();
  for (const char* file : {"CATALOG", "EDITS"}) {
    const std::string whole = Bytes(file);
    for (size_t at = 0; at < whole.size(); at += 7) {
      WriteFlipped(file, whole, at);
      EXPECT_EQ(FirstDamagedFile(), file);
      EXPECT_EQ(Open().status().code(), StatusCode::kCorruption);
    }
    Write(file, whole);
  }
}

// FORMAT has no checksum, but all other files have the id as well.
TEST_F(CheckTest, WhereTheIdInFormatIsDamagedItIsFormatThatIsBlamed) {
  for (const bool has_tables : {true, false}) {
    SCOPED_TRACE(has_tables);
    std::filesystem::remove_all(path_);
    if (has_tables) MakeStore();
    if (!has_tables) ASSERT_OK(Open());
    const std::string whole = Bytes("FORMAT");
    const size_t digit = whole.size() - 4;
    std::string damaged = whole;
    damaged[digit] = whole[digit] == '7' ? '8' : '7';
    Write("FORMAT", damaged);
    for (const Status& said : {CheckLocalStore(path_).status(), Open().status()}) {
      EXPECT_EQ(said.code(), StatusCode::kCorruption);
      EXPECT_NE(said.message().find("FORMAT' is damaged"), std::string::npos) << said.message();
      const std::string right = whole.substr(whole.find("id "), 19);
      EXPECT_NE(said.message().find("made '" + right + "'"), std::string::npos) << said.message();
    }
    Write("FORMAT", whole);
    EXPECT_EQ(FirstDamagedFile(), "none");
  }
}

TEST_F(CheckTest, AFlippedByteOfTheLogIsFoundAndTheStoreRefused) {
  DieAfter([&](Store& store) { return Create(store, "t").ok() && Fill(store, "t").ok(); });
  const std::string file = "wal/0000000000000001.log";
  const std::string whole = Bytes(file);
  for (size_t at = 0; at < whole.size(); at += 1237) {
    SCOPED_TRACE(at);
    WriteFlipped(file, whole, at);
    EXPECT_EQ(FirstDamagedFile(), file);
    const Status opened = Open().status();
    EXPECT_EQ(opened.code(), StatusCode::kCorruption);
    EXPECT_NE(opened.message().find("1.log"), std::string::npos) << opened.message();
  }
  // What is advised for the last record.
  WriteFlipped(file, whole, whole.size() - 10);
  const std::string message = Check().damage[0].what;
  Write(file, whole.substr(0, std::stoul(message.substr(message.find("offset ") + 7))));
  EXPECT_EQ(FirstDamagedFile(), "none");
  EXPECT_EQ(Check().log_records, kRows - 1u);
  // Cut short it is what a crash leaves of a write that was never acknowledged.
  Write(file, whole.substr(0, whole.size() - 10));
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t", kRows - 1), kRows - 1);
  EXPECT_EQ(Read(**store, "t", kRows - 1), "none");
}

TEST_F(CheckTest, WholeRecordsBehindABrokenOneAreToldBeforeAndAfterTheyAreCutOff) {
  DieAfter([&](Store& store) {
    const Put zeros{.row = "zeros", .cells = {{"f", "q", 7, std::string(9000, '\0'), std::nullopt}}};
    return Create(store, "t").ok() &&
           store.Mutate(Caller::Superuser(), ParseTableName("t"), RowMutations::Of(zeros)).ok() &&
           Fill(store, "t", 0, 5).ok();
  });
  const std::string file = "wal/0000000000000001.log";
  const std::string whole = Bytes(file);
  WriteFlipped(file, whole, whole.find("zeros"));
  CheckReport report = Check();
  ASSERT_EQ(report.damage.size(), 1u);
  EXPECT_EQ(report.damage[0].file, file);
  EXPECT_NE(report.damage[0].what.find("5 whole ones stand behind"), std::string::npos)
      << report.damage[0].what;
  StoreOptions options;
  options.read_only = true;
  {
    auto store = OpenLocalStore(path_, options);
    ASSERT_OK(store);
    const std::vector<std::string> told = (*store)->GetStatistics().cut_off;
    ASSERT_EQ(told.size(), 1u);
    EXPECT_NE(told[0].find(report.damage[0].what), std::string::npos) << told[0];
  }
  EXPECT_EQ(Check().damage.size(), 1u) << "nothing is changed";
  {
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ((*store)->GetStatistics().cut_off.size(), 1u);
  }
  report = Check();
  ASSERT_EQ(report.damage.size(), 1u);
  EXPECT_EQ(report.damage[0].file.find(file + ".cut-"), 0u) << report.damage[0].file;
  std::filesystem::remove(path_ + "/" + report.damage[0].file);
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_TRUE((*store)->GetStatistics().cut_off.empty());
}

TEST_F(CheckTest, AMissingStoreFileOrManifestIsSaidAndTheOtherTablesWork) {
  MakeStore();
  const std::string aside = temporary_.path() + "/aside";
  for (const std::string& file : {StoreFileOf(1), std::string("tables/1/MANIFEST")}) {
    std::filesystem::rename(path_ + "/" + file, aside);
    const CheckReport report = Check();
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_EQ(report.damage[0].file + " " + report.damage[0].what, file + " it is missing");
    {
      auto store = Open();
      ASSERT_OK(store);
      EXPECT_NE(Read(**store, "t", 1), "none");
      EXPECT_FALSE(Fill(**store, "t").ok());
      EXPECT_EQ(CountReadable(**store, "u"), kRows);
    }
    std::filesystem::rename(aside, path_ + "/" + file);
    EXPECT_EQ(FirstDamagedFile(), "none") << "nothing else of it was removed";
  }
}

// Whatever is known of it when the store is opened is said, and what is found later.
TEST_F(CheckTest, StatisticsNameWhatIsNotWhole) {
  MakeStore();
  const auto damage_of = [](Store& store, const std::string& name) {
    for (const TableStatistics& table : store.GetStatistics().tables)
      if (table.table == ParseTableName(name)) return table.damage;
    return std::string("not there");
  };
  const std::string file = StoreFileOf(1);
  const std::string whole = Bytes(file);
  const auto expect = [&](const std::string& at_once, const std::string& after_reads) {
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(damage_of(**store, "u"), "");
    const std::string before = damage_of(**store, "t");
    EXPECT_NE(before.find(at_once), std::string::npos) << before;
    if (at_once.empty()) {
      EXPECT_EQ(before, "");
    }
    CountReadable(**store, "t");
    const std::string after = damage_of(**store, "t");
    EXPECT_NE(after.find(after_reads), std::string::npos) << after;
  };
  expect("", "");
  WriteFlipped(file, whole, 200);
  expect("page 1 does not match", "from a backup");
  Write(file, whole.substr(0, whole.size() - 4096));
  expect("and should have", "from a backup");
  WriteFlipped(file, whole, whole.find(ValueOf(2).substr(0, 500)));
  expect("", "does not match its checksum");
  Write(file, whole);
  std::filesystem::remove(path_ + "/tables/1/MANIFEST");
  expect("MANIFEST' is missing", "check --repair");
}

TEST_F(CheckTest, AMissingSegmentOfTheLogIsSaid) {
  MakeStore();
  const auto names = PosixFiles().List(path_ + "/wal");
  ASSERT_EQ(names->size(), 1u);
  const std::string segment = "wal/" + (*names)[0];
  std::filesystem::copy(path_ + "/" + segment, path_ + "/wal/0000000000000099.log");
  EXPECT_NE(FirstDamagedFile(), "none");
  EXPECT_EQ(Open().status().code(), StatusCode::kCorruption);
  std::filesystem::remove(path_ + "/wal/0000000000000099.log");
  std::filesystem::remove(path_ + "/" + segment);
  EXPECT_EQ(FirstDamagedFile(), "wal");
  EXPECT_EQ(Open().status().code(), StatusCode::kCorruption);
  Write("wal/0000000000000001.log", "");  // what was in it is given up
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), kRows);
}

// Its tables cannot be read any more; the others can.
TEST_F(CheckTest, AMissingFirstSegmentIsNamedByTheTablesThatWereInIt) {
  DieAfter([&](Store& store) {
    for (const char* table : {"t", "u", "v"})
      if (!Create(store, table).ok()) return false;
    return Fill(store, "t").ok() && Fill(store, "v").ok() && Flush(store, "v").ok() &&
           Fill(store, "u").ok();
  });
  const std::string first = "wal/0000000000000001.log";
  const std::string whole = Bytes(first);
  std::filesystem::remove(path_ + "/" + first);
  for (int round = 0; round < 2; ++round) {  // the second time after a clean close
    const CheckReport report = Check();
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_EQ(report.damage[0].file, "tables/1/MANIFEST");
    EXPECT_NE(report.damage[0].what.find("0000000000000001.log"), std::string::npos)
        << report.damage[0].what;
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t"), 0);
    EXPECT_EQ(CountReadable(**store, "u"), kRows);
    EXPECT_EQ(CountReadable(**store, "v"), kRows);
  }
  Write(first, whole);
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  for (const char* table : {"t", "u", "v"}) EXPECT_EQ(CountReadable(**store, table), kRows);
}

TEST_F(CheckTest, AMissingOrEmptiedNewestSegmentIsNamed) {
  DieAfter([&](Store& store) {
    for (const char* table : {"t", "u"})
      if (!Create(store, table).ok()) return false;
    return Fill(store, "t").ok() && Flush(store, "u").ok() && Fill(store, "u").ok() &&
           Flush(store, "u").ok() && Fill(store, "u").ok();
  });
  const auto names = PosixFiles().List(path_ + "/wal");
  ASSERT_EQ(names->size(), 2u);
  const std::string newest = "wal/" + names->back();
  for (const bool emptied : {true, false}) {
    SCOPED_TRACE(emptied);
    Write(newest, "");
    if (!emptied) std::filesystem::remove(path_ + "/" + newest);
    EXPECT_EQ(FirstDamagedFile(), newest);
    const Status opened = Open().status();
    EXPECT_EQ(opened.code(), StatusCode::kCorruption);
    EXPECT_NE(opened.message().find(newest), std::string::npos) << opened.message();
  }
}

// A backup that is restored by halves: the log that was overwritten had the newest records.
class OlderLogTest : public CheckTest {
 protected:
  void MakeStoreWithOlderLog() {
    DieAfter([](Store& store) { return Create(store, "t").ok() && Fill(store, "t", 0, 10).ok(); });
    const auto older = temporary_.path() + "/older";
    std::filesystem::copy(path_ + "/wal", older);
    DieAfter([](Store& store) {
      return Fill(store, "t", 10, 20).ok() && Flush(store, "t").ok() &&
             Fill(store, "t", 20, 30).ok();
    });
    std::filesystem::remove_all(path_ + "/wal");
    std::filesystem::rename(older, path_ + "/wal");
  }
  void ExpectRefusal() {
    const CheckReport report = Check();
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_EQ(report.damage[0].file, "wal");
    EXPECT_NE(report.damage[0].what.find("'tables/1/MANIFEST' was written: it is an older copy"),
              std::string::npos)
        << report.damage[0].what;
    StoreOptions to_read;
    to_read.read_only = true;
    for (const Status& refused : {Open().status(), OpenLocalStore(path_, to_read).status()}) {
      EXPECT_EQ(refused.code(), StatusCode::kCorruption) << refused.ToString();
      for (const char* said : {"older copy", "tables/1/MANIFEST", "check --repair"})
        EXPECT_NE(refused.message().find(said), std::string::npos) << refused.message();
    }
  }
  // What there is goes on, over a crash as well.
  void ExpectGoesOn(int rows) {
    EXPECT_EQ(FirstDamagedFile(), "none");
    DieAfter([&](Store& store) {
      return CountReadable(store, "t", rows) == rows && Read(store, "t", rows) == "none" &&
             Fill(store, "t", rows, rows + 1).ok() && Flush(store, "t").ok() &&
             Fill(store, "t", rows + 1, rows + 2).ok();
    });
    EXPECT_EQ(FirstDamagedFile(), "none");
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t", rows + 2), rows + 2);
  }
};

TEST_F(OlderLogTest, IsFoundAndTheStoreRefused) {
  MakeStoreWithOlderLog();
  const std::string before = Bytes("wal/0000000000000001.log");
  ExpectRefusal();
  EXPECT_EQ(Bytes("wal/0000000000000001.log"), before);
}

TEST_F(OlderLogTest, IsTakenAsItIsByARepair) {
  MakeStoreWithOlderLog();
  for (const RepairMode mode : {RepairMode::kPlan, RepairMode::kAct}) {
    ExpectRefusal();
    const auto repair = RepairLocalStore(path_, mode);
    ASSERT_OK(repair);
    ASSERT_TRUE(repair->log && repair->tables.empty());
    EXPECT_TRUE(repair->log->is_short && !repair->log->is_cut);
    EXPECT_NE(repair->log->damage.find("older copy"), std::string::npos) << repair->log->damage;
  }
  EXPECT_FALSE(RepairLocalStore(path_, RepairMode::kPlan)->log);
  ExpectGoesOn(20);
}

// An end that is cut off is an end that was never synced, but not where a table knows that it was.
TEST_F(OlderLogTest, NeitherIsOneWhoseSyncedEndIsLost) {
  DieAfter([](Store& store) {
    return Create(store, "t").ok() && Create(store, "u").ok() && Fill(store, "u", 0, 2).ok() &&
           Fill(store, "t", 0, 10).ok() && Flush(store, "t").ok();
  });
  std::filesystem::remove(path_ + "/wal/0000000000000002.log");
  const std::string first = "wal/0000000000000001.log";
  Write(first, Bytes(first).substr(0, Bytes(first).size() / 2));
  ExpectRefusal();
}

TEST_F(OlderLogTest, ALogThatARepairHasCutIsNone) {
  DieAfter([](Store& store) {
    return Create(store, "t").ok() && Create(store, "u").ok() && Fill(store, "u", 0, 2).ok() &&
           Fill(store, "t", 0, 10).ok() && Flush(store, "t").ok();
  });
  const std::string first = "wal/0000000000000001.log";
  const std::string whole = Bytes(first);
  WriteFlipped(first, whole, whole.find(RowOf(5)));
  const auto repair = RepairLocalStore(path_, RepairMode::kAct);
  ASSERT_OK(repair);
  ASSERT_TRUE(repair->log);
  EXPECT_TRUE(repair->log->is_cut && !repair->log->is_short);
  for (const std::string& kept : repair->log->kept) std::filesystem::remove(path_ + "/wal/" + kept);
  ExpectGoesOn(10);
}

TEST_F(OlderLogTest, NorIsOneThatWasGivenUp) {
  DieAfter([](Store& store) {
    return Create(store, "t").ok() && Fill(store, "t", 0, 10).ok() && Flush(store, "t").ok();
  });
  std::filesystem::remove_all(path_ + "/wal");
  std::filesystem::create_directory(path_ + "/wal");
  ASSERT_EQ(::chmod((path_ + "/wal").c_str(), 0700), 0);
  Write("wal/0000000000000001.log", "");
  ASSERT_EQ(::chmod((path_ + "/wal/0000000000000001.log").c_str(), 0600), 0);
  ExpectGoesOn(10);
}

TEST_F(CheckTest, AnOlderCopyOfAManifestIsFoundAndNotServed) {
  MakeStore();
  const std::string older = Bytes("tables/1/MANIFEST");
  {
    auto store = Open();
    ASSERT_OK(store);
    ASSERT_OK((*store)->Mutate(Caller::Superuser(), ParseTableName("t"),
                               RowMutations::Of(Delete{.row = RowOf(1)})));
  }
  Write("tables/1/MANIFEST", older);
  EXPECT_EQ(FirstDamagedFile(), "tables/1/MANIFEST");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), 0);
  EXPECT_EQ(CountReadable(**store, "u"), kRows);
}

// The newer file lies beside it, and nothing else says that it was in use.
TEST_F(CheckTest, AnOlderManifestDoesNotTakeNewerFilesWithIt) {
  for (const bool log_is_given_up : {false, true}) {
    SCOPED_TRACE(log_is_given_up);
    std::filesystem::remove_all(path_);
    {
      auto store = Open();
      ASSERT_OK(store);
      ASSERT_OK(Create(**store, "t"));
      ASSERT_OK(Fill(**store, "t", 0, 1));
    }
    const std::string older = Bytes("tables/1/MANIFEST");
    {
      auto store = Open();
      ASSERT_OK(store);
      ASSERT_OK(Fill(**store, "t", 1));
    }
    const std::string newer = Bytes("tables/1/MANIFEST");
    Write("tables/1/MANIFEST", older);
    if (log_is_given_up) {
      std::filesystem::remove_all(path_ + "/wal");
      std::filesystem::create_directory(path_ + "/wal");
      std::filesystem::permissions(path_ + "/wal", std::filesystem::perms::owner_all);
      Write("wal/0000000000000001.log", "");
    }
    EXPECT_EQ(FirstDamagedFile(), "tables/1/MANIFEST");
    {
      auto store = Open();
      ASSERT_OK(store);
      EXPECT_EQ(CountReadable(**store, "t"), 0);
      const Status refused = Fill(**store, "t");
      EXPECT_EQ(refused.code(), StatusCode::kCorruption);
      EXPECT_NE(refused.message().find("is an older copy"), std::string::npos)
          << refused.message();
      EXPECT_NE(refused.message().find("from one backup"), std::string::npos);
    }
    Write("tables/1/MANIFEST", newer);
    EXPECT_EQ(FirstDamagedFile(), "none");
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t"), kRows);
  }
}

// Also one that a table had before a compaction, whose files are there again.
// The note that lists the second file is damaged: by what is left of the log that file is one that a
// flush was about to make.
TEST_F(CheckTest, AFileThatIsInNoLogIsNotLeftOutOfAManifestThatIsMadeAnew) {
  DieAfter([&](Store& store) {
    return Create(store, "t").ok() && Fill(store, "t", 0, 5).ok() && Flush(store, "t").ok() &&
           Fill(store, "t", 5, 10).ok() && Flush(store, "t").ok();
  });
  const std::string segment = "wal/" + PosixFiles().List(path_ + "/wal")->back();
  const std::string whole = Bytes(segment);
  WriteFlipped(segment, whole, whole.size() - 1);
  const std::string manifest = Bytes("tables/1/MANIFEST");
  std::filesystem::remove(path_ + "/tables/1/MANIFEST");
  for (const RepairMode mode : {RepairMode::kPlan, RepairMode::kAct, RepairMode::kAct}) {
    const auto repair = RepairLocalStore(path_, mode);
    ASSERT_OK(repair);
    ASSERT_EQ(repair->tables.size(), 1u);
    EXPECT_NE(repair->tables[0].obstacle.find("2.db has what neither the log"), std::string::npos)
        << repair->tables[0].obstacle;
  }
  Write("tables/1/MANIFEST", manifest);
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t", 10), 10) << "the log was cut, and had nothing else";
}

TEST_F(CheckTest, ADamagedNoteOfTheLogCostsNoRecord) {
  DieAfter([&](Store& store) {
    return Create(store, "t").ok() && Fill(store, "t", 0, 5).ok() && Flush(store, "t").ok() &&
           Fill(store, "t", 5, 10).ok();
  });
  const std::string segment = "wal/" + PosixFiles().List(path_ + "/wal")->back();
  WriteFlipped(segment, Bytes(segment), kSegmentHeaderSize + kRecordHeaderSize + 20);
  const CheckReport report = Check();
  ASSERT_EQ(report.damage.size(), 1u);
  EXPECT_EQ(report.damage[0].file, segment);
  EXPECT_NE(report.damage[0].what.find("no record is lost"), std::string::npos)
      << report.damage[0].what;
  EXPECT_FALSE(Open().ok());
  const auto repair = RepairLocalStore(path_, RepairMode::kAct);
  ASSERT_OK(repair);
  ASSERT_TRUE(repair->log);
  EXPECT_EQ(repair->log->notes.size(), 1u);
  EXPECT_FALSE(repair->log->is_cut);
  EXPECT_EQ(FirstDamagedFile(), "none");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t", 10), 10);
}

TEST_F(CheckTest, AManifestFromBeforeACompactionIsNotTakenEither) {
  {
    auto store = Open();
    ASSERT_OK(store);
    ASSERT_OK(Create(**store, "t"));
    ASSERT_OK(Fill(**store, "t"));
    ASSERT_OK(Flush(**store, "t"));
    ASSERT_OK((*store)->Mutate(Caller::Superuser(), ParseTableName("t"),
                               RowMutations::Of(Delete{.row = RowOf(1)})));
  }
  const std::string copy = temporary_.path() + "/copy";
  std::filesystem::copy(path_ + "/tables/1", copy);
  {
    auto store = Open();
    ASSERT_OK(store);
    ASSERT_OK((*store)->Compact(Caller::Superuser(), ParseTableName("t"), CompactionKind::kMajor));
  }
  std::filesystem::copy(copy, path_ + "/tables/1",
                        std::filesystem::copy_options::recursive |
                            std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(FirstDamagedFile(), "tables/1/MANIFEST");
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), 0);
}

TEST_F(CheckTest, AFileOfAnotherTableOrStoreIsFoundNotServedAndNotChanged) {
  MakeStore();
  const std::string of_other_table = Bytes(StoreFileOf(2));
  const std::string manifest_of_other_table = Bytes("tables/2/MANIFEST");
  const std::string of_other_store = Bytes(StoreFileOf(1));
  const std::string manifest_of_other_store = Bytes("tables/1/MANIFEST");
  std::filesystem::rename(path_, temporary_.path() + "/other");
  MakeStore();
  const std::string file = StoreFileOf(1);
  for (const auto& [place, wrong] : std::vector<std::pair<std::string, std::string>>{
           {file, of_other_table},
           {file, of_other_store},
           {"tables/1/MANIFEST", manifest_of_other_table},
           {"tables/1/MANIFEST", manifest_of_other_store}}) {
    const std::string right = Bytes(place);
    Write(place, wrong);
    EXPECT_EQ(FirstDamagedFile(), place);
    {
      auto store = Open();
      ASSERT_OK(store);
      EXPECT_EQ(CountReadable(**store, "t"), 0);
      EXPECT_EQ(CountReadable(**store, "u"), kRows);
    }
    EXPECT_EQ(Bytes(place), wrong);
    Write(place, right);
    EXPECT_EQ(FirstDamagedFile(), "none");
  }
}

// The newest segment that was listed has a note by the time it is read, and its successor is gone.
TEST_F(CheckTest, ASegmentThatIsEndedWhileTheLogIsReadIsNotMissedBehindIt) {
  auto store = Open();
  ASSERT_OK(store);
  ASSERT_OK(Create(**store, "t"));
  ASSERT_OK(Create(**store, "u"));
  ASSERT_OK(Fill(**store, "u", 0, 1));
  const std::string newest = PosixFiles().List(path_ + "/wal")->back();
  std::string kept;
  BusyFiles files;
  files.BeforeRead(newest, [&] {
    ASSERT_OK(Fill(**store, "t"));
    ASSERT_OK(Flush(**store, "t"));
    kept = Bytes("wal/" + newest);
    ASSERT_OK(Flush(**store, "u"));
    ASSERT_OK(Fill(**store, "t"));
    ASSERT_OK(Flush(**store, "t"));
    Write("wal/" + newest, kept);  // as if it had been opened just before it was cut
    files.AfterRead([&] { std::filesystem::remove(path_ + "/wal/" + newest); });
  });
  const auto report = CheckLocalStore(files, path_);
  ASSERT_OK(report);
  for (const Damage& damage : report->damage) ADD_FAILURE() << damage.file << " " << damage.what;
}

TEST_F(CheckTest, ATableThatIsAlteredOrDroppedMeanwhileIsNotDamaged) {
  auto store = Open();
  ASSERT_OK(store);
  const Caller& root = Caller::Superuser();
  TableSchema two(ParseTableName("t"));
  for (const char* family : {"f", "g"}) two.families.emplace(family, FamilySchema(family));
  TableSchema one = two;
  one.families.erase("g");
  ASSERT_OK((*store)->CreateTable(root, two));
  ASSERT_OK(Create(**store, "u"));
  for (const char* table : {"t", "u"}) {
    ASSERT_OK(Fill(**store, table));
    ASSERT_OK(Flush(**store, table));
  }
  BusyFiles files;
  files.BeforeRead("CATALOG", [&] {
    files.AfterRead([&] {
      ASSERT_OK((*store)->AlterTable(root, one));
      ASSERT_OK((*store)->DisableTable(root, ParseTableName("u")));
      ASSERT_OK((*store)->DropTable(root, ParseTableName("u")));
    });
  });
  const auto report = CheckLocalStore(files, path_);
  ASSERT_OK(report);
  for (const Damage& damage : report->damage) ADD_FAILURE() << damage.file << " " << damage.what;
}

// A compaction and a flush put other files in the place of those that the manifest named.
TEST_F(CheckTest, FilesThatAreReplacedMeanwhileAreNotMissed) {
  auto store = Open();
  ASSERT_OK(store);
  ASSERT_OK(Create(**store, "t"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(Fill(**store, "t", i, i + 5));
    ASSERT_OK(Flush(**store, "t"));
  }
  for (const bool dropped : {false, true}) {
    BusyFiles files;
    files.BeforeRead("tables/1/MANIFEST", [&] {
      files.AfterRead([&] {
        ASSERT_OK(Fill(**store, "t"));
        ASSERT_OK(Flush(**store, "t"));
        ASSERT_OK(
            (*store)->Compact(Caller::Superuser(), ParseTableName("t"), CompactionKind::kMajor));
        if (dropped) {
          ASSERT_OK((*store)->DisableTable(Caller::Superuser(), ParseTableName("t")));
          ASSERT_OK((*store)->DropTable(Caller::Superuser(), ParseTableName("t")));
        }
      });
    });
    const auto report = CheckLocalStore(files, path_);
    ASSERT_OK(report);
    for (const Damage& damage : report->damage) ADD_FAILURE() << damage.file << " " << damage.what;
  }
}

TEST_F(CheckTest, AStoreThatFlushesAndCompactsAllTheTimeHasNoDamage) {
  auto store = Open();
  ASSERT_OK(store);
  ASSERT_OK(Create(**store, "t"));
  ASSERT_OK(Fill(**store, "t"));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; !done; ++i) {
      EXPECT_TRUE(Fill(**store, "t", i % kRows, i % kRows + 3).ok());
      EXPECT_TRUE(Flush(**store, "t").ok());
      if (i % 4 == 3) {
        EXPECT_TRUE((*store)
                        ->Compact(Caller::Superuser(), ParseTableName("t"), CompactionKind::kMajor)
                        .ok());
      }
    }
  });
  for (int i = 0; i < 30; ++i) {
    for (const Damage& damage : Check().damage) ADD_FAILURE() << damage.file << " " << damage.what;
  }
  done = true;
  writer.join();
}

// Also of one that a process left when it died: what it was making belongs to the evidence.
TEST_F(CheckTest, AStoreThatIsNotOpenIsNotChanged) {
  const auto all_files = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      const std::string name = std::filesystem::relative(entry.path(), path_);
      files[name] = entry.is_regular_file() ? Bytes(name) : "";
    }
    return files;
  };
  DieAfter([&](Store& store) {
    return Create(store, "t").ok() && Fill(store, "t", 0, 10).ok() && Flush(store, "t").ok() &&
           Fill(store, "t", 10).ok() && Flush(store, "t").ok();
  });
  Write("tables/1/9.db", "half of what was to be a store file");
  Write("tables/1/MANIFEST.new", "and of a manifest");
  for (const bool was_closed : {false, true}) {
    SCOPED_TRACE(was_closed);
    const auto before = all_files();
    const CheckReport report = Check();
    EXPECT_TRUE(report.damage.empty());
    EXPECT_EQ(report.cells, uint64_t{kRows});
    const auto after = all_files();
    EXPECT_EQ(after.size(), before.size());
    for (const auto& [name, bytes] : before)
      EXPECT_TRUE(after.contains(name) && after.at(name) == bytes) << name;
    ASSERT_OK(Open());  // and closes it
  }
}

class OlderCatalogTest : public CheckTest {
 protected:
  // Two tables, of which the older catalog names the first; the second has cells in its file and
  // others in the log.
  void MakeStores() {
    {
      auto store = Open();
      ASSERT_OK(store);
      ASSERT_OK(Create(**store, "t"));
    }
    older_ = SavedCatalog();
    DieAfter([&](Store& store) {
      return Create(store, "u").ok() && Fill(store, "u", 0, kRows / 2).ok() &&
             Flush(store, "u").ok() && Fill(store, "u", kRows / 2).ok() && Fill(store, "t").ok();
    });
    newer_ = SavedCatalog();
    PutBack(older_);
  }
  std::vector<std::string> Names(const std::string& directory) {
    const auto names = PosixFiles().List(path_ + "/" + directory);
    return names.ok() ? *names : std::vector<std::string>();
  }

  struct CatalogFiles {
    std::string document;
    std::string edits;
  };
  CatalogFiles SavedCatalog() { return {Bytes("CATALOG"), Bytes("EDITS")}; }
  void PutBack(const CatalogFiles& files) {
    Write("CATALOG", files.document);
    Write("EDITS", files.edits);
  }

  CatalogFiles older_;
  CatalogFiles newer_;
};

TEST_F(OlderCatalogTest, TheCheckSaysSoBeforeTheStoreIsOpened) {
  MakeStores();
  const CheckReport report = Check();
  ASSERT_EQ(report.damage.size(), 1u);
  EXPECT_EQ(report.damage[0].file, "CATALOG");
  EXPECT_NE(report.damage[0].what.find("CATALOG is older than table 2"), std::string::npos);
  PutBack(newer_);
  EXPECT_EQ(FirstDamagedFile(), "none");
}

TEST_F(OlderCatalogTest, FamiliesThatItDoesNotNameAreFoundByTheCheckAndStay) {
  for (const bool is_flushed : {true, false}) {
    SCOPED_TRACE(is_flushed);
    const std::string name = is_flushed ? "flushed" : "logged";
    {
      auto store = Open();
      ASSERT_OK(store);
      ASSERT_OK(Create(**store, name));
    }
    const CatalogFiles older = SavedCatalog();
    DieAfter([&](Store& store) {
      if (!store.AddFamily(Caller::Superuser(), {"default", name}, FamilySchema("later")).ok())
        return false;
      const Put put{"r", {{"later", "q", 1, "v", {}}}};
      return store.Mutate(Caller::Superuser(), {"default", name}, RowMutations::Of(put)).ok() &&
             (!is_flushed || Flush(store, name).ok());
    });
    const CatalogFiles newer = SavedCatalog();
    PutBack(older);
    const CheckReport report = Check();
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_EQ(report.damage[0].file, "CATALOG");
    EXPECT_EQ(report.damage[0].family, "later");
    ASSERT_OK(Open());
    PutBack(newer);
    EXPECT_EQ(FirstDamagedFile(), "none");
    auto store = Open();
    ASSERT_OK(store);
    Get get;
    get.row = "r";
    const auto cells = (*store)->Read(Caller::Superuser(), {"default", name}, get);
    ASSERT_OK(cells);
    EXPECT_EQ(cells->size(), 1u);
  }
}

TEST_F(OlderCatalogTest, TablesThatItDoesNotNameAreSetAsideAndComeBackWithTheNewerOne) {
  MakeStores();
  for (int round = 0; round < 2; ++round) {
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "t"), kRows);
    EXPECT_EQ(Read(**store, "u", 1).substr(0, 13), "TableNotFound");
    EXPECT_EQ(Names("lost").at(0), "2");
    EXPECT_EQ((*store)->GetStatistics().lost_tables.size(), 1u);
    EXPECT_EQ(FirstDamagedFile(), "CATALOG");
  }
  PutBack(newer_);
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), kRows);
  EXPECT_EQ(CountReadable(**store, "u"), kRows) << "what was in the log alone is there too";
  EXPECT_TRUE(Names("lost").empty());
}

TEST_F(OlderCatalogTest, AlsoOneWithoutItsManifestAndWithoutItsLog) {
  MakeStores();
  PutBack(newer_);
  ASSERT_OK(Open());  // flushes
  PutBack(older_);
  const std::string manifest = Bytes("tables/2/MANIFEST");
  std::filesystem::remove(path_ + "/tables/2/MANIFEST");
  std::filesystem::remove_all(path_ + "/wal");
  std::filesystem::create_directory(path_ + "/wal");
  std::filesystem::permissions(path_ + "/wal", std::filesystem::perms::owner_all);
  Write("wal/0000000000000001.log", "");
  ASSERT_OK(Open());
  EXPECT_EQ(Names("lost").at(0), "2");
  EXPECT_GT(Names("lost/2").size(), 1u);
  PutBack(newer_);
  {
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(CountReadable(**store, "u"), 0);
  }
  Write("tables/2/MANIFEST", manifest);
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "u"), kRows);
}

TEST_F(OlderCatalogTest, ATableMadeLaterHasNothingOfOneThatWasSetAside) {
  MakeStores();
  for (int round = 0; round < 3; ++round) {
    auto store = Open();
    ASSERT_OK(store);
    if (round == 0) {
      ASSERT_OK(Create(**store, "w"));
      ASSERT_OK(Fill(**store, "w", 0, 3));
    }
    EXPECT_EQ(CountReadable(**store, "w", 3), 3);
    EXPECT_EQ(Read(**store, "w", kRows - 1), "none");
    EXPECT_EQ(Names("lost").at(0), "2");
    EXPECT_EQ(Names("tables").at(0), "1");
    if (round == 2) {
      EXPECT_GT((*store)->GetStatistics().log_bytes, 100000u);
    }
  }
  std::filesystem::remove_all(path_ + "/lost");  // given up
  auto store = Open();
  ASSERT_OK(store);
  EXPECT_EQ(CountReadable(**store, "t"), kRows);
  EXPECT_LT((*store)->GetStatistics().log_bytes, 1000u);
}

TEST_F(CheckTest, WhatIsNoStoreIsRefused) {
  std::filesystem::create_directory(path_);
  Write("letter.txt", "mine");
  EXPECT_EQ(CheckLocalStore(path_).status().code(), StatusCode::kCorruption);
  std::filesystem::remove(path_ + "/letter.txt");
  MakeStore();
  Write("FORMAT", "cellfs store, format 7\n");
  const Status status = CheckLocalStore(path_).status();
  EXPECT_NE(status.message().find("of a newer version"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace cellfs
