// SPDX-License-Identifier: MIT
#include "fs/reading/deleted_values.h"

#include <algorithm>
#include <set>
#include <span>

#include "fs/reading/raw_pieces.h"

namespace cellfs::fs {
namespace {

// The tombstones of a family in one row.
struct FamilyTombstones {
  Timestamp up_to = -1;         // hide all that is not newer
  std::set<Timestamp> exactly;  // hide what has that timestamp

  void Add(const Cell& cell) {
    if (cell.type == CellType::kDeleteFamily) up_to = std::max(up_to, cell.timestamp);
    if (cell.type == CellType::kDeleteFamilyVersion) exactly.insert(cell.timestamp);
  }
  bool Hide(Timestamp timestamp) const { return timestamp <= up_to || exactly.contains(timestamp); }
};

OutcomeOr<FamilyTombstones> FindFamilyTombstones(const Reading& reading, const Caller& caller,
                                                 const Place& family, LongWork& work) {
  Place empty_column = family.As(PlaceKind::kCell);
  empty_column.qualifier.clear();
  FamilyTombstones found;
  RawColumnPieces pieces(reading, caller, empty_column, work);
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells, pieces.Next());
    if (cells.empty()) return found;
    for (const Cell& cell : cells) found.Add(cell);
  }
}

// Is shown the cells of a column, newest first, until it has seen a put. Tombstones of a timestamp
// come before its put.
class Judge {
 public:
  explicit Judge(const FamilyTombstones& tombstones) : tombstones_(tombstones) {}

  // True once the column is judged.
  bool See(std::span<const Cell> cells) {
    for (const Cell& cell : cells) {
      if (cell.type == CellType::kDeleteColumn) hidden_ = true;
      if (cell.type == CellType::kDelete) deleted_ = cell.timestamp;
      if (cell.type != CellType::kPut) continue;
      const Timestamp put = cell.timestamp;
      if (hidden_ || deleted_ == put || tombstones_.Hide(put)) hidden_put_ = cell;
      return true;
    }
    return false;
  }
  const std::optional<Cell>& hidden_put() const { return hidden_put_; }

 private:
  const FamilyTombstones& tombstones_;
  bool hidden_ = false;
  std::optional<Timestamp> deleted_;
  std::optional<Cell> hidden_put_;
};

OutcomeOr<std::optional<Cell>> HiddenPut(const Reading& reading, const Caller& caller,
                                         const Place& column, const FamilyTombstones& tombstones,
                                         LongWork& work) {
  RawColumnPieces pieces(reading, caller, column, work);
  Judge judge(tombstones);
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells, pieces.Next());
    if (cells.empty() || judge.See(cells)) return judge.hidden_put();
  }
}

// The hidden puts of a piece of a row's raw cells. Where it is cut short in a column of which it
// has no put, the rest of that is read.
OutcomeOr<RowCells> HiddenPuts(const Reading& reading, const Caller& caller, const Place& family,
                               const FamilyTombstones& tombstones,
                               std::span<const Cell> piece, LongWork& work) {
  RowCells hidden;
  for (auto begin = piece.begin(); begin != piece.end();) {
    const auto end = std::find_if(
        begin, piece.end(), [&](const Cell& cell) { return cell.qualifier != begin->qualifier; });
    Judge judge(tombstones);
    const bool judged = judge.See({begin, end});
    std::optional<Cell> put = judge.hidden_put();
    if (!judged && end == piece.end() && piece.size() == kRawPiece) {
      Place column = family.As(PlaceKind::kCell);
      column.qualifier = begin->qualifier;
      CELLFS_ASSIGN_OR_RETURN(put, HiddenPut(reading, caller, column, tombstones, work));
    }
    if (put) hidden.push_back(*std::move(put));
    begin = end;
  }
  return hidden;
}

// An older version may be seen where the newest is hidden.
Outcome LeaveOutVisible(const Reading& reading, const Caller& caller, const Place& family,
                        RowCells& cells) {
  if (cells.empty()) return {};
  Get get = GetOf(family, ReadDetail::kLengths);
  std::set<std::string>& columns = get.columns[family.family];
  for (const Cell& cell : cells) columns.insert(cell.qualifier);
  CELLFS_ASSIGN_OR_RETURN(const RowCells shown, reading.Read(caller, family.table, get));
  std::set<std::string_view> visible;
  for (const Cell& cell : shown) visible.insert(cell.qualifier);
  std::erase_if(cells, [&](const Cell& cell) { return visible.contains(cell.qualifier); });
  return {};
}

