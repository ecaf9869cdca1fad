// SPDX-License-Identifier: MIT
//
// StoredCells: every stored cell of a scope in the order of the store, hidden and expired versions
// and tombstones included, with lengths only. A raw scan in pieces, so that neither a table of many
// rows nor a row of many cells is ever held whole.
//
// Of a column the family's tombstones belong to the scope too. They lie at the empty qualifier,
// before the column.
//
// Who may read a column is shown all of its versions, also those that were another's and that he may
// not read (ReadStoredPut): without them he would take for gone, or never there, what is only closed
// to him. Of a column that he may not read he is shown nothing.
#ifndef CELLFS_SRC_HISTORY_STORED_CELLS_H_
#define CELLFS_SRC_HISTORY_STORED_CELLS_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "src/history/scope.h"

namespace cellfs {

inline constexpr size_t kHistoryPiece = 1024;  // cells

struct StoredCellsOptions {
  TimeRange times;
  std::shared_ptr<const Moment> moment;  // null: each piece shows the present
  size_t piece = kHistoryPiece;          // cells; fewer where the first ones may be enough
};

// Not thread-safe. What it is made of outlives it.
class StoredCells {
 public:
  using Options = StoredCellsOptions;

  StoredCells(const HistoryAccess& access, const Scope& scope, Options options);

  // The next cells, all of one row and family, at most a piece of them; none at the end.
  StatusOr<RowCells> Next();
  // Cells older than this are not wanted any more. They may come for a while.
  void NarrowTo(Timestamp oldest);

 private:
  StatusOr<RowCells> NextInFamily();
  Status FetchRows();
  Status OpenScanner();
  void LimitToColumn(Scan& scan);
  void TakeRow(RowCells cells);

  const HistoryAccess& access_;
  const Scope& scope_;
  Options options_;
  // Of a column: what lies beside it matters to nobody. The scanner is told of it.
  std::atomic<bool> beside_ = false;
  std::unique_ptr<Scanner> scanner_;
  std::optional<std::string> last_row_;  // read by scanners, whole but for what `unfinished_` says
  bool at_end_ = false;
  bool is_narrowed_ = false;
  std::deque<RowCells> pieces_;
  std::optional<Cell> unfinished_;  // where the last piece was cut short in its family
};

// How a read comes by versions that are newer than the one that it wants.
enum class NewerCells {
  kLeftOut,   // files of newer cells alone are not read; in others they are passed one by one
  kSoughtBy,  // all files are read, from the version on: for who reads many of one column
};
// The put of that column and timestamp, with its value, whatever hides it; nullopt: it is not
// stored (any more). kAccessDenied: it is, and the caller may not read it.
StatusOr<std::optional<Cell>> ReadStoredPut(const HistoryAccess& access, const TableName& table,
                                            const Cell& put,
                                            std::shared_ptr<const Moment> moment = nullptr,
                                            NewerCells newer = NewerCells::kLeftOut);
// The same with its length only, which is no secret of who may read the column.
StatusOr<std::optional<Cell>> FindStoredPut(const HistoryAccess& access, const TableName& table,
                                            const Cell& put,
                                            std::shared_ptr<const Moment> moment = nullptr,
                                            NewerCells newer = NewerCells::kLeftOut);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_STORED_CELLS_H_
