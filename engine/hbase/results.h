// SPDX-License-Identifier: MIT
//
// The cells of answers: they lie in the block behind the message, which says how many belong to
// which row; servers to whom no block was offered write them into the message.
#ifndef CELLFS_ENGINE_HBASE_RESULTS_H_
#define CELLFS_ENGINE_HBASE_RESULTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/hbase/frame.h"
#include "engine/hbase/remote_exception.h"
#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

namespace pb {
class MultiResponse;
class Result;
class ScanResponse;
}  // namespace pb

// kIoError where message and block do not agree.
StatusOr<RowCells> CellsOf(const pb::Result& result, const Answer& answer);

// A row, or a piece of one.
struct RowPiece {
  RowCells cells;
  bool goes_on = false;  // the next piece is of the same row
};
StatusOr<std::vector<RowPiece>> RowsOf(const pb::ScanResponse& response, const Answer& answer);

// What became of the actions of a Multi: of one region action, in the order of the request.
struct ActionsResult {
  struct OfOne {
    uint32_t index = 0;  // that its action had
    std::optional<RemoteException> exception;
    RowCells cells;
  };
  std::optional<RemoteException> exception;  // of all
  bool processed = true;                     // their condition holds
  std::vector<OfOne> actions;
};
StatusOr<std::vector<ActionsResult>> ResultsOf(const pb::MultiResponse& response,
                                               const Answer& answer);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_RESULTS_H_
