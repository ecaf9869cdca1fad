// SPDX-License-Identifier: MIT
//
// A local engine in a directory of its own with one table, and short ways to write and read it.
#ifndef CELLFS_TESTS_ENGINE_LOCAL_ENGINE_FIXTURE_H_
#define CELLFS_TESTS_ENGINE_LOCAL_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog/catalog_json.h"
#include "engine/local/local_engine.h"
#include "tests/support/assert_ok.h"
#include "tests/support/descriptors.h"
#include "tests/support/family_of.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {

inline std::shared_ptr<const TableSchema> TableOf(std::vector<FamilySchema> families) {
  auto schema = std::make_shared<TableSchema>(TableName{.name = "t"});
  for (FamilySchema& family : families) schema->families.emplace(family.name(), family);
  return schema;
}

// As a region writes: it waits for the room that is lacking, and tries again.
inline Status Apply(CellStorage& table, RowBatch batch) {
  std::unique_ptr<WriteRoom> room;
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(Applied applied, table.Apply({&batch, 1}, room.get()));
    if (applied.lacks == nullptr) return {};
    room = std::move(applied.lacks);
    CELLFS_RETURN_IF_ERROR(room->Await());
  }
}

class EngineTest : public testing::Test {
 protected:
  static constexpr TableId kNextId = 100;  // every table that the catalog does not name was dropped

  EngineTest() {
    options_.clock = clock_;
    options_.background_maintenance = false;
  }

  // Opens the engine; the table is made where `made_` does not have it yet.
  void Open() {
    StatusOr<std::unique_ptr<LocalEngine>> engine = LocalEngine::Open(path(), options_, files_);
    ASSERT_OK(engine);
    engine_ = *std::move(engine);
    std::vector<StoredTable> tables;
    if (made_) tables.push_back({1, schema_});
    auto opened = engine_->OpenTables(tables, kNextId);
    ASSERT_OK(opened);
    auto table = made_ ? opened->storages[0] : engine_->CreateTable({1, schema_});
    ASSERT_OK(table);
    table_ = *std::move(table);
    made_ = true;
  }
  void Close() {
    table_.reset();
    engine_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  // Lets a child process open the engine, do its work, and die without closing anything.
  template <typename Work>
  void DieAfter(Work work) {
    Close();
    const pid_t child = fork();
    if (child == 0) {
      Open();
      work();
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    made_ = true;
  }

  std::string path() const { return directory_.path() + "/store"; }
  std::string table_path() const { return path() + "/tables/1"; }
  // What lies there, without the manifest; sorted as text.
  std::vector<std::string> StoreFileNames() const {
    std::vector<std::string> names = *PosixFiles().List(table_path());
    std::erase(names, kManifestFile);
    return names;
  }
  StatusOr<Manifest> ReadManifestOfTable() const {
    CELLFS_ASSIGN_OR_RETURN(const uint64_t store_id, CheckIsStore(PosixFiles(), path()));
    return ReadManifest(PosixFiles(), table_path(), store_id, 1);
  }

  static Cell CellOf(std::string qualifier, Timestamp timestamp, std::string value = "",
                     CellType type = CellType::kPut, std::string family = "f") {
    return {.family = std::move(family),
            .qualifier = std::move(qualifier),
            .timestamp = timestamp,
            .type = type,
            .value = std::move(value)};
  }
  Status Write(const std::string& row, std::vector<Cell> cells,
               std::vector<WithdrawCell> withdrawn = {}) {
    return Apply(*table_,
                 {.row = row, .cells = std::move(cells), .withdrawn = std::move(withdrawn)});
  }
  Status PutOne(const std::string& row, Timestamp timestamp, std::string value,
                std::string qualifier = "q") {
    return Write(row, {CellOf(std::move(qualifier), timestamp, std::move(value))});
  }

  // "r/f:q/5/Put=v r/f:q/4/Delete=", what a scan finds.
  std::string ScanText(Scan scan) {
    auto scanner = table_->OpenScanner(scan);
    if (!scanner.ok()) return scanner.status().ToString();
    std::string text;
    for (;;) {
      auto rows = (*scanner)->Next({.max_rows = 3});
      if (!rows.ok()) return rows.status().ToString();
      if (rows->empty()) return text;
      for (const RowCells& cells : *rows) {
        for (const Cell& cell : cells) text += TextOf(cell);
      }
    }
  }
  static std::string TextOf(const Cell& cell) {
    const std::string type =
        cell.type == CellType::kPut ? "" : "/" + std::string(TypeName(cell.type));
    return cell.row + "/" + cell.family + ":" + cell.qualifier + "/" +
           std::to_string(cell.timestamp) + type + "=" + cell.value + " ";
  }
  // Every stored cell.
  std::string Raw() {
    Scan scan;
    scan.raw = true;
    scan.max_versions = kAllVersions;
    return ScanText(scan);
  }
  std::string Visible(std::shared_ptr<const Moment> moment = nullptr,
                      int32_t versions = kAllVersions) {
    Scan scan;
    scan.max_versions = versions;
    scan.moment = std::move(moment);
    return ScanText(scan);
  }
  // The newest value of a row's column "f:q".
  std::string ValueOf(const std::string& row) {
    Get get;
    get.row = row;
    get.columns["f"] = {"q"};
    auto cells = table_->Read(get, clock_->Now());
    if (!cells.ok()) return cells.status().ToString();
    return cells->empty() ? "(none)" : (*cells)[0].value;
  }

  TemporaryDirectory directory_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1000000);
  StoreOptions options_;
  std::shared_ptr<const TableSchema> schema_ = TableOf({FamilyOf("f", {{"VERSIONS", "3"}})});
  bool made_ = false;
  FaultyFiles files_;
  std::unique_ptr<LocalEngine> engine_;
  std::shared_ptr<CellStorage> table_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_LOCAL_ENGINE_FIXTURE_H_
