// SPDX-License-Identifier: MIT
#include "fs/content/cell_put.h"

#include <cerrno>
#include <utility>
#include <variant>

#include "fs/attributes/attribute_store.h"
#include "fs/content/column_traces.h"

namespace cellfs::fs {
namespace {

// Somebody else was faster each time; then HBase would have let us wait as well.
constexpr int kMaxPutAttempts = 1000;

bool IsVersion(const Place& place) { return place.kind != PlaceKind::kCell; }

// The bytes of the put that the step began with.
std::string TakeValue(RowStep& step) {
  return std::move(std::get<Put>(step.mutations.mutations.front()).cells.front().value);
}

// The value of a column at its place: the latest, or that of one timestamp.
IfValueIs ValueAt(const Place& place, std::string value) {
  const TimeRange range = IsVersion(place) ? AtTimestamp(place.timestamp) : TimeRange();
  return {place.family, place.qualifier, std::move(value), range};
}

RowStep StepFor(ColumnChange& change, const PutAs& as, std::string value, Durability durability) {
  const Place& place = change.place();
  RowStep step{{place.row, {}, durability}, {}, {}};
  // Made where they stay: to move them takes longer.
  Put& put = std::get<Put>(step.mutations.mutations.emplace_back(std::in_place_type<Put>));
  put.row = place.row;
  put.time_to_live = as.time_to_live;
  put.stamping = Stamping::kAboveColumn;
  put.cells.reserve(1);
  PutCell& cell = put.cells.emplace_back();
  cell.family = place.family;
  cell.qualifier = place.qualifier;
  cell.value = std::move(value);
  cell.rewrites = as.again;
  if (IsVersion(place)) {
    cell.timestamp = place.timestamp;
    put.stamping = Stamping::kReadable;
  } else {
    if (as.time && ToMilliseconds(*as.time) >= 0) cell.timestamp = ToMilliseconds(*as.time);
    if (const auto tombstone = change.TombstoneToWithdraw())
      step.withdrawal = WithdrawTombstone(place, *tombstone);
  }
  return step;
}

effect::Put EffectOf(const ColumnMutations::Done& done, std::optional<uint64_t> size,
                     int64_t time_to_live) {
  return {done.result.timestamps.front(), size, done.result.columns_were_empty, time_to_live};
}

}  // namespace

StatusOr<std::optional<std::string>> LatestValue(const Reading& reading, const Caller& caller,
                                                 const Place& place) {
  Get get = GetOf(place, ReadDetail::kValues);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, reading.Read(caller, place.table, get));
  return cells.empty() ? std::nullopt : std::optional(std::move(cells.front().value));
}

StatusOr<effect::Put> PutWhole(ColumnChange& change, const Caller& caller, const PutAs& as,
                               std::string& bytes, bool must_be_first, Durability durability) {
  const Place& place = change.place();
  RowStep step = StepFor(change, as, std::exchange(bytes, {}), durability);
  auto take_back = [&] { bytes = TakeValue(step); };
  if (must_be_first) {
    const auto done = change.SendIf(caller, ValueAt(place, {}), step);
    take_back();
    if (!done.ok()) return done.status();
    if (!*done) return Status(StatusCode::kTableExists, "somebody else made the file first");
    return EffectOf(**done, bytes.size(), as.time_to_live);
  }
  const auto done = change.Send(caller, step);
  take_back();
  if (!done.ok()) return done.status();
  return EffectOf(*done, bytes.size(), as.time_to_live);
}

OutcomeOr<EditedPut> PutEdited(ColumnChange& change, const Reading& reading, const Caller& caller,
                               const PutAs& as, const PendingEdits& edits, Over over,
                               Durability durability) {
  const Place& place = change.place();
  const auto put_as = [&](const ColumnMutations::Done& done, RowStep& step) {
    std::string value = TakeValue(step);
    const uint64_t size = value.size();
    return EditedPut{EffectOf(done, size, as.time_to_live), std::move(value)};
  };
  if (edits.IsWhole()) {
    std::string value;
    edits.ApplyTo(value);
    RowStep step = StepFor(change, as, std::move(value), durability);
    CELLFS_ASSIGN_OR_RETURN(const auto done, change.Send(caller, step));
    return put_as(done, step);
  }
  for (int attempt = 0; attempt < kMaxPutAttempts; ++attempt) {
    CELLFS_ASSIGN_OR_RETURN(const auto latest, LatestValue(reading, caller, place));
    if (!latest && over == Over::kValue) return Outcome(ESTALE, "another client has removed it");
    std::string present = latest.value_or(std::string());
    std::string value = present;
    edits.ApplyTo(value);
    RowStep step = StepFor(change, as, std::move(value), durability);
    CELLFS_ASSIGN_OR_RETURN(const auto done,
                            change.SendIf(caller, ValueAt(place, std::move(present)), step));
    if (done) return put_as(*done, step);
  }
  return Status(StatusCode::kUnavailable, place.ToString() + " is written too often by others");
}

StatusOr<effect::Put> PutAppended(ColumnChange& change, const Caller& caller,
                                  const std::string& bytes, Durability durability) {
  const Place& place = change.place();
  Append append{place.row, {{place.family, place.qualifier, bytes}}};
  append.return_results = false;
  append.stamping = Stamping::kAboveColumn;
  RowStep step{RowMutations::Of(std::move(append), durability), {}, {}};
  CELLFS_ASSIGN_OR_RETURN(const auto done, change.Send(caller, step));
  return EffectOf(done, std::nullopt, kNoCellTtl);
}

}  // namespace cellfs::fs
