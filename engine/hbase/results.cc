// SPDX-License-Identifier: MIT
#include "engine/hbase/results.h"

#include <hbase.pb.h>

#include "engine/hbase/cell_block.h"

namespace cellfs::hbase {
namespace {

Status DoNotAgree() {
  return {StatusCode::kIoError, "the server sent another number of cells than it says"};
}

StatusOr<RowCells> Take(CellBlockReader& block, uint64_t count) {
  RowCells cells;
  for (; count > 0; --count) {
    if (block.at_end()) return DoNotAgree();
    CELLFS_ASSIGN_OR_RETURN(Cell cell, block.Next());
    cells.push_back(std::move(cell));
  }
  return cells;
}

StatusOr<Cell> CellOf(const pb::Cell& message) {
  Cell cell{.row = message.row(),
            .family = message.family(),
            .qualifier = message.qualifier(),
            .timestamp = static_cast<Timestamp>(message.timestamp()),
            .type = static_cast<CellType>(message.cell_type()),
            .value = message.value(),
            .value_length = message.value().size()};
  if (!message.tags().empty()) {
    CELLFS_ASSIGN_OR_RETURN(cell.time_to_live, TimeToLiveOf(message.tags()));
  }
  return cell;
}

StatusOr<RowCells> CellsIn(const pb::Result& result, CellBlockReader& block) {
  CELLFS_ASSIGN_OR_RETURN(
      RowCells cells,
      Take(block, static_cast<uint64_t>(std::max(result.associated_cell_count(), 0))));
  for (const pb::Cell& message : result.cell()) {
    CELLFS_ASSIGN_OR_RETURN(Cell cell, CellOf(message));
    cells.push_back(std::move(cell));
  }
  return cells;
}

// In an answer about several things: the class, and its stack trace.
RemoteException ExceptionIn(const pb::NameBytesPair& message) {
  return {.class_name = message.name(), .message = MessageIn(message.value(), message.name())};
}

}  // namespace

StatusOr<RowCells> CellsOf(const pb::Result& result, const Answer& answer) {
  CellBlockReader block(answer.cells());
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, CellsIn(result, block));
  if (!block.at_end()) return DoNotAgree();
  return cells;
}

StatusOr<std::vector<RowPiece>> RowsOf(const pb::ScanResponse& response, const Answer& answer) {
  CellBlockReader block(answer.cells());
  std::vector<RowPiece> rows;
  for (int i = 0; i < response.cells_per_result_size(); ++i) {
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, Take(block, response.cells_per_result(i)));
    const bool goes_on =
        i < response.partial_flag_per_result_size() && response.partial_flag_per_result(i);
    rows.push_back({std::move(cells), goes_on});
  }
  for (const pb::Result& result : response.results()) {
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, CellsIn(result, block));
    rows.push_back({std::move(cells), result.partial()});
  }
  if (!block.at_end()) return DoNotAgree();
  return rows;
}

StatusOr<std::vector<ActionsResult>> ResultsOf(const pb::MultiResponse& response,
                                               const Answer& answer) {
  CellBlockReader block(answer.cells());
  std::vector<ActionsResult> results;
  for (const pb::RegionActionResult& of_region : response.region_action_result()) {
    ActionsResult& result = results.emplace_back();
    result.processed = of_region.has_processed()  ? of_region.processed()
                       : response.has_processed() ? response.processed()
                                                  : true;
    if (of_region.has_exception()) result.exception = ExceptionIn(of_region.exception());
    for (const pb::ResultOrException& message : of_region.result_or_exception()) {
      ActionsResult::OfOne& one = result.actions.emplace_back();
      one.index = message.index();
      if (message.has_exception()) one.exception = ExceptionIn(message.exception());
      CELLFS_ASSIGN_OR_RETURN(one.cells, CellsIn(message.result(), block));
    }
  }
  if (!block.at_end()) return DoNotAgree();
  return results;
}

}  // namespace cellfs::hbase
