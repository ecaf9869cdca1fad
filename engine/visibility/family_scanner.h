// SPDX-License-Identifier: MIT
//
// FamilyScanner: walks one family's cells row by row and hands out those the matcher includes
// (HBase's StoreScanner). Whether to step or to seek to where the matcher points is decided here.
#ifndef CELLFS_ENGINE_VISIBILITY_FAMILY_SCANNER_H_
#define CELLFS_ENGINE_VISIBILITY_FAMILY_SCANNER_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/query_matcher.h"
#include "engine/work_limit.h"

namespace cellfs {

// Not thread-safe.
class FamilyScanner {
 public:
  struct Options {
    bool reversed = false;
    bool single_row = false;  // there is nothing to go on to
    bool raw = false;
    int32_t store_limit = -1;
    int32_t store_offset = 0;
    bool lengths_only = false;
    int64_t max_row_size = 0;  // of what one call reads
  };

  // `filter` may be null; what is passed by reference or pointer outlives the scanner, but for
  // `limit`: that is the present batch's.
  FamilyScanner(const FamilySchema& family, const Query& query, ColumnNames columns, Filter* filter,
                Timestamp now, const Options& options, const WorkLimit& limit,
                std::unique_ptr<CellCursor> cursor);

  // Stands at the first row in the scan's direction: at or after `row`, or before it where reversed
  // (at or before with `inclusive`). An empty row is no bound. A scan of one row stands at that row
  // or is not valid.
  Status SeekToRow(const std::string& row, bool inclusive);

  // False at the end, and once the filter has closed the family.
  bool valid() const { return !closed_ && cursor_->valid(); }
  // The row of the next stored cell, visible or not. REQUIRES: valid().
  std::string_view row() const { return cursor_->cell().row; }

  // Appends the row's visible cells and goes on to the next row; stops in the midst of it behind
  // the cell with which `max_bytes` are reached, and then goes on from there.
  // REQUIRES: valid() and row() == row. kDoNotRetry where the row is too big, kCancelled.
  Status NextRow(const std::string& row, size_t max_bytes, RowCells& cells);
  // Whether it stands in the midst of a row.
  bool is_in_row() const { return next_in_row_.has_value(); }
  // Between two batches it holds nothing of the store. REQUIRES: is_in_row(), for both.
  void LetGo() { cursor_.reset(); }
  Status GoOn(const WorkLimit& limit, std::unique_ptr<CellCursor> cursor);
  // Goes on to the next row without a look at this one.
  Status PassRow(const std::string& row);

  bool closed() const { return closed_; }

 private:
  Status SeekToOnlyRow(const std::string& row);
  // To the row before, where a reversed scan has run into the row behind or off the end.
  Status TurnBackFrom(const std::string& row);
  Status Include(const CellView& cell, RowCells& cells);
  Status SeekNextColumn(const std::string& row);
  Status FollowHint(const std::string& row);
  // Some steps, then a seek to the place that is made then: neighbours are nearer than any search.
  template <typename IsPassed, typename Seek>
  Status StepOrSeek(const IsPassed& is_passed, const Seek& seek);

  // Whether the row is to be broken off before the next cell, which is remembered then.
  bool BreaksOff(const std::string& row, size_t max_bytes);

  const std::string& family_name_;
  const WorkLimit* limit_;
  std::unique_ptr<CellCursor> cursor_;
  QueryMatcher matcher_;
  Filter* const filter_;
  const Options options_;
  bool closed_ = false;
  int64_t count_in_row_ = 0;
  int64_t bytes_read_ = 0;           // by this call
  size_t bytes_held_ = 0;            // of memory, by what this call has read
  std::optional<Cell> next_in_row_;  // the key of the cell to go on with
  std::string passed_column_;        // the column that is being passed by; a row has many
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_FAMILY_SCANNER_H_
