// SPDX-License-Identifier: MIT
//
// Writes that go on beside a fault, counted, so that what a table holds afterwards can be told from
// how many of them were acknowledged.
#ifndef CELLFS_TESTS_CRASH_COUNTED_WRITES_H_
#define CELLFS_TESTS_CRASH_COUNTED_WRITES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/store.h"

namespace cellfs {

inline const Caller kCaller = Caller::Superuser();

struct Progress {
  int attempted = 0;     // mutations that may be there
  int acknowledged = 0;  // of them, that survive the process
  int durable = 0;       // of them, that survive power loss
};

// Writes rows of its own: mutation number i puts a value into one column of each family, every
// sixth deletes the column.
struct Writer {
  char name = 'm';
  TableName table;
  std::string families;
  int rows = 7;  // which are written to in turn
  bool is_ascending = false;  // ten mutations a row instead

  std::string RowOf(int i) const {
    return name + std::to_string(is_ascending ? 10 + i / 10 : i % rows);
  }
  static std::string ColumnOf(int i) { return "q" + std::to_string(i % 5); }
  static std::string ValueOf(int i) {
    return std::to_string(i) + std::string(i % 4 == 0 ? 300 : 8, static_cast<char>('a' + i % 26));
  }
  static bool Deletes(int i) { return i % 6 == 5; }

  RowMutations MutationOf(int i, Durability durability) const {
    RowMutations mutations{.row = RowOf(i), .durability = durability};
    for (const char name_of_family : families) {
      const std::string family(1, name_of_family);
      if (Deletes(i)) {
        mutations.mutations.push_back(
            Delete{.row = RowOf(i),
                   .markers = {{CellType::kDeleteColumn, family, ColumnOf(i), i + 1}}});
      } else {
        mutations.mutations.push_back(
            Put{.row = RowOf(i),
                .cells = {{family, ColumnOf(i), i + 1, ValueOf(i), std::nullopt}}});
      }
    }
    return mutations;
  }

  // What its first mutations leave, as text.
  std::string Expected(int count) const {
    std::map<std::string, std::string> cells;
    for (int i = 0; i < count; ++i) {
      for (const char family : families) {
        const std::string place = RowOf(i) + "/" + family + "/" + ColumnOf(i);
        if (Deletes(i)) {
          cells.erase(place);
        } else {
          cells[place] = ValueOf(i);
        }
      }
    }
    std::string text;
    for (const auto& [place, value] : cells) text += place + "=" + value + "\n";
    return text;
  }

  // The next mutation. False: it was refused, and must not be there; the next is the same again.
  bool Write(Store& store, Progress& progress, bool is_durable) const {
    const int i = progress.attempted++;
    const Status status =
        store.Mutate(kCaller, table,
                     MutationOf(i, is_durable ? Durability::kFsyncWal : Durability::kSyncWal))
            .status();
    if (!status.ok()) {
      if (status.code() != StatusCode::kOutcomeUnknown) --progress.attempted;
      return false;
    }
    progress.acknowledged = i + 1;
    if (is_durable) progress.durable = i + 1;
    return true;
  }
};

// By the writer's name.
inline StatusOr<std::map<char, std::string>> Contents(Store& store, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<Scanner> scanner,
                          store.OpenScanner(kCaller, table, Scan()));
  std::map<char, std::string> texts;
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const std::vector<RowCells> rows, scanner->Next({}));
    if (rows.empty()) return texts;
    for (const RowCells& cells : rows) {
      for (const Cell& cell : cells)
        texts[cell.row[0]] +=
            cell.row + "/" + cell.family + "/" + cell.qualifier + "=" + cell.value + "\n";
    }
  }
}

// Empty where some number of mutations explains what is there.
inline std::string Unexplained(Store& store, const Writer& writer, const Progress& progress,
                        bool has_lost_power) {
  auto contents = Contents(store, writer.table);
  if (!contents.ok()) return contents.status().ToString();
  const std::string text = (*contents)[writer.name];
  const int least = has_lost_power ? progress.durable : progress.acknowledged;
  for (int count = progress.attempted; count >= least; --count)
    if (text == writer.Expected(count)) return "";
  return writer.table.ToString() + " is not what " + std::to_string(least) + " to " +
         std::to_string(progress.attempted) + " mutations leave: " + text.substr(0, 300);
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_CRASH_COUNTED_WRITES_H_
