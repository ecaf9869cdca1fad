// SPDX-License-Identifier: MIT
#include "src/history/restore.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "fs/store/column_mutations.h"
#include "src/history/columns.h"
#include "src/history/compare.h"

namespace cellfs {
namespace {

// Gathers the changes of a row and makes them.
class RowChanges {
 public:
  RowChanges(const HistoryAccess& access, const TableName& table, const RestoreOptions& options,
             const OnChange& on_change, RestoreReport& report)
      : access_(access),
        table_(table),
        options_(options),
        on_change_(on_change),
        report_(report) {}

  Status BeginRow(const std::string& row) {
    if (row == row_) return {};
    CELLFS_RETURN_IF_ERROR(Flush());
    row_ = row;
    is_new_row_ = true;
    return {};
  }
  // `after`, where it is, with its value; `time_to_live` is that of the new version.
  Status Add(Change&& change, int64_t time_to_live) {
    const Cell& key = change.key();
    if (change.after) {
      bytes_ += change.after->value.size();
      puts_[time_to_live].push_back({.family = key.family,
                                     .qualifier = key.qualifier,
                                     .value = std::move(change.after->value)});
    } else {
      deletes_.push_back({CellType::kDeleteColumn, key.family, key.qualifier});
    }
    for (std::optional<Cell>* side : {&change.before, &change.after})
      if (*side) (*side)->value.clear();
    changes_.push_back(std::move(change));
    const bool is_full = changes_.size() >= kRestoreCells || bytes_ >= kRestoreBytes;
    return is_full ? Flush() : Status();
  }
  void LeaveClosed(const Cell& key) {
    report_.closed.Add({key.row, key.family, key.qualifier});
  }
  void LeaveAnothers(const Cell& key) {
    report_.anothers.Add({key.row, key.family, key.qualifier});
  }
  Status Flush() {
    if (changes_.empty()) return {};
    if (!options_.dry_run) {
      RowMutations mutations = TakeMutations();
      CELLFS_RETURN_IF_ERROR(Write(mutations));
    }
    puts_.clear();
    deletes_.clear();
    bytes_ = 0;
    return Report(std::exchange(changes_, {}));
  }

 private:
  RowMutations TakeMutations() {
    RowMutations mutations{.row = row_};
    for (auto& [time_to_live, cells] : puts_) {
      mutations.mutations.push_back(Put{.row = row_,
                                        .cells = std::move(cells),
                                        .time_to_live = time_to_live,
                                        .stamping = Stamping::kAboveColumn});
    }
    if (!deletes_.empty()) {
      mutations.mutations.push_back(Delete{
          .row = row_, .markers = std::move(deletes_), .stamping = Stamping::kAboveColumn});
    }
    return mutations;
  }

  Status Write(RowMutations& mutations) {
    if (options_.writer) return options_.writer(mutations);
    const fs::ColumnMutations writer(access_.store, access_.clock);
    fs::RowStep step{.mutations = std::move(mutations)};
    return writer.Do(access_.caller, table_, step).status();
  }

  Status Report(std::vector<Change> changes) {
    if (std::exchange(is_new_row_, false)) ++report_.rows;
    bool is_enough = false;
    for (Change& change : changes) {
      ++(change.after ? report_.puts : report_.deletes);
      if (!is_enough) is_enough = !on_change_(std::move(change));
    }
    return is_enough ? EnoughSeen() : Status();
  }

  const HistoryAccess& access_;
  const TableName& table_;
  const RestoreOptions& options_;
  const OnChange& on_change_;
  RestoreReport& report_;
  std::string row_;
  bool is_new_row_ = false;
  std::map<int64_t, std::vector<PutCell>> puts_;  // by TTL
  std::vector<DeleteMarker> deletes_;
  size_t bytes_ = 0;
  std::vector<Change> changes_;
};

struct RestoreSource {
  const HistoryAccess& access;
  const Scope& scope;
  std::shared_ptr<const Moment> moment;
  Timestamp now = 0;
  const IsAnothers& is_anothers;

  StatusOr<bool> WasAnothers(const Cell& put) const {
    if (!is_anothers) return false;
    return is_anothers(put);
  }
};

class RestoreVisitor : public ColumnVisitor {
 public:
  RestoreVisitor(const RestoreSource& source, const StoreKnowledge& knowledge, Timestamp time,
                 RowChanges& changes)
      : source_(source),
        store_(knowledge),
        time_(time),
        wanted_time_{.up_to = ReplayTimeOf(time, source.access.clock, knowledge).up_to,
                     .now = source.now},
        changes_(changes) {}

