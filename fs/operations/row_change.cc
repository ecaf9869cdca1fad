// SPDX-License-Identifier: MIT
#include "fs/operations/row_change.h"

#include <exception>
#include <utility>
#include <variant>

namespace cellfs::fs {
namespace {

// What a read without values tells of the row: its columns that are visible now.
StatusOr<RowCells> VisibleCells(Store& store, const TableName& table, const std::string& row,
                                Columns columns, int32_t of_each_family) {
  Get get;
  get.row = row;
  get.columns = std::move(columns);
  get.lengths_only = true;
  get.store_limit = of_each_family;
  return store.Read(Caller::Superuser(), table, get);
}

}  // namespace

// An exception on the way, for want of memory: the mutation may have been made, and who was to be told
// may not have been.
RowChange::~RowChange() {
  if (std::uncaught_exceptions() > exceptions_) parts_.tree.kernel.ForgetAllLater();
}

Status RowChange::Begin(const std::vector<Mutation>& mutations) {
  for (const Mutation& mutation : mutations)
    std::visit([this](const auto& what) { Add(what); }, mutation);
  std::vector<Place> columns;
  for (const auto& [column, change] : columns_) columns.push_back(PlaceOf(column));
  locks_ = parts_.tree.column_locks.Take(columns);
  CELLFS_RETURN_IF_ERROR(Look());
  return CheckRights();
}

void RowChange::Ended(const Status& status, const std::vector<Mutation>& mutations,
                      const std::vector<Timestamp>& timestamps) {
  if (!IsInForce(status)) return;
  Tell();
  if (!status.ok()) return;
  NoteMakers();
  SettlePuts(mutations, timestamps);
  locks_.clear();
  NoteNames();
}

Place RowChange::PlaceOf(const Column& column) const {
  return CellPlace(table_, row_, column.first, column.second);
}

void RowChange::Add(const Put& put) {
  for (const PutCell& cell : put.cells) columns_[{cell.family, cell.qualifier}] = Change::kPut;
}

void RowChange::Add(const Increment& increment) {
  for (const IncrementCell& cell : increment.cells)
    columns_[{cell.family, cell.qualifier}] = Change::kPut;
}

void RowChange::Add(const Append& append) {
  for (const AppendCell& cell : append.cells)
    columns_[{cell.family, cell.qualifier}] = Change::kPut;
}

void RowChange::Add(const Withdraw& withdraw) {
  for (const WithdrawCell& cell : withdraw.cells)
    columns_.try_emplace({cell.family, cell.qualifier}, Change::kDelete);
}

void RowChange::Add(const Delete& remove) {
  if (remove.markers.empty()) deletes_row_ = true;
  for (const DeleteMarker& marker : remove.markers) {
    if (IsFamilyTombstone(marker.type)) {
      deleted_families_.insert(marker.family);
    } else {
      columns_.try_emplace({marker.family, marker.qualifier}, Change::kDelete);
    }
  }
}

// What is there before.
Status RowChange::Look() {
  CELLFS_ASSIGN_OR_RETURN(const RowCells first_cells,
                          VisibleCells(store_, table_, row_, {}, 1));
  for (const Cell& cell : first_cells) families_there_.insert(cell.family);
  if (deletes_row_) deleted_families_.insert(families_there_.begin(), families_there_.end());
  Columns named;
  for (const auto& [column, change] : columns_) named[column.first].insert(column.second);
  if (named.empty()) return {};
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                          VisibleCells(store_, table_, row_, std::move(named), -1));
  for (const Cell& cell : cells) there_.insert({cell.family, cell.qualifier});
  return {};
}

CallersRights::IsThere RowChange::IsThere(const Column& column) const {
  return {.column = there_.contains(column),
          .family = families_there_.contains(column.first) ||
                    parts_.tree.unstored.Find(FamilyPlace(table_, row_, column.first)) != nullptr,
          .row = !families_there_.empty() ||
                 parts_.tree.unstored.Find(RowPlace(table_, row_)) != nullptr};
}

