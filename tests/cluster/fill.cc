// SPDX-License-Identifier: MIT
//
// Fills the cluster CELLFS_TEST_CLUSTER with what mounted.py expects to find:
//
//     shop:orders   families d (5 versions, keeps deletes) and n, three regions, 3,000 rows:
//                   r0000 d:note "order 0\n", and in each tenth n:count, its number
//     notes         one row with 500 columns, one with 1,000, one of 3,000,000 bytes, and names
//                   that need escapes
//     rows          10,000 rows of one column
//     cells         5,000 rows of two columns
#include <cstdio>
#include <string>
#include <vector>

#include "engine/big_endian.h"
#include "engine/open.h"
#include "tests/support/test_cluster.h"

namespace cellfs {
namespace {

constexpr int kOrders = 3000;
constexpr int kNotes = 500;
constexpr int kThings = 1000;
constexpr int kRows = 10'000;
const TableName kOrderTable{"shop", "orders"};
const TableName kNoteTable{"default", "notes"};
const TableName kRowTable{"default", "rows"};
const TableName kCellTable{"default", "cells"};

std::string RowOf(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "r%04d", number);
  return text;
}

Put PutOf(const std::string& row, const std::string& family, const std::string& qualifier,
          const std::string& value) {
  return Put{.row = row, .cells = {{family, qualifier, kLatestTimestamp, value, {}}}};
}

Status MakeTables(Store& store, const Caller& caller) {
  CELLFS_RETURN_IF_ERROR(store.CreateNamespace(caller, {.name = "shop"}));
  TableSchema orders(kOrderTable);
  orders.families.emplace("d", FamilySchema("d"));
  orders.families.emplace("n", FamilySchema("n"));
  CELLFS_RETURN_IF_ERROR(orders.families.at("d").Set("VERSIONS", "5"));
  CELLFS_RETURN_IF_ERROR(orders.families.at("d").Set("KEEP_DELETED_CELLS", "TRUE"));
  orders.split_keys = {RowOf(1000), RowOf(2000)};
  CELLFS_RETURN_IF_ERROR(store.CreateTable(caller, orders));
  TableSchema notes(kNoteTable);
  notes.families.emplace("text", FamilySchema("text"));
  CELLFS_RETURN_IF_ERROR(store.CreateTable(caller, notes));
  for (const TableName& name : {kRowTable, kCellTable}) {
    TableSchema schema(name);
    schema.families.emplace("f", FamilySchema("f"));
    CELLFS_RETURN_IF_ERROR(store.CreateTable(caller, schema));
  }
  return {};
}

Status PutAll(Store& store, const Caller& caller, const TableName& table,
              const std::vector<RowMutations>& rows) {
  for (const auto& done : store.Batch(caller, table, rows)) CELLFS_RETURN_IF_ERROR(done.status());
  return {};
}

Status Fill(Store& store) {
  const Caller& caller = Caller::Superuser();
  CELLFS_RETURN_IF_ERROR(MakeTables(store, caller));
  std::vector<RowMutations> orders;
  for (int i = 0; i < kOrders; ++i) {
    orders.push_back(RowMutations::Of(
        PutOf(RowOf(i), "d", "note", "order " + std::to_string(i) + "\n")));
    if (i % 10 != 0) continue;
    std::string number;
    AppendBigEndian(static_cast<uint64_t>(i), number);
    orders.push_back(RowMutations::Of(PutOf(RowOf(i), "n", "count", number)));
  }
  CELLFS_RETURN_IF_ERROR(PutAll(store, caller, kOrderTable, orders));
  for (const char* const text : {"first\n", "second\n"}) {
    CELLFS_RETURN_IF_ERROR(PutAll(store, caller, kOrderTable,
                                  {RowMutations::Of(PutOf(RowOf(1), "d", "note", text))}));
  }
  std::vector<RowMutations> notes;
  for (int i = 0; i < kNotes; ++i) {
    notes.push_back(RowMutations::Of(PutOf("many", "text", "n" + std::to_string(1000 + i),
                                           std::string(static_cast<size_t>(100 + i), 'x'))));
  }
  for (int i = 0; i < kThings; ++i) {
    notes.push_back(RowMutations::Of(PutOf("things", "text", "t" + std::to_string(1000 + i), "t")));
  }
  notes.push_back(RowMutations::Of(PutOf("big", "text", "b", std::string(3'000'000, 'b'))));
  notes.push_back(RowMutations::Of(PutOf(std::string("a/b\0c", 5), "text", "", "odd\n")));
  CELLFS_RETURN_IF_ERROR(PutAll(store, caller, kNoteTable, notes));
  std::vector<RowMutations> rows;
  for (int i = 0; i < kRows; ++i)
    rows.push_back(RowMutations::Of(PutOf("r" + std::to_string(10000 + i), "f", "q", "v")));
  CELLFS_RETURN_IF_ERROR(PutAll(store, caller, kRowTable, rows));
  std::vector<RowMutations> cells;
  for (int i = 0; i < kRows / 2; ++i) {
    for (const char* const column : {"p", "q"})
      cells.push_back(RowMutations::Of(PutOf("r" + std::to_string(10000 + i), "f", column, "v")));
  }
  return PutAll(store, caller, kCellTable, cells);
}

}  // namespace
}  // namespace cellfs

int main() {
  const auto store = cellfs::OpenCluster(cellfs::TestCluster().value());
  const cellfs::Status filled = store.ok() ? cellfs::Fill(**store) : store.status();
  if (!filled.ok()) std::fprintf(stderr, "%s\n", filled.ToString().c_str());
  return filled.ok() ? 0 : 1;
}