  Status BeginFamily(const std::string& row, const FamilySchema& family) override {
    knowledge_.emplace(family, store_, time_, source_.now);
    wanted_.emplace(family, wanted_time_);
    present_.emplace(family, ReplayTime{.now = source_.now});
    return changes_.BeginRow(row);
  }
  void BeginColumn(const std::string& /*qualifier*/) override {
    knowledge_->BeginColumn();
    wanted_->BeginColumn();
    present_->BeginColumn();
  }
  void See(const Cell& cell) override {
    knowledge_->See(cell);
    wanted_->See(cell);
    present_->See(cell);
  }
  Status EndColumn() override {
    if (knowledge_->ColumnReason()) return {};
    const TableName& table = source_.scope.table;
    Change change{OptionalOf(present_->Visible()), OptionalOf(wanted_->Visible())};
    CELLFS_ASSIGN_OR_RETURN(
        const bool same,
        AreSame(source_.access, table, source_.moment, change.before, change.after));
    if (same) return {};
    int64_t time_to_live = kNoCellTtl;
    if (change.after) {
      CELLFS_RETURN_IF_ERROR(FetchOpenValue(source_.access, table, source_.moment, *change.after));
      if (!HasValue(*change.after)) {
        changes_.LeaveClosed(*change.after);
        return {};
      }
      CELLFS_ASSIGN_OR_RETURN(const bool was_anothers, source_.WasAnothers(*change.after));
      if (was_anothers) {
        changes_.LeaveAnothers(*change.after);
        return {};
      }
      time_to_live = RestOfTtl(*change.after);
    }
    return changes_.Add(std::move(change), time_to_live);
  }

 private:
  // It has not expired, so at least a millisecond is left.
  int64_t RestOfTtl(const Cell& put) const {
    if (put.time_to_live == kNoCellTtl) return kNoCellTtl;
    return std::max<int64_t>(put.timestamp + put.time_to_live - source_.now, 1);
  }

  const RestoreSource& source_;
  const StoreKnowledge& store_;
  const Timestamp time_;
  const ReplayTime wanted_time_;  // but what has expired since does not come back
  RowChanges& changes_;
  std::optional<FamilyKnowledge> knowledge_;
  std::optional<FamilyReplay> wanted_;
  std::optional<FamilyReplay> present_;
};

// What a delete hides is judged as `.deleted` does (fs/reading/deleted_values.h).
class UndeleteVisitor : public ColumnVisitor {
 public:
  UndeleteVisitor(const RestoreSource& source, RowChanges& changes)
      : source_(source), changes_(changes) {}

  Status BeginFamily(const std::string& row, const FamilySchema& family) override {
    family_ = &family;
    family_deletes_.clear();
    present_.emplace(family, ReplayTime{.now = source_.now});
    return changes_.BeginRow(row);
  }
  void BeginColumn(const std::string& /*qualifier*/) override {
    present_->BeginColumn();
    column_delete_.reset();
    version_delete_.reset();
    newest_.reset();
  }
  void See(const Cell& cell) override {
    present_->See(cell);
    if (IsFamilyTombstone(cell.type)) {
      family_deletes_.push_back(cell);
    } else if (!newest_) {
      SeeAboveNewest(cell);
    }
  }
  Status EndColumn() override {
    if (!newest_ || !IsHidden(*newest_)) return {};
    // What was put after the delete is what was wanted since.
    std::optional<Cell> shown = OptionalOf(present_->Visible());
    if (shown && !WasDeletedAfter(shown->sequence_id)) return {};
    auto put =
        ReadStoredPut(source_.access, source_.scope.table, *newest_, source_.moment);
    if (put.status().code() == StatusCode::kAccessDenied) {
      changes_.LeaveClosed(*newest_);
      return {};
    }
    if (!put.ok()) return put.status();
    if (!*put) return {};  // it is not kept any more
    CELLFS_ASSIGN_OR_RETURN(const bool was_anothers, source_.WasAnothers(*newest_));
    if (was_anothers) {
      changes_.LeaveAnothers(*newest_);
      return {};
    }
    return changes_.Add({std::move(shown), *std::move(put)}, kNoCellTtl);
  }

 private:
  bool IsHidden(const Cell& put) const {
    return AnyHides(put, [](const Cell& /*tombstone*/) { return true; });
  }
  // Whether a delete hides the newest that was written later than that.
  bool WasDeletedAfter(SequenceId written) const {
    return AnyHides(*newest_,
                    [&](const Cell& tombstone) { return tombstone.sequence_id > written; });
  }
  template <typename Predicate>
  bool AnyHides(const Cell& put, const Predicate& is_asked_for) const {
    const auto hides = [&](const Cell& tombstone) {
      const bool counts =
          !family_->new_version_behavior() || tombstone.sequence_id >= put.sequence_id;
      return counts && Covers(tombstone, put.timestamp) && is_asked_for(tombstone);
    };
    return (column_delete_ && hides(*column_delete_)) ||
           (version_delete_ && hides(*version_delete_)) ||
           std::any_of(family_deletes_.begin(), family_deletes_.end(), hides);
  }