Status RowChange::CheckRights() {
  if (!rights_.matter()) return {};
  for (const auto& [column, change] : columns_) {
    const Place place = PlaceOf(column);
    CELLFS_RETURN_IF_ERROR(change == Change::kDelete
                               ? rights_.CheckMayDelete(place)
                               : rights_.CheckMayPut(place, IsThere(column)));
  }
  for (const std::string& family : deleted_families_) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                            VisibleCells(store_, table_, row_, {{family, {}}}, -1));
    for (const Cell& cell : cells) {
      CELLFS_RETURN_IF_ERROR(rights_.CheckMayDelete(PlaceOf({family, cell.qualifier})));
    }
  }
  return {};
}

// While the locks are held, so that nobody keeps what was there before.
void RowChange::Tell() {
  std::vector<RewrittenColumn> changed;
  for (const std::string& family : deleted_families_) changed.push_back({row_, family, std::nullopt});
  for (const auto& [column, change] : columns_) {
    changed.push_back({row_, column.first, column.second});
    if (change == Change::kDelete) parts_.tree.recent.Forget(PlaceOf(column));
  }
  filesystem_.CellsChanged(table_, changed);
}

// What is new belongs to who made it, as a file that he creates.
void RowChange::NoteMakers() {
  bool row_is_new = families_there_.empty();
  std::set<std::string> new_families;
  for (const auto& [column, change] : columns_) {
    if (change != Change::kPut || there_.contains(column)) continue;
    if (!families_there_.contains(column.first)) new_families.insert(column.first);
    NoteMaker(PlaceOf(column));
  }
  for (const std::string& family : new_families) {
    if (std::exchange(row_is_new, false)) NoteMaker(RowPlace(table_, row_));
    NoteMaker(FamilyPlace(table_, row_, family));
  }
}

void RowChange::NoteMaker(const Place& place) {
  if (parts_.tree.unstored.Find(place) != nullptr) return;  // made before, by mkdir or a create
  AttributeUpdate update;
  update.uid = rights_.asker().uid;
  if (!rights_.asker().groups.empty()) update.gid = rights_.asker().groups.front();
  update.anew = true;
  parts_.errors.Record("put", place, parts_.attributes.Update(place, update));
}

void RowChange::SettlePuts(const std::vector<Mutation>& mutations,
                           const std::vector<Timestamp>& timestamps) {
  auto next = timestamps.begin();
  const auto stamp = [&]() -> Timestamp { return next == timestamps.end() ? 0 : *next++; };
  for (const Mutation& mutation : mutations) {
    if (const auto* remove = std::get_if<Delete>(&mutation)) {
      for (size_t i = 0; i < remove->markers.size(); ++i) stamp();
    }
    const auto* put = std::get_if<Put>(&mutation);
    if (put == nullptr) continue;
    for (const PutCell& cell : put->cells) Settle(cell, stamp());
  }
}

void RowChange::Settle(const PutCell& cell, Timestamp stamp) {
  const Place place = CellPlace(table_, row_, cell.family, cell.qualifier);
  parts_.puts.Settle(place, stamp);
  if (cell.timestamp == kLatestTimestamp) return;
  AttributeUpdate update;
  update.version = stamp;
  update.ctime = ToTimespec(parts_.tree.clock.Now());
  parts_.errors.Record("put", place, parts_.attributes.Update(place, update));
}

// Directories change when names come and go.
void RowChange::NoteNames() {
  std::set<std::string> changed = deleted_families_;
  for (const auto& [column, change] : columns_) {
    if (change == Change::kDelete || !there_.contains(column)) changed.insert(column.first);
  }
  for (const std::string& family : changed) {
    filesystem_.NamesChanged(FamilyPlace(table_, row_, family));
    if (!families_there_.contains(family)) filesystem_.NamesChanged(RowPlace(table_, row_));
  }
  if (families_there_.empty() || deletes_row_) filesystem_.NamesChanged(TablePlace(table_));
}

}  // namespace cellfs::fs
