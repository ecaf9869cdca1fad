// SPDX-License-Identifier: MIT
#include "fs/content/column_puts.h"

#include <algorithm>
#include <utility>

namespace cellfs::fs {
namespace {

// The value of a column at its place: the latest, or that of one timestamp.
TimeRange RangeOf(const Place& place) {
  return place.kind == PlaceKind::kCell ? TimeRange() : AtTimestamp(place.timestamp);
}

}  // namespace

Durability ColumnPuts::Resolve(const Place& place, Durability wanted) const {
  if (wanted != Durability::kUseDefault) return wanted;
  const auto schema = reading_.DescribeTable(place.table);
  return schema.ok() ? (*schema)->durability() : wanted;
}

StatusOr<StoredPut> ColumnPuts::Put(const Caller& caller, const Place& place, RowStep& step) const {
  CELLFS_ASSIGN_OR_RETURN(const auto done, mutations_.Do(caller, place.table, step));
  return StoredPut(done.result);
}

StatusOr<std::optional<StoredPut>> ColumnPuts::PutIf(const Caller& caller, const Place& place,
                                                     RowStep& step, std::string present) const {
  IfValueIs value{place.family, place.qualifier, std::move(present), RangeOf(place)};
  CELLFS_ASSIGN_OR_RETURN(const auto done,
                          mutations_.DoIf(caller, place.table, std::move(value), step));
  if (!done) return std::optional<StoredPut>();
  return std::optional(StoredPut(done->result));
}

void ColumnPuts::Cache(const Place& place, const StoredPut& stored, std::optional<uint64_t> size,
                       int64_t time_to_live, Node& node, uint64_t generation) const {
  if (!reading_.freshness().is_exact()) node.column()->SeeVersion(stored.stamp);
  if (!reading_.freshness().is_exact() || !size) return;
  const auto schema = reading_.DescribeTable(place.table);
  if (!schema.ok()) return;
  Cell cell;
  cell.timestamp = stored.stamp;
  cell.value_length = *size;
  cell.time_to_live = time_to_live;
  CachedCell known = CachedCellOf(cell, (*schema)->FindFamily(place.family));
  known.alone = stored.alone;
  node.Cache(known, generation);
}

bool ColumnPuts::RememberTime(const Place& place, const AttributeUpdate& update) const {
  const Status remembered = attributes_.Update(place, update);
  errors_.Record("close", place, remembered);
  return remembered.ok();
}

bool ColumnPuts::Settle(const Place& place, Timestamp stamp) const {
  const bool made_it = tree_.unstored.Remove(place);  // also where another handle made the file
  // A version is put at a time of its own.
  const Timestamp came = std::min(stamp, tree_.clock.Now());
  const bool shows_other_times = made_it && SettleDirectories(place, came);
  if (place.kind != PlaceKind::kCell) return shows_other_times;
  if (made_it || tree_.recent.RenamedAwayTombstone(place)) tree_.recent.Forget(place);
  if (made_it) tree_.recent.NoteCreated(place, stamp);
  return shows_other_times;
}

// A row or family that mkdir made holds a cell now, which tells its time as well. One that was
// emptied has the time that it had.
bool ColumnPuts::SettleDirectories(const Place& place, Timestamp stamp) const {
  DirectoryTimes& times = tree_.directory_times;
  const Place family = place.Parent();
  const Place row = RowPlace(place.table, place.row);
  bool shows_other_times = times.Settle(family, stamp);
  const UnstoredPtr unstored = tree_.unstored.Find(row);
  if (!unstored) {
    tree_.unstored.Remove(family);
    return shows_other_times;
  }
  if (unstored->reason == UnstoredReason::kMade) shows_other_times |= times.Settle(row, stamp);
  tree_.unstored.Fill(family);
  tree_.unstored.Fill(row);
  return shows_other_times;
}

}  // namespace cellfs::fs
