// SPDX-License-Identifier: MIT
#include "fs/store/stored_step.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fs/store/raw_cells.h"

namespace cellfs::fs {
namespace {

struct Sought {
  const std::string* family = nullptr;
  const std::string* qualifier = nullptr;
  Timestamp timestamp = kLatestTimestamp;
  CellType type = CellType::kPut;
  const std::string* value = nullptr;  // of a put
};

// False: some of it could be told from nothing else.
bool AddSought(const Mutation& mutation, std::vector<Sought>& sought) {
  if (const auto* put = std::get_if<Put>(&mutation)) {
    for (const PutCell& cell : put->cells) {
      sought.push_back(
          {&cell.family, &cell.qualifier, cell.timestamp, CellType::kPut, &cell.value});
    }
    return true;
  }
  const auto* deletion = std::get_if<Delete>(&mutation);
  if (deletion == nullptr || deletion->markers.empty()) return false;
  for (const DeleteMarker& marker : deletion->markers) {
    sought.push_back({&marker.family, &marker.qualifier, marker.timestamp, marker.type});
  }
  return true;
}

StatusOr<bool> Lies(Store& store, const TableName& table, const std::string& row,
                    const Sought& sought) {
  RawCellsQuery query{table, row, *sought.family};
  query.lengths_only = false;
  query.times = {sought.timestamp, sought.timestamp + 1};
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, RawCellsOfColumn(store, Caller::Superuser(), query,
                                                                 *sought.qualifier));
  return std::ranges::any_of(cells, [&](const Cell& cell) {
    return cell.type == sought.type && cell.qualifier == *sought.qualifier &&
           cell.timestamp == sought.timestamp &&
           (sought.value == nullptr || cell.value == *sought.value);
  });
}

}  // namespace

StatusOr<std::optional<MutationResult>> FindStored(Store& store, const TableName& table,
                                                   const RowMutations& step) {
  std::vector<Sought> sought;
  const bool is_known = std::ranges::all_of(
      step.mutations, [&](const Mutation& mutation) { return AddSought(mutation, sought); });
  MutationResult result;
  if (!is_known) return std::optional<MutationResult>();
  for (const Sought& cell : sought) {
    if (cell.timestamp == kLatestTimestamp) return std::optional<MutationResult>();
    CELLFS_ASSIGN_OR_RETURN(const bool lies, Lies(store, table, step.row, cell));
    if (!lies) return std::optional<MutationResult>();
    result.timestamps.push_back(cell.timestamp);
  }
  return std::optional(std::move(result));
}

}  // namespace cellfs::fs
