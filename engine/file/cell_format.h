// SPDX-License-Identifier: MIT
//
// How a cell lies in a store file: the tables. docs/storage.md, "The store file", explains every
// column.
#ifndef CELLFS_ENGINE_FILE_CELL_FORMAT_H_
#define CELLFS_ENGINE_FILE_CELL_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/file/compression.h"

namespace cellfs {

inline constexpr int64_t kStoreFileApplicationId = 0x63656c6c;  // "cell"
inline constexpr int64_t kStoreFileFormat = 5;
// Up to this one a cell has its length and a checksum before its value.
inline constexpr int64_t kLastFormatOfCheckedCells = 4;
// The facts of format 2 are fewer; format 3 has no hidden cells.
inline constexpr int64_t kOldestStoreFileFormat = 2;

// A file has its cells in two tables, so that most reads need not pass over what is deleted and
// kept: hidden_cells.h says which are told to be hidden.
enum class CellSet { kShown, kHidden };
inline constexpr CellSet kCellSets[] = {CellSet::kShown, CellSet::kHidden};
inline const char* TableOf(CellSet set) { return set == CellSet::kShown ? "cells" : "hidden"; }
inline const char* TombstonesOf(CellSet set) {
  return set == CellSet::kShown ? "tombstones" : "hidden_tombstones";
}

// Makes the tables of an empty file.
std::string StoreFileSchema();

// Y is the type's code, negated. A withdrawal sorts before all types, and is told from another one
// of the same mutation by the type that it takes back.
inline int64_t YOfWithdrawal(int64_t withdrawn_type) { return -256 - withdrawn_type; }
inline bool IsYOfWithdrawal(int64_t y) { return y < -255; }
inline int64_t WithdrawnTypeOf(int64_t y) { return -256 - y; }

// A cell as a row of the table `cells` has it. No reference: `packed` lies in the row itself.
struct StoredCell {
  CellView cell;  // without its value
  PackedValue packed;
  int64_t reference = 0;  // of a row of the table `long_values`; 0: none
};

// What a cell may take of a store file at most, indexes and filter included, whatever lies beside
// it; tests hold it against files. The key is row and qualifier, the value not compressed. Beside
// its cells a file has kBytesOfEmptyFile.
uint64_t MostBytesInFile(CellType type, uint64_t key_length, uint64_t value_length,
                         uint64_t inline_value_limit);
inline constexpr uint64_t kBytesOfEmptyFile = uint64_t{40} << 10;

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_CELL_FORMAT_H_
