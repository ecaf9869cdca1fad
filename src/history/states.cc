// SPDX-License-Identifier: MIT
#include "src/history/states.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/history/columns.h"
#include "src/history/compare.h"
#include "src/history/unknown.h"

namespace cellfs {
namespace {

constexpr Timestamp kNoCell = -1;

}  // namespace

ReplayTime ReplayTimeOf(HistoryTime time, const Clock& clock, const StoreKnowledge& knowledge) {
  if (!time) return {.now = clock.Now()};
  return {.up_to = knowledge.WasNotThere(*time) ? kNoCell : *time, .now = *time};
}

TimeRange TimesUpTo(Timestamp up_to) {
  TimeRange times;
  if (up_to < times.max) times.max = up_to + 1;
  return times;
}

Status FetchValue(const HistoryAccess& access, const TableName& table,
                  const std::shared_ptr<const Moment>& moment, Cell& cell, NewerCells newer) {
  if (HasValue(cell)) return {};
  CELLFS_ASSIGN_OR_RETURN(auto put, ReadStoredPut(access, table, cell, moment, newer));
  if (!put) {
    return {StatusCode::kUnavailable, "version " + std::to_string(cell.timestamp) + " of column '" +
                                          cell.family + ":" + cell.qualifier + "' of row '" +
                                          cell.row + "' has been removed meanwhile"};
  }
  cell = *std::move(put);
  return {};
}

Status FetchOpenValue(const HistoryAccess& access, const TableName& table,
                      const std::shared_ptr<const Moment>& moment, Cell& cell, NewerCells newer) {
  const Status fetched = FetchValue(access, table, moment, cell, newer);
  return fetched.code() == StatusCode::kAccessDenied ? Status() : fetched;
}

StatusOr<bool> AreSame(const HistoryAccess& access, const TableName& table,
                       const std::shared_ptr<const Moment>& moment, std::optional<Cell>& a,
                       std::optional<Cell>& b) {
  if (!a || !b) return !a && !b;
  if (a->timestamp == b->timestamp) return true;
  if (a->value_length != b->value_length) return false;
  CELLFS_RETURN_IF_ERROR(FetchOpenValue(access, table, moment, *a));
  CELLFS_RETURN_IF_ERROR(FetchOpenValue(access, table, moment, *b));
  return HasValue(*a) && HasValue(*b) && a->value == b->value;
}

namespace {

class StateVisitor : public ColumnVisitor {
 public:
  StateVisitor(const HistoryAccess& access, const TableName& table, HistoryTime time,
               const StoreKnowledge& store, ValueDetail detail, const OnCell& on_cell)
      : access_(access),
        table_(table),
        now_(access.clock.Now()),
        replayed_(ReplayTimeOf(time, access.clock, store)),
        store_(store),
        detail_(detail),
        on_cell_(on_cell) {
    if (time && *time <= now_) asked_ = time;
  }

  Status BeginFamily(const std::string& /*row*/, const FamilySchema& family) override {
    replay_.emplace(family, replayed_);
    if (asked_) knowledge_.emplace(family, store_, *asked_, now_);
    return {};
  }
  void BeginColumn(const std::string& /*qualifier*/) override {
    replay_->BeginColumn();
    if (knowledge_) knowledge_->BeginColumn();
  }
  void See(const Cell& cell) override {
    replay_->See(cell);
    if (knowledge_) knowledge_->See(cell);
  }
  Status EndColumn() override {
    std::optional<Cell> cell = OptionalOf(replay_->Visible());
    if (!cell || (knowledge_ && knowledge_->DependsOnVersionDeletes())) return {};
    if (detail_ == ValueDetail::kValues)
      CELLFS_RETURN_IF_ERROR(FetchOpenValue(access_, table_, nullptr, *cell));
    return on_cell_(*std::move(cell)) ? Status() : EnoughSeen();
  }

 private:
  const HistoryAccess& access_;
  const TableName& table_;
  const Timestamp now_;
  const ReplayTime replayed_;
  const StoreKnowledge& store_;
  const ValueDetail detail_;
  const OnCell& on_cell_;
  std::optional<Timestamp> asked_;
  std::optional<FamilyReplay> replay_;
  std::optional<FamilyKnowledge> knowledge_;
};

// Of one family after another.
class DifferenceSide {
 public:
  // `store` outlives it.
  DifferenceSide(HistoryTime time, const Clock& clock, const StoreKnowledge& store)
      : replayed_(ReplayTimeOf(time, clock, store)), now_(clock.Now()), store_(store) {
    if (time && *time <= now_) asked_ = time;  // the present and the future lack nothing
  }
  // That time, but for the deletes of versions that have it.
  static DifferenceSide WithoutVersionDeletes(Timestamp time, const Clock& clock,
                                              const StoreKnowledge& store) {
    DifferenceSide side(time, clock, store);
    side.left_out_ = time;
    return side;
  }