  // All deletes of the column that come before its newest put cover that: the last written counts.
  void SeeAboveNewest(const Cell& cell) {
    if (cell.type == CellType::kPut) {
      newest_ = cell;
    } else if (cell.type == CellType::kDelete) {
      version_delete_ = cell;
    } else if (!column_delete_ || cell.sequence_id > column_delete_->sequence_id) {
      column_delete_ = cell;
    }
  }

  const RestoreSource& source_;
  RowChanges& changes_;
  const FamilySchema* family_ = nullptr;
  std::vector<Cell> family_deletes_;
  std::optional<Cell> column_delete_;
  std::optional<Cell> version_delete_;
  std::optional<Cell> newest_;
  std::optional<FamilyReplay> present_;
};

// Null where the store pins no moments, or no more of them: the two passes see the present then,
// and a value that goes in between is an error.
std::shared_ptr<const Moment> PinIfPossible(Store& store) {
  if (!store.traits().pins_moments) return nullptr;
  auto moment = store.PinMoment("restore");
  return moment.ok() ? *std::move(moment) : nullptr;
}

Status VisitAndChange(const RestoreSource& source, const TableSchema& schema,
                      ColumnVisitor& visitor, RowChanges& changes) {
  StoredCells cells(source.access, source.scope, {.times = {}, .moment = source.moment});
  CELLFS_RETURN_IF_ERROR(VisitColumns(cells, schema, visitor));
  return changes.Flush();
}

// Shows the checker all that the visitor, which makes its changes through RowChanges, would change.
Status CheckAll(const RestoreSource& source, const TableSchema& schema,
                const RestoreOptions& options,
                const std::function<std::unique_ptr<ColumnVisitor>(RowChanges& changes)>& visitor) {
  if (!options.checker) return {};
  const RestoreOptions checking{.writer = options.checker, .checker = nullptr};
  const OnChange nothing = [](Change&&) { return true; };
  RestoreReport unused;
  RowChanges changes(source.access, source.scope.table, checking, nothing, unused);
  const Status allowed = VisitAndChange(source, schema, *visitor(changes), changes);
  if (allowed.ok()) return {};
  return {allowed.code(), allowed.message() + "; nothing was changed"};
}

}  // namespace

StatusOr<RestoreReport> RestoreTo(const HistoryAccess& access, const Scope& scope, Timestamp time,
                                  const RestoreOptions& options, const OnChange& on_change) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  CELLFS_RETURN_IF_ERROR(CheckNotInFuture(access, time));
  const RestoreSource source{access, scope, PinIfPossible(access.store), access.clock.Now(),
                             options.is_anothers};
  const StoreKnowledge knowledge = StoreKnowledge::Ask(access.store, scope.table);
  RestoreReport report;
  CELLFS_ASSIGN_OR_RETURN(report.unknown, FindUnknownOf(access, scope, *schema, time, source.moment,
                                                        knowledge));
  report.refused = !report.unknown.empty() && !options.despite_unknown;
  if (report.refused) return report;
  CELLFS_RETURN_IF_ERROR(CheckAll(source, *schema, options, [&](RowChanges& changes) {
    return std::make_unique<RestoreVisitor>(source, knowledge, time, changes);
  }));
  RowChanges changes(access, scope.table, options, on_change, report);
  RestoreVisitor visitor(source, knowledge, time, changes);
  CELLFS_RETURN_IF_ERROR(UnlessEnough(VisitAndChange(source, *schema, visitor, changes)));
  return report;
}

StatusOr<RestoreReport> Undelete(const HistoryAccess& access, const Scope& scope,
                                 const RestoreOptions& options, const OnChange& on_change) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  const RestoreSource source{access, scope, PinIfPossible(access.store), access.clock.Now(),
                             options.is_anothers};
  RestoreReport report;
  CELLFS_RETURN_IF_ERROR(CheckAll(source, *schema, options, [&](RowChanges& changes) {
    return std::make_unique<UndeleteVisitor>(source, changes);
  }));
  RowChanges changes(access, scope.table, options, on_change, report);
  UndeleteVisitor visitor(source, changes);
  CELLFS_RETURN_IF_ERROR(UnlessEnough(VisitAndChange(source, *schema, visitor, changes)));
  return report;
}

}  // namespace cellfs
