// SPDX-License-Identifier: MIT
//
// What is stored in a family of a row, tombstones and hidden puts included, read piece by piece
// (lengths only): history has no bound, and what a request holds of it shall have one.
#ifndef CELLFS_FS_READING_RAW_PIECES_H_
#define CELLFS_FS_READING_RAW_PIECES_H_

#include <optional>
#include <string>

#include "engine/read.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/requests/long_work.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

inline constexpr size_t kRawPiece = 1024;  // cells

// The first kRawPiece cells of the family's, or the whole row's, columns behind `after` (nullopt:
// of all), in cell order, with a family's tombstones among those of the empty column. Fewer: there
// are no more.
OutcomeOr<RowCells> RawCellsAfter(const Reading& reading, const Caller& caller,
                                  const Place& row_or_family,
                                  const std::optional<std::string>& after);

// The put of a column at that timestamp, with its value.
OutcomeOr<std::optional<Cell>> RawPut(const Reading& reading, const Caller& caller,
                                      const Place& column, Timestamp timestamp);

// The newest kRawPiece cells of a column within the time range. Fewer: there are no more.
OutcomeOr<RowCells> NewestRawCells(const Reading& reading, const Caller& caller,
                                   const Place& column, const TimeRange& times);

// The newest timestamp of what lies on the column, its family's tombstones included, from `from`
// on; nothing where there is none. kLatestTimestamp, above which nothing can lie, does not count.
OutcomeOr<std::optional<Timestamp>> NewestTimestampFrom(const Reading& reading,
                                                        const Caller& caller, const Place& column,
                                                        Timestamp from);

// The clock's, or above all that lies on the column at it or later.
OutcomeOr<Timestamp> FirstTimestampAbove(const Reading& reading, const Caller& caller,
                                         const Place& column);

// The cells of one column, newest first. Not thread-safe; what it is made of outlives it.
class RawColumnPieces {
 public:
  // Each piece is a step of `work`. `below`: only those of smaller timestamps.
  RawColumnPieces(const Reading& reading, const Caller& caller, const Place& column, LongWork& work,
                  std::optional<Timestamp> below = {})
      : reading_(reading), caller_(caller), column_(column), work_(work) {
    if (below) times_.max = *below;
  }

  // The next of them; none at the end.
  OutcomeOr<RowCells> Next();

 private:
  const Reading& reading_;
  const Caller& caller_;
  const Place& column_;
  LongWork& work_;
  TimeRange times_;
  std::optional<Cell> last_;
  bool at_end_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_RAW_PIECES_H_