  void BeginFamily(const FamilySchema& family) {
    replay_.emplace(family, replayed_);
    if (asked_) knowledge_.emplace(family, store_, *asked_, now_);
  }
  void BeginColumn() {
    replay_->BeginColumn();
    if (knowledge_) knowledge_->BeginColumn();
  }
  void See(const Cell& cell) {
    if (IsVersionTombstone(cell.type) && left_out_ == cell.timestamp) return;
    replay_->See(cell);
    if (knowledge_) knowledge_->See(cell);
  }
  bool IsKnown() { return !knowledge_ || !knowledge_->ColumnReason(); }
  std::optional<Cell> Visible() { return OptionalOf(replay_->Visible()); }

 private:
  const ReplayTime replayed_;
  const Timestamp now_;
  const StoreKnowledge& store_;
  std::optional<Timestamp> asked_;
  std::optional<Timestamp> left_out_;
  std::optional<FamilyReplay> replay_;
  std::optional<FamilyKnowledge> knowledge_;
};

class DifferenceVisitor : public ColumnVisitor {
 public:
  DifferenceVisitor(const HistoryAccess& access, const TableName& table, DifferenceSide before,
                    DifferenceSide after, ValueDetail detail, const OnChange& on_change)
      : access_(access),
        table_(table),
        before_(std::move(before)),
        after_(std::move(after)),
        detail_(detail),
        on_change_(on_change) {}

  Status BeginFamily(const std::string& /*row*/, const FamilySchema& family) override {
    before_.BeginFamily(family);
    after_.BeginFamily(family);
    return {};
  }
  void BeginColumn(const std::string& /*qualifier*/) override {
    before_.BeginColumn();
    after_.BeginColumn();
  }
  void See(const Cell& cell) override {
    before_.See(cell);
    after_.See(cell);
  }
  Status EndColumn() override {
    if (!before_.IsKnown() || !after_.IsKnown()) return {};
    Change change{before_.Visible(), after_.Visible()};
    CELLFS_ASSIGN_OR_RETURN(const bool same,
                            AreSame(access_, table_, nullptr, change.before, change.after));
    if (same) return {};
    for (std::optional<Cell>* side : {&change.before, &change.after}) {
      if (!*side) continue;
      if (detail_ == ValueDetail::kLengths) (*side)->value.clear();
      if (detail_ == ValueDetail::kValues)
        CELLFS_RETURN_IF_ERROR(FetchOpenValue(access_, table_, nullptr, **side));
    }
    return on_change_(std::move(change)) ? Status() : EnoughSeen();
  }

 private:
  const HistoryAccess& access_;
  const TableName& table_;
  DifferenceSide before_;
  DifferenceSide after_;
  const ValueDetail detail_;
  const OnChange& on_change_;
};

}  // namespace

Status ReadState(const HistoryAccess& access, const Scope& scope, HistoryTime time,
                 ValueDetail detail, const OnCell& on_cell) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  const StoreKnowledge knowledge = StoreKnowledge::Ask(access.store, scope.table);
  const ReplayTime at = ReplayTimeOf(time, access.clock, knowledge);
  StoredCells cells(access, scope, {.times = TimesUpTo(at.up_to)});
  StateVisitor visitor(access, scope.table, time, knowledge, detail, on_cell);
  return UnlessEnough(VisitColumns(cells, *schema, visitor));
}

Status ReadDifferences(const HistoryAccess& access, const Scope& scope, HistoryTime before,
                       HistoryTime after, ValueDetail detail, const OnChange& on_change) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  const StoreKnowledge knowledge = StoreKnowledge::Ask(access.store, scope.table);
  StoredCells cells(access, scope, {});
  DifferenceVisitor visitor(access, scope.table, {before, access.clock, knowledge},
                            {after, access.clock, knowledge}, detail, on_change);
  return UnlessEnough(VisitColumns(cells, *schema, visitor));
}

Status ReadVersionDeletes(const HistoryAccess& access, const Scope& scope, Timestamp deleted,
                          ValueDetail detail, const OnChange& on_change) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  const StoreKnowledge knowledge = StoreKnowledge::Ask(access.store, scope.table);
  StoredCells cells(access, scope, {});
  DifferenceVisitor visitor(
      access, scope.table,
      DifferenceSide::WithoutVersionDeletes(deleted, access.clock, knowledge),
      {std::nullopt, access.clock, knowledge}, detail, on_change);
  return UnlessEnough(VisitColumns(cells, *schema, visitor));
}

}  // namespace cellfs
