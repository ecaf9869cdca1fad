// SPDX-License-Identifier: MIT
//
// The unit of HBase's data model. A cell is (row, family, qualifier, timestamp, type) -> value:
//
//     row "com.cnn.www"  family "anchor"  qualifier "cnnsi.com"  timestamp 9  Put  ->  "CNN"
//
// Rows, families, qualifiers and values are bytes; the qualifier may be empty, and so may the
// value. Stored cells are ordered as HBase's CellComparatorImpl orders them: row, family, qualifier
// ascending (unsigned bytes, a prefix before its extensions), then timestamp, type code and
// sequence id DESCENDING. So the newest version of a column comes first, and at one timestamp a
// tombstone comes before the puts it may hide. Family tombstones have an empty qualifier and lie
// before every other column of their family.
#ifndef CELLFS_ENGINE_CELL_H_
#define CELLFS_ENGINE_CELL_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace cellfs {

// Milliseconds since 1970 UTC, unless the writer means something else by it. Never negative.
using Timestamp = int64_t;

// As the timestamp of a write: "the server's clock". HBase's LATEST_TIMESTAMP. Never stored.
inline constexpr Timestamp kLatestTimestamp = std::numeric_limits<int64_t>::max();

// Given to a mutation by the store; grows with every mutation; shared by all cells of one mutation.
using SequenceId = uint64_t;
inline constexpr SequenceId kMaxSequenceId = std::numeric_limits<int64_t>::max();

inline constexpr int64_t kNoCellTtl = -1;

// HBase's KeyValue.Type with its codes.
enum class CellType : uint8_t {
  kPut = 4,
  kDelete = 8,                // hides the puts of the column at exactly its timestamp
  kDeleteFamilyVersion = 10,  // hides the puts of the family at exactly its timestamp
  kDeleteColumn = 12,         // hides the puts of the column at or before its timestamp
  kDeleteFamily = 14,         // hides the puts of the family at or before its timestamp
};

inline bool IsTombstone(CellType type) { return type != CellType::kPut; }
inline bool IsFamilyTombstone(CellType type) {
  return type == CellType::kDeleteFamily || type == CellType::kDeleteFamilyVersion;
}
std::string_view TypeName(CellType type);  // "Put", "DeleteColumn", ...

// A cell that owns its bytes: what reads return.
struct Cell {
  std::string row;
  std::string family;
  std::string qualifier;
  Timestamp timestamp = 0;
  CellType type = CellType::kPut;
  SequenceId sequence_id = 0;
  int64_t time_to_live = kNoCellTtl;  // milliseconds after `timestamp`
  std::string value;
  uint64_t value_length = 0;  // of the stored value, also where a read asked for lengths only

  friend bool operator==(const Cell&, const Cell&) = default;
};

// A cell whose bytes belong to somebody else; who gives one out says until when it is good.
struct CellView {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  Timestamp timestamp = 0;
  CellType type = CellType::kPut;
  SequenceId sequence_id = 0;
  int64_t time_to_live = kNoCellTtl;
  std::string_view value;
  uint64_t value_length = 0;
};

// About how much memory it takes.
inline size_t HeldBytes(const Cell& cell) {
  return sizeof(Cell) + cell.row.size() + cell.qualifier.size() + cell.value.size();
}

CellView ViewOf(const Cell& cell);
Cell CopyOf(const CellView& view);

// The order above, over whole keys. The value plays no part.
std::strong_ordering CompareCells(const CellView& a, const CellView& b);

// The same without rows and families: of two cells of one row and family. Here, for a search among
// many cells does little else.
inline std::strong_ordering CompareInFamily(const CellView& a, const CellView& b) {
  // string_view compares by char_traits<char>, which is unsigned: exactly HBase's byte order.
  if (auto order = a.qualifier <=> b.qualifier; order != 0) return order;
  if (auto order = b.timestamp <=> a.timestamp; order != 0) return order;
  if (auto order = b.type <=> a.type; order != 0) return order;
  return b.sequence_id <=> a.sequence_id;
}

// The smallest row after `row`: the row with a zero byte appended.
std::string RowAfter(std::string_view row);

// The first row after all rows that start with `prefix`; empty where there is none (no bound).
std::string RowAfterPrefix(std::string_view prefix);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CELL_H_
