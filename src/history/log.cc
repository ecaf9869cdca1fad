// SPDX-License-Identifier: MIT
#include "src/history/log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/history/columns.h"
#include "src/history/compare.h"

namespace cellfs {
namespace {

// What one reader saw of one column is told by its first cells, as a rule.
constexpr size_t kPieceOfOne = 8;

bool IsNewer(const Cell& a, const Cell& b) {
  if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
  if (a.sequence_id != b.sequence_id) return a.sequence_id > b.sequence_id;
  return CompareCells(ViewOf(a), ViewOf(b)) < 0;
}

// The newest cells of those it is shown. The oldest of them is in front.
class NewestCells {
 public:
  explicit NewestCells(size_t limit) : limit_(limit) {}

  void Add(Cell&& cell) {
    if (IsFull()) {
      if (!IsNewer(cell, cells_.front())) return;
      std::pop_heap(cells_.begin(), cells_.end(), IsNewer);
      cells_.pop_back();
    }
    cells_.push_back(std::move(cell));
    std::push_heap(cells_.begin(), cells_.end(), IsNewer);
  }
  bool IsFull() const { return cells_.size() == limit_; }
  Timestamp oldest() const { return cells_.front().timestamp; }
  std::vector<Cell> TakeNewestFirst() && {
    std::sort_heap(cells_.begin(), cells_.end(), IsNewer);
    return std::move(cells_);
  }

 private:
  const size_t limit_;
  std::vector<Cell> cells_;
};

// Stops at the put that is seen, so that a long history is not read to its end.
class NewestVisitor : public ColumnVisitor {
 public:
  NewestVisitor(ReplayTime time, const std::string& qualifier)
      : time_(time), qualifier_(qualifier) {}

  Status BeginFamily(const std::string& /*row*/, const FamilySchema& family) override {
    replay_.emplace(family, time_);
    return {};
  }
  void BeginColumn(const std::string& qualifier) override {
    replay_->BeginColumn();
    is_wanted_ = qualifier == qualifier_;
  }
  void See(const Cell& cell) override {
    if (is_wanted_ || IsTombstone(cell.type)) replay_->See(cell);
  }
  Status EndColumn() override {
    if (is_wanted_) found_ = OptionalOf(replay_->Visible());
    return {};
  }
  bool IsDecided() const override { return is_wanted_ && replay_->IsDecided(); }
  std::optional<Cell> found() && { return std::move(found_); }

 private:
  const ReplayTime time_;
  const std::string& qualifier_;
  std::optional<FamilyReplay> replay_;
  bool is_wanted_ = false;
  std::optional<Cell> found_;
};

class EventTeller {
 public:
  EventTeller(const HistoryAccess& access, const TableName& table, const TableSchema& schema,
              const LogOptions& options, const OnEvent& on_event)
      : access_(access), table_(table), schema_(schema), options_(options), on_event_(on_event) {}

  Status Tell(Cell&& cell) {
    CELLFS_RETURN_IF_ERROR(CheckNotCancelled(access_));
    Event event{.cell = std::move(cell)};
    if (options_.with_before) CELLFS_RETURN_IF_ERROR(FindBefore(event));
    if (options_.detail == ValueDetail::kValues && event.cell.type == CellType::kPut) {
      CELLFS_ASSIGN_OR_RETURN(const bool is_there, Fetch(event.cell));
      event.value_is_gone = !is_there;
    }
    return on_event_(std::move(event)) ? Status() : EnoughSeen();
  }

 private:
  // False: the value has gone.
  StatusOr<bool> Fetch(Cell& cell) {
    const Status fetched = FetchOpenValue(access_, table_, nullptr, cell, NewerCells::kSoughtBy);
    if (fetched.code() == StatusCode::kUnavailable) return false;
    if (!fetched.ok()) return fetched;
    return true;
  }

  Status FindBefore(Event& event) {
    const Cell& cell = event.cell;
    if (cell.type == CellType::kDelete) {
      CELLFS_ASSIGN_OR_RETURN(event.before, FindStoredPut(access_, table_, cell, nullptr,
                                                          NewerCells::kSoughtBy));
    } else if (!IsFamilyTombstone(cell.type) && cell.timestamp > 0) {
      CELLFS_ASSIGN_OR_RETURN(event.before, SeenAt(cell, cell.timestamp - 1));
    }
    if (!event.before || options_.detail == ValueDetail::kLengths) return {};
    CELLFS_ASSIGN_OR_RETURN(const bool is_there, Fetch(*event.before));
    if (!is_there) event.before.reset();
    return {};
  }

  StatusOr<std::optional<Cell>> SeenAt(const Cell& column, Timestamp time) {
    const Scope scope{table_, column.row, column.family, column.qualifier};
    StoredCells cells(access_, scope, {.times = TimesUpTo(time), .piece = kPieceOfOne});
    NewestVisitor visitor({.up_to = time, .now = time}, column.qualifier);
    CELLFS_RETURN_IF_ERROR(VisitColumns(cells, schema_, visitor));
    return std::move(visitor).found();
  }

  const HistoryAccess& access_;
  const TableName& table_;
  const TableSchema& schema_;
  const LogOptions& options_;
  const OnEvent& on_event_;
};

Status TellInOrder(StoredCells& cells, EventTeller& teller) {
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(RowCells piece, cells.Next());
    if (piece.empty()) return {};
    for (Cell& cell : piece) CELLFS_RETURN_IF_ERROR(teller.Tell(std::move(cell)));
  }
}

Status TellNewest(StoredCells& cells, size_t limit, EventTeller& teller) {
  NewestCells newest(limit);
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(RowCells piece, cells.Next());
    if (piece.empty()) break;
    for (Cell& cell : piece) newest.Add(std::move(cell));
    if (newest.IsFull()) cells.NarrowTo(newest.oldest());
  }
  for (Cell& cell : std::move(newest).TakeNewestFirst())
    CELLFS_RETURN_IF_ERROR(teller.Tell(std::move(cell)));
  return {};
}

}  // namespace

Status ReadLog(const HistoryAccess& access, const Scope& scope, const LogOptions& options,
               const OnEvent& on_event) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  TimeRange times = TimesUpTo(options.until);
  times.min = std::min(options.since, times.max);
  StoredCells cells(access, scope, {.times = times});
  EventTeller teller(access, scope.table, *schema, options, on_event);
  return UnlessEnough(options.limit == 0 ? TellInOrder(cells, teller)
                                         : TellNewest(cells, options.limit, teller));
}

}  // namespace cellfs
