// SPDX-License-Identifier: MIT
//
// What states.h and restore.h share: times to replay, values to compare.
#ifndef CELLFS_SRC_HISTORY_COMPARE_H_
#define CELLFS_SRC_HISTORY_COMPARE_H_

#include <memory>
#include <optional>

#include "src/history/replay.h"
#include "src/history/states.h"
#include "src/history/stored_cells.h"
#include "src/history/unknown.h"

namespace cellfs {

// Of a time when the table was not there no cell counts.
ReplayTime ReplayTimeOf(HistoryTime time, const Clock& clock, const StoreKnowledge& knowledge);
// Of cells that count up to then.
TimeRange TimesUpTo(Timestamp up_to);

// Reads the cell's value. kUnavailable: it has gone; kAccessDenied: the caller may not read it.
Status FetchValue(const HistoryAccess& access, const TableName& table,
                  const std::shared_ptr<const Moment>& moment, Cell& cell,
                  NewerCells newer = NewerCells::kLeftOut);
// The same, and leaves away (HasValue) what the caller may not read.
Status FetchOpenValue(const HistoryAccess& access, const TableName& table,
                      const std::shared_ptr<const Moment>& moment, Cell& cell,
                      NewerCells newer = NewerCells::kLeftOut);
// Whether they are the same bytes; null: nothing. Fetches both values where only they tell, and
// else neither. Bytes that the caller may not read are no others.
StatusOr<bool> AreSame(const HistoryAccess& access, const TableName& table,
                       const std::shared_ptr<const Moment>& moment, std::optional<Cell>& a,
                       std::optional<Cell>& b);
inline std::optional<Cell> OptionalOf(const Cell* cell) {
  return cell == nullptr ? std::optional<Cell>() : *cell;
}

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_COMPARE_H_
