// SPDX-License-Identifier: MIT
//
// CellCursor: the stored cells of one family of one table, in cell order, as a memstore, a store
// file or a merge of several gives them. It hides nothing: tombstones, hidden and expired cells all
// come.
#ifndef CELLFS_ENGINE_VISIBILITY_CELL_CURSOR_H_
#define CELLFS_ENGINE_VISIBILITY_CELL_CURSOR_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cell.h"
#include "engine/status_or.h"
#include "engine/visibility/wanted_columns.h"

namespace cellfs {

// A place in a family's order: before all cells of the column whose timestamp is <= `timestamp`.
// {row} alone is the row's begin; {row, qualifier} the column's.
struct CellPlace {
  std::string_view row;
  std::string_view qualifier = {};
  Timestamp timestamp = kLatestTimestamp;
};

inline bool IsBefore(const CellView& cell, const CellPlace& place) {
  if (const int order = cell.row.compare(place.row); order != 0) return order < 0;
  if (const int order = cell.qualifier.compare(place.qualifier); order != 0) return order < 0;
  return cell.timestamp > place.timestamp;
}

// The order of a cursor's cells: rows, and the order inside a family. Cursors may leave `family`
// out.
inline bool IsBefore(const CellView& a, const CellView& b) {
  if (const int order = a.row.compare(b.row); order != 0) return order < 0;
  return CompareInFamily(a, b) < 0;
}

// Not thread-safe. After an error a cursor is not used again.
class CellCursor {
 public:
  virtual ~CellCursor() = default;

  // Stands at the first cell at or after `place`; moves both ways.
  virtual Status Seek(const CellPlace& place) = 0;
  // Stands at the begin of the largest row before `row` that has a cell; invalid if there is none.
  // An empty `row` means "after every row".
  virtual Status SeekToRowBefore(std::string_view row) = 0;
  // REQUIRES: valid().
  virtual Status Next() = 0;

  virtual bool valid() const = 0;
  // REQUIRES: valid(). Good until the cursor moves. Where the cursor was opened for lengths only,
  // `value` is empty and value_length right. `family` may be empty.
  virtual const CellView& cell() const = 0;

  // Brings in the value of cell(), which is empty until then where the cursor keeps long values
  // apart (a store file): most cells are only passed by. REQUIRES: valid().
  virtual Status LoadValue() { return {}; }
  // Puts the value, which LoadValue has brought in, into `value`; a long one is handed over instead
  // of copied, and cell() has it no more. REQUIRES: valid().
  virtual void TakeValue(std::string* value) { value->assign(cell().value); }

  // False: the row has no family tombstones, so that its begin need not be looked at. Moves
  // nothing.
  virtual StatusOr<bool> MayHaveFamilyTombstones(std::string_view /*row*/) { return true; }

  // No cell of the cursor, withdrawal markers among them, has a greater timestamp. The same for as
  // long as the cursor lives. A merge spares a cursor the seeks that newer ones answer.
  virtual Timestamp newest() const { return kLatestTimestamp; }
};

// What a reader is after; outlives the cursor.
struct CursorScope {
  std::string_view row;
  WantedColumns columns = {};  // of the row
};

// The cells of several cursors as one ordered stream. Of cells that withdraw others
// (kWithdrawMarker) and of those withdrawn, nothing is seen; with a scope they are passed by at
// once where they lie outside, and the stream may end behind it, for a row may have thousands of
// them (temporaries). After a Seek that names a qualifier, a cursor is really sought only once the
// stream comes to its newest(). Keeps the cursors.
std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> cursors,
                                         const std::optional<CursorScope>& scope = std::nullopt);
// The same of every cell, also of what withdraws and is withdrawn: for a rewrite.
std::unique_ptr<CellCursor> MergeAllCells(std::vector<std::unique_ptr<CellCursor>> cursors);

// A withdrawal is stored as a cell of this type: it sorts before everything of its column and
// timestamp, and its one-byte value is the CellType it takes back (withdrawals.h has the rule).
inline constexpr CellType kWithdrawMarker = static_cast<CellType>(255);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_CELL_CURSOR_H_
