// SPDX-License-Identifier: MIT
//
// The smallest read that obeys a filter: rows and cells from memory, one version or more, hints
// followed, families read one after the other.
#ifndef CELLFS_TESTS_ENGINE_FILTER_FILTER_READER_H_
#define CELLFS_TESTS_ENGINE_FILTER_FILTER_READER_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/filters.h"

namespace cellfs {

inline Cell MakeCell(std::string row, std::string family, std::string qualifier,
                     Timestamp timestamp, std::string value) {
  Cell cell{std::move(row), std::move(family), std::move(qualifier), timestamp};
  cell.value = std::move(value);
  cell.value_length = cell.value.size();
  return cell;
}

// "row/family:qualifier@timestamp=value"
inline std::string Shown(const Cell& cell) {
  return cell.row + "/" + cell.family + ":" + cell.qualifier + "@" +
         std::to_string(cell.timestamp) + "=" + cell.value;
}

// Where `table` goes on after the answer `code` to table[at].
inline size_t NextIndex(Filter& filter, const std::vector<Cell>& table, size_t at,
                        FilterReturn code) {
  const Cell& cell = table[at];
  const auto hint = code == FilterReturn::kSeekNextUsingHint ? filter.GetNextCellHint(ViewOf(cell))
                                                             : std::nullopt;
  const auto is_left = [&](const Cell& other) {
    if (other.row != cell.row || other.family != cell.family) return false;
    if (hint) {
      return other.qualifier < hint->qualifier ||
             (other.qualifier == hint->qualifier && other.timestamp > hint->timestamp);
    }
    if (code == FilterReturn::kNextRow || code == FilterReturn::kIncludeAndSeekNextRow) return true;
    return (code == FilterReturn::kNextColumn || code == FilterReturn::kIncludeAndNextColumn) &&
           other.qualifier == cell.qualifier;
  };
  ++at;
  while (at < table.size() && is_left(table[at])) ++at;
  return at;
}

// What a filter lets through of `table`, which is in the order of the scan.
inline std::vector<std::string> ReadThrough(const FilterOr& prototype,
                                            const std::vector<Cell>& table, bool reversed = false) {
  if (!prototype.ok()) return {prototype.status().ToString()};
  const std::unique_ptr<Filter> filter = (*prototype)->Clone();
  filter->SetReversed(reversed);
  std::vector<std::string> shown;
  for (size_t at = 0; at < table.size();) {
    if (filter->FilterAllRemaining()) break;
    const std::string& row = table[at].row;
    const auto end = static_cast<size_t>(
        std::find_if(table.begin() + static_cast<std::ptrdiff_t>(at), table.end(),
                     [&](const Cell& cell) { return cell.row != row; }) -
        table.begin());
    filter->Reset();
    std::vector<Cell> cells;
    bool out = filter->FilterRowKey(row);
    while (!out && at < end) {
      const FilterReturn code = filter->FilterCell(ViewOf(table[at]));
      if (code == FilterReturn::kInclude || code == FilterReturn::kIncludeAndNextColumn ||
          code == FilterReturn::kIncludeAndSeekNextRow) {
        cells.push_back(table[at]);
        filter->TransformCell(cells.back());
      }
      at = NextIndex(*filter, table, at, code);
    }
    if (!out && filter->HasFilterRow()) filter->FilterRowCells(cells);
    out = out || ((filter->HasFilterRow() || !cells.empty()) && filter->FilterRow());
    for (const Cell& cell : cells) {
      if (!out) shown.push_back(Shown(cell));
    }
    at = end;
  }
  return shown;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_FILTER_FILTER_READER_H_