// Where all that the row has fits into a piece, as most rows do; nullopt: it does not.
OutcomeOr<std::optional<RowCells>> FirstDeletedOfShortRow(const Reading& reading,
                                                          const Caller& caller, const Place& row) {
  LongWork work(reading.scan_slots(), LongWork::Kind::kMayBeShort);
  CELLFS_RETURN_IF_FAILED(work.Step());
  CELLFS_ASSIGN_OR_RETURN(const RowCells piece, RawCellsAfter(reading, caller, row, std::nullopt));
  if (piece.size() >= kRawPiece) return std::optional<RowCells>();
  RowCells first;
  for (auto begin = piece.begin(); begin != piece.end();) {
    const auto end = std::find_if(
        begin, piece.end(), [&](const Cell& cell) { return cell.family != begin->family; });
    FamilyTombstones tombstones;
    for (const Cell& cell : std::span(begin, end)) tombstones.Add(cell);
    Place family = row.As(PlaceKind::kFamily);
    family.family = begin->family;
    CELLFS_ASSIGN_OR_RETURN(
        RowCells hidden, HiddenPuts(reading, caller, family, tombstones, {begin, end}, work));
    CELLFS_RETURN_IF_FAILED(LeaveOutVisible(reading, caller, family, hidden));
    if (!hidden.empty()) first.push_back(std::move(hidden.front()));
    begin = end;
  }
  return std::optional(std::move(first));
}

}  // namespace

OutcomeOr<RowCells> FirstDeletedOfFamilies(const Reading& reading, const Caller& caller,
                                           const Place& row) {
  CELLFS_ASSIGN_OR_RETURN(auto of_short_row, FirstDeletedOfShortRow(reading, caller, row));
  if (of_short_row) return *std::move(of_short_row);
  CELLFS_ASSIGN_OR_RETURN(const auto schema, reading.DescribeTable(row));
  RowCells first;
  for (const auto& [name, declared] : schema->families) {
    Place family = row.As(PlaceKind::kFamily);
    family.family = name;
    CELLFS_ASSIGN_OR_RETURN(DeletedValues values,
                            DeletedValuesAfter(reading, caller, family, std::nullopt));
    if (!values.cells.empty()) first.push_back(std::move(values.cells.front()));
  }
  return first;
}

OutcomeOr<std::optional<Cell>> FirstDeletedValue(const Reading& reading, const Caller& caller,
                                                 const Place& row_or_family) {
  RowCells cells;
  if (row_or_family.family.empty()) {
    CELLFS_ASSIGN_OR_RETURN(cells, FirstDeletedOfFamilies(reading, caller, row_or_family));
  } else {
    CELLFS_ASSIGN_OR_RETURN(DeletedValues values,
                            DeletedValuesAfter(reading, caller, row_or_family, std::nullopt));
    cells = std::move(values.cells);
  }
  if (cells.empty()) return std::optional<Cell>();
  return std::optional(std::move(cells.front()));
}

OutcomeOr<std::optional<Cell>> DeletedValue(const Reading& reading, const Caller& caller,
                                            const Place& column, ReadDetail detail) {
  CELLFS_ASSIGN_OR_RETURN(
      const auto visible,
      ReadColumn(reading, caller, column.As(PlaceKind::kCell), ReadDetail::kLengths));
  if (visible) return std::optional<Cell>();
  LongWork work(reading.scan_slots(), LongWork::Kind::kMayBeShort);
  CELLFS_ASSIGN_OR_RETURN(const auto tombstones,
                          FindFamilyTombstones(reading, caller, column, work));
  CELLFS_ASSIGN_OR_RETURN(auto put, HiddenPut(reading, caller, column, tombstones, work));
  if (!put || detail == ReadDetail::kLengths) return put;
  return RawPut(reading, caller, column, put->timestamp);
}

OutcomeOr<DeletedValues> DeletedValuesAfter(const Reading& reading, const Caller& caller,
                                            const Place& family, std::optional<std::string> after) {
  const Place place = family.As(PlaceKind::kFamily);
  LongWork work(reading.scan_slots(), LongWork::Kind::kMayBeShort);
  CELLFS_ASSIGN_OR_RETURN(const auto tombstones,
                          FindFamilyTombstones(reading, caller, place, work));
  DeletedValues found;
  while (true) {
    CELLFS_RETURN_IF_FAILED(work.Step());
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece, RawCellsAfter(reading, caller, place, after));
    CELLFS_ASSIGN_OR_RETURN(found.cells,
                            HiddenPuts(reading, caller, place, tombstones, piece, work));
    CELLFS_RETURN_IF_FAILED(LeaveOutVisible(reading, caller, place, found.cells));
    if (piece.size() < kRawPiece) return found;
    after = piece.back().qualifier;
    if (found.cells.empty()) continue;
    found.end = after;
    return found;
  }
}

}  // namespace cellfs::fs
