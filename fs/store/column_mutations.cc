// SPDX-License-Identifier: MIT
#include "fs/store/column_mutations.h"

#include <utility>

#include "fs/store/explicit_timestamps.h"
#include "fs/store/stored_step.h"

namespace cellfs::fs {
namespace {

// Another writer was faster each time.
constexpr int kMaxMutationAttempts = 1000;

Status NothingIsWithdrawn() {
  return {StatusCode::kUnsupportedOperation, "the store takes nothing back that was written"};
}

}  // namespace

StatusOr<ColumnMutations::Done> ColumnMutations::Do(const Caller& caller, const TableName& table,
                                                    RowStep& step) const {
  Result done = DoStep({caller, table}, step);
  if (!done.ok()) return done.status();
  return std::move(**done);
}

StatusOr<std::optional<ColumnMutations::Done>> ColumnMutations::DoIf(const Caller& caller,
                                                                     const TableName& table,
                                                                     IfValueIs value,
                                                                     RowStep& step) const {
  return DoStep({caller, table, &value}, step);
}

OutcomeOr<bool> ColumnMutations::DoWithdrawing(const Caller& caller, const TableName& table,
                                               RowStep step,
                                               std::optional<IfValueIs> value) const {
  CELLFS_ASSIGN_OR_RETURN(const auto result,
                          Withdrawing({caller, table, value ? &*value : nullptr}, step));
  return result.has_value();
}

ColumnMutations::Result ColumnMutations::DoStep(const Target& target, RowStep& step) const {
  if (step.withdrawal && traits_.withdraws) return Withdrawing(target, step);
  if (step.withdrawal) {
    if (step.instead) step.mutations.mutations.push_back(*std::exchange(step.instead, {}));
    if (step.mutations.mutations.empty()) return std::optional(Done());
  }
  return Send(target, step.mutations);
}

// The step's own mutations are as they were afterwards, but for what Send does to them.
ColumnMutations::Result ColumnMutations::Withdrawing(const Target& target, RowStep& step) const {
  if (!traits_.withdraws) return NothingIsWithdrawn();
  step.mutations.mutations.push_back(*std::exchange(step.withdrawal, {}));
  Result result = Send(target, step.mutations);
  step.mutations.mutations.pop_back();
  if (result.ok() && *result) (*result)->withdrawn = true;
  return result;
}

ColumnMutations::Result ColumnMutations::Send(const Target& target, RowMutations& mutations) const {
  const bool is_stamped_there = traits_.stamps_above_column && traits_.checks_readable;
  return is_stamped_there ? SendAsGiven(target, mutations) : SendStamped(target, mutations);
}

ColumnMutations::Result ColumnMutations::SendAsGiven(const Target& target,
                                                     RowMutations& mutations) const {
  if (target.condition == nullptr) {
    auto result = store_.Mutate(target.caller, target.table, mutations);
    if (!result.ok()) return result.status();
    Note(*result);
    return std::optional(Done{std::move(*result)});
  }
  IfValueIs& value = *target.condition;
  CheckAndMutate check;
  check.row = mutations.row;
  check.condition = ColumnCondition{value.family, value.qualifier, CompareOperator::kEqual,
                                    std::move(value.value)};
  check.time_range = value.time_range;
  check.action = std::move(mutations);
  auto result = store_.CheckAndMutate(target.caller, target.table, check);
  // Both may be long, and are wanted again.
  mutations = std::move(check.action);
  value.value = std::move(std::get<ColumnCondition>(check.condition).value);
  if (!result.ok()) return result.status();
  if (!result->done) return std::optional<Done>();
  Note(result->result);
  return std::optional(Done{std::move(result->result)});
}

void ColumnMutations::Note(const MutationResult& done) const {
  const auto note = [this](Timestamp timestamp) {
    Timestamp known = newest_stamp_.load(std::memory_order_relaxed);
    if (timestamp <= known || timestamp > clock_.Now() + kMostAhead) return;
    while (known < timestamp && !newest_stamp_.compare_exchange_weak(known, timestamp)) {
    }
  };
  for (const Timestamp timestamp : done.timestamps) note(timestamp);
  for (const Cell& cell : done.results) note(cell.timestamp);
}

// Where the caller has no condition of his own, a put that would not be the newest is stamped anew.
// An edit's condition is the value: who puts the very same bytes in between comes after it.
ColumnMutations::Result ColumnMutations::SendStamped(const Target& target,
                                                     RowMutations& mutations) const {
  ExplicitTimestamps timestamps(store_, clock_, target.table, mutations);
  for (int attempt = 0; attempt < kMaxMutationAttempts; ++attempt) {
    CELLFS_RETURN_IF_ERROR(timestamps.Choose());
    const auto& guard = timestamps.guard();
    const bool is_guarded = guard && target.condition == nullptr;
    IfValueIs nothing_newer;
    if (is_guarded) nothing_newer = {guard->family, guard->qualifier, "", guard->empty_range};
    const Target guarded{target.caller, target.table,
                         is_guarded ? &nothing_newer : target.condition};
    CELLFS_ASSIGN_OR_RETURN(auto result, Settled(target, mutations,
                                                 SendAsGiven(guarded, mutations)));
    if (result && target.condition != nullptr && target.condition->value.empty()) {
      if (!IsThere(target, mutations.row)) return std::optional<Done>();
    }
    if (result) timestamps.Complete(result->result);
    if (result || !is_guarded) return result;
  }
  return Status(StatusCode::kUnavailable, "the column is written too often by others");
}

// Where nothing was to be there: another client may have made something and removed it since the
// column was looked at, and then this lies beneath his tombstone, which no condition sees. Who makes
// a file to hold it alone must not be told that he does. Where that cannot be read the put stands.
bool ColumnMutations::IsThere(const Target& target, const std::string& row) const {
  Get get;
  get.row = row;
  get.columns[target.condition->family] = {target.condition->qualifier};
  get.time_range = target.condition->time_range;
  get.lengths_only = true;
  const auto cells = store_.Read(Caller::Superuser(), target.table, get);
  return !cells.ok() || !cells->empty();
}

// Of a step whose outcome is unknown that is looked for, its timestamps being its own: then it is as
// if it had been answered.
ColumnMutations::Result ColumnMutations::Settled(const Target& target,
                                                 const RowMutations& mutations,
                                                 Result sent) const {
  if (sent.ok() || sent.status().code() != StatusCode::kOutcomeUnknown) return sent;
  auto stored = FindStored(store_, target.table, mutations);
  if (!stored.ok() || !*stored) return sent;
  return std::optional(Done{std::move(**stored)});
}

}  // namespace cellfs::fs
