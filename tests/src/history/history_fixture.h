// SPDX-License-Identifier: MIT
//
// A store with a clock that stands still, and short ways to write and to say what history tells.
#ifndef CELLFS_TESTS_SRC_HISTORY_HISTORY_FIXTURE_H_
#define CELLFS_TESTS_SRC_HISTORY_HISTORY_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/open.h"
#include "src/history/log.h"
#include "src/history/states.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {

enum class StoreKind { kMemory, kLocal };

inline std::string NameOf(const testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::kMemory ? "Memory" : "Local";
}

using FamilyText = std::vector<std::pair<std::string, std::string>>;

// "q@5=v", "f:q@5/DeleteColumn" and the like; the row where it is not "r".
inline std::string TextOf(const Cell& cell) {
  std::string text = cell.row == "r" ? "" : cell.row + "/";
  text += cell.family == "f" ? cell.qualifier : cell.family + ":" + cell.qualifier;
  text += "@" + std::to_string(cell.timestamp);
  if (cell.type != CellType::kPut) return text + "/" + std::string(TypeName(cell.type));
  return text + "=" + (cell.value.empty() ? "#" + std::to_string(cell.value_length) : cell.value);
}

// A store with table "t", which has been there ever since.
class HistoryStore {
 public:
  explicit HistoryStore(StoreKind kind, FamilyText family = {{"VERSIONS", "100"},
                                                             {"KEEP_DELETED_CELLS", "TRUE"}}) {
    StoreOptions options;
    options.clock = clock;
    options.background_maintenance = false;
    if (kind == StoreKind::kMemory) {
      store = OpenMemoryStore(options);
    } else {
      auto opened = OpenLocalStore(directory_.path() + "/store", options);
      EXPECT_TRUE(opened.ok()) << opened.status().ToString();
      store = *std::move(opened);
    }
    Ok(store->CreateTable(Caller::Superuser(), SchemaOf(family)));
    clock->Set(1000000);
  }
  void Alter(const FamilyText& family) {
    Ok(store->AlterTable(Caller::Superuser(), SchemaOf(family)));
  }
  TableSchema SchemaOf(const FamilyText& family) const {
    TableSchema schema(table);
    for (const char* const name : {"f", "g"}) {
      FamilySchema declared(name);
      for (const auto& [attribute, value] : family)
        EXPECT_TRUE(declared.Set(attribute, value).ok()) << attribute;
      schema.families.emplace(name, std::move(declared));
    }
    return schema;
  }

  static void Ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.ToString(); }

  void PutAt(Timestamp timestamp, std::string qualifier, std::string value, std::string row = "r",
             std::string family = "f") {
    Put put{.row = std::move(row)};
    put.cells.push_back({std::move(family), std::move(qualifier), timestamp, std::move(value)});
    Do(std::move(put));
  }
  void DeleteAt(Timestamp timestamp, CellType type, std::string qualifier = "",
                std::string row = "r", std::string family = "f") {
    Delete deletion{.row = std::move(row)};
    deletion.markers.push_back({type, std::move(family), std::move(qualifier), timestamp});
    Do(std::move(deletion));
  }
  void Do(Mutation mutation) {
    Ok(store->Mutate(Caller::Superuser(), table, RowMutations::Of(std::move(mutation))).status());
  }
  void Flush() { Ok(store->Flush(Caller::Superuser(), table)); }
  void Compact() { Ok(store->Compact(Caller::Superuser(), table, CompactionKind::kMajor)); }

  HistoryAccess Access() { return {*store, Caller::Superuser(), *clock}; }
  Scope Table() const { return {.table = table}; }
  Scope Row(std::string row = "r") const { return {.table = table, .row = std::move(row)}; }
  Scope Column(std::string qualifier, std::string row = "r") const {
    return {table, std::move(row), "f", std::move(qualifier)};
  }

  std::string LogText(const Scope& scope, LogOptions options = {}) {
    options.detail = ValueDetail::kValues;
    std::string text;
    const HistoryAccess access = Access();
    Ok(ReadLog(access, scope, options, [&](Event&& event) {
      text += TextOf(event.cell);
      if (event.before) text += "(" + TextOf(*event.before) + ")";
      text += " ";
      return true;
    }));
    return text;
  }
  std::string StateText(const Scope& scope, HistoryTime time) {
    std::string text;
    const HistoryAccess access = Access();
    Ok(ReadState(access, scope, time, ValueDetail::kValues, [&](Cell&& cell) {
      text += TextOf(cell) + " ";
      return true;
    }));
    return text;
  }
  std::string DifferencesText(const Scope& scope, HistoryTime before, HistoryTime after) {
    std::string text;
    const HistoryAccess access = Access();
    Ok(ReadDifferences(access, scope, before, after, ValueDetail::kValues, [&](Change&& change) {
      text += change.before ? "-" + TextOf(*change.before) : "";
      text += change.after ? "+" + TextOf(*change.after) : "";
      text += " ";
      return true;
    }));
    return text;
  }
  // Store files that were read, and are open still.
  int OpenFiles() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
      if (target.starts_with(directory_.path()) && target.ends_with(".db")) ++count;
    }
    return count;
  }
  // What a scan shows.
  std::string Visible() {
    Scan scan;
    auto scanner = store->OpenScanner(Caller::Superuser(), table, scan);
    Ok(scanner.status());
    std::string text;
    while (true) {
      auto rows = (*scanner)->Next({});
      Ok(rows.status());
      if (!rows.ok() || rows->empty()) return text;
      for (const RowCells& cells : *rows)
        for (const Cell& cell : cells) text += TextOf(cell) + " ";
    }
  }

  TableName table{.name = "t"};
  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(0);

 private:
  TemporaryDirectory directory_;

 public:
  std::unique_ptr<ControlledStore> store;
};

class HistoryTest : public testing::TestWithParam<StoreKind> {};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SRC_HISTORY_HISTORY_FIXTURE_H_
