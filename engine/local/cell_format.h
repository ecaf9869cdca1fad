// SPDX-License-Identifier: MIT
//
// How a cell lies in a store file: the SQL of a family's tables, and the checksums that are kept
// with cells and values. docs/storage.md, "The store file", explains every column.
#ifndef CELLFS_ENGINE_LOCAL_CELL_FORMAT_H_
#define CELLFS_ENGINE_LOCAL_CELL_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/local/compression.h"

namespace cellfs {

// "table$cf", "table$cf$values", "table$cf$tombstones". SQLite does not tell upper from lower case
// in names, families do: bytes other than lower-case letters, digits, '_', '-' and '.' are written
// %xx.
std::string CellTableName(std::string_view family);
std::string ValueTableName(std::string_view family);
std::string TombstoneIndexName(std::string_view family);

// The statements that make them, where they are missing.
std::string CreateFamilySql(std::string_view family);
// The statements that remove a family's tables, given the name of its cell table.
std::string DropFamilySql(std::string_view cell_table);

// A cell as a row of the cell table has it. No reference: `packed` lies in the row itself.
struct StoredCell {
  CellView cell;  // without its value
  PackedValue packed;
  int64_t reference = 0;  // of a row of the value table; 0: none
};

// Over everything that the row holds.
int32_t ChecksumOf(const StoredCell& stored);
// Of a row of the value table.
int32_t ChecksumOfValue(std::string_view bytes, int64_t reference);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_CELL_FORMAT_H_
