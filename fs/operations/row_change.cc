// SPDX-License-Identifier: MIT
#include "fs/operations/row_change.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include "fs/attributes/attribute_store.h"
#include "fs/content/column_traces.h"
#include "fs/reading/later_timestamps.h"
#include "fs/reading/raw_pieces.h"

namespace cellfs::fs {
namespace {

// While one step is made others wait for its columns, and for some that share their locks.
constexpr size_t kMostColumns = 10000;
constexpr size_t kMostColumnsOfOthers = 1000;

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

Status RowChange::Begin(const std::vector<Mutation>& mutations, RoomToAwait* room) {
  CELLFS_RETURN_IF_ERROR(CheckNamesNoLater(parts_.reading, rights_.credentials().uid, mutations));
  for (const Mutation& mutation : mutations)
    std::visit([this](const auto& what) { Add(what); }, mutation);
  if (deletes_row_) {
    CELLFS_ASSIGN_OR_RETURN(const auto schema, store_.DescribeTable(table_));
    for (const auto& [name, family] : schema->families) deleted_families_.insert(name);
  }
  const size_t most = rights_.matter() ? kMostColumnsOfOthers : kMostColumns;
  if (columns_.size() > most) {
    return {StatusCode::kIllegalArgument, "a step changes at most " + std::to_string(most) +
                                              " columns, and this one " + std::to_string(columns_.size()) +
                                              "; make several of it"};
  }
  if (room != nullptr && !deleted_families_.empty()) room->LetGo();
  CloseDeletedFamilies();
  AddOpenFiles();
  TakeLocks(room);
  CELLFS_RETURN_IF_ERROR(Look());
  CELLFS_RETURN_IF_ERROR(CheckRights());
  CELLFS_RETURN_IF_ERROR(LookAtFirstPuts());
  const timespec now = ToTimespec(parts_.tree.clock.Now());
  if (!deletes_row_) {
    for (const std::string& family : deleted_families_) {
      if (!families_there_.contains(family)) continue;
      emptied_.try_emplace(family, parts_.tree.unstored, PlaceOf({family, ""}), now);
    }
  }
  for (const auto& [key, column] : columns_) {
    // Of what was made and is not put yet there is an open file.
    const bool is_there = there_.contains(key);
    if (!column.is_deleted || !(is_there || IsUnstored(PlaceOf(key)))) continue;
    if (is_there && !deletes_row_)
      emptied_.try_emplace(key.first, parts_.tree.unstored, PlaceOf(key), now);
    if (auto orphan = Orphaning::Prepare(parts_.tree, parts_.contents, PlaceOf(key)))
      orphans_.emplace(key, *std::move(orphan));
  }
  const auto is_put = [](const auto& column) { return column.second.is_put; };
  if (std::ranges::none_of(columns_, is_put)) return {};
  return parts_.attributes.StoreMade(table_, row_);
}

// The kernel knows the directory of what it has open, or is about to open.
void RowChange::CloseDeletedFamilies() {
  const auto is_known = [&](const std::string& family) {
    return parts_.tree.inodes.Find(FamilyPlace(table_, row_, family)) != nullptr;
  };
  if (std::any_of(deleted_families_.begin(), deleted_families_.end(), is_known))
    closed_.emplace(parts_.tree.columns, ColumnTable::Part{table_, deleted_families_, row_});
}

// Who has a lock may wait for the room.
void RowChange::TakeLocks(RoomToAwait* room) {
  std::vector<Place> columns;
  for (const auto& [key, column] : columns_) {
    if (!closed_ || !deleted_families_.contains(key.first)) columns.push_back(PlaceOf(key));
  }
  if (room != nullptr && room->is_held()) {
    if (auto locks = ColumnLock::TryOf(parts_.tree.columns, columns)) {
      locks_ = *std::move(locks);
      return;
    }
    room->LetGo();
  }
  locks_ = ColumnLock::Of(parts_.tree.columns, columns);
}

// Those of the families that go: who has them open goes on with what they held.
void RowChange::AddOpenFiles() {
  if (!closed_) return;
  const auto goes = [&](const Place& place) {
    const bool is_newest = place.kind == PlaceKind::kCell || place.kind == PlaceKind::kCounter;
    return is_newest && place.view == nullptr && place.table == table_ && place.row == row_ &&
           deleted_families_.contains(place.family);
  };
  for (const NodePtr& node : parts_.tree.inodes.FindAll(goes)) {
    if (node->handle_count() == 0 || node->unlinked()) continue;
    const Snapshot<Place> place = node->place();
    columns_[{place->family, place->qualifier}].is_deleted = true;
  }
}

void RowChange::Ended(const Status& status) {
  if (!IsInForce(status)) return;
  if (closed_) closed_->Changed();
  Tell();
  NoteMakers();
  SettleColumns();
  KeepEmptied();
  locks_.clear();
  closed_.reset();
  NoteNames();
}

Place RowChange::PlaceOf(const Key& key) const {
  return CellPlace(table_, row_, key.first, key.second);
}

void RowChange::Add(const Put& put) {
  for (const PutCell& cell : put.cells) {
    Column& column = columns_[{cell.family, cell.qualifier}];
    column.is_put = true;
    // What is stamped so goes on where the column was (a restore), and stays whose it is.
    column.is_made |= makes_names_ && put.stamping != Stamping::kAboveColumn;
    if (put.stamping != Stamping::kAboveColumn) column.ChangesAt(cell.timestamp);
  }
}

void RowChange::Add(const Increment& increment) {
  for (const IncrementCell& cell : increment.cells)
    AddChanged({cell.family, cell.qualifier}, cell.timestamp, increment.return_results);
}

void RowChange::Add(const Append& append) {
  for (const AppendCell& cell : append.cells)
    AddChanged({cell.family, cell.qualifier}, cell.timestamp, append.return_results);
}

void RowChange::AddChanged(Key key, Timestamp timestamp, bool is_told) {
  Column& column = columns_[std::move(key)];
  column.ChangesAt(timestamp);
  column.is_put = true;
  column.is_made |= makes_names_;
  column.is_told |= is_told;
}

void RowChange::Add(const Withdraw& withdraw) {
  for (const WithdrawCell& cell : withdraw.cells)
    columns_[{cell.family, cell.qualifier}].is_deleted = true;
}

void RowChange::Add(const Delete& remove) {
  if (remove.markers.empty()) deletes_row_ = true;
  for (const DeleteMarker& marker : remove.markers) {
    if (IsFamilyTombstone(marker.type)) {
      deleted_families_.insert(marker.family);
    } else {
      Column& column = columns_[{marker.family, marker.qualifier}];
      column.is_deleted = true;
      if (remove.stamping != Stamping::kAboveColumn) column.ChangesAt(marker.timestamp);
    }
  }
}

// What is there before.
Status RowChange::Look() {
  CELLFS_ASSIGN_OR_RETURN(const RowCells first_cells,
                          VisibleCells(store_, table_, row_, {}, 1));
  for (const Cell& cell : first_cells) families_there_.insert(cell.family);
  CELLFS_ASSIGN_OR_RETURN(there_, FindVisible());
  return {};
}

// Which of the named columns.
StatusOr<std::map<RowChange::Key, Timestamp>> RowChange::FindVisible() const {
  std::map<Key, Timestamp> visible;
  Columns named;
  for (const auto& [key, column] : columns_) named[key.first].insert(key.second);
  if (named.empty()) return visible;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                          VisibleCells(store_, table_, row_, std::move(named), -1));
  for (const Cell& cell : cells) visible[{cell.family, cell.qualifier}] = cell.timestamp;
  return visible;
}

// Before which version what lies on a column that is made is of another file.
Status RowChange::LookAtFirstPuts() {
  first_put_ = parts_.tree.clock.Now();
  for (auto& [key, column] : columns_) {
    column.first_put = first_put_;
    if (!column.dated.empty()) {
      column.first_put = std::min(first_put_, *std::ranges::min_element(column.dated));
    } else if (column.is_made && !there_.contains(key) && parts_.options.allow_other) {
      CELLFS_ASSIGN_OR_RETURN(const auto before, parts_.attributes.Find(PlaceOf(key), -1));
      if (!before.has_record) continue;
      const auto first = FirstTimestampAbove(parts_.reading, Caller::Superuser(), PlaceOf(key));
      if (!first.ok()) return {StatusCode::kUnavailable, first.status().reason()};
      column.first_put = *first;
    }
  }
  for (const auto& [key, column] : columns_) first_put_ = std::min(first_put_, column.first_put);
  return {};
}

bool RowChange::IsUnstored(const Place& place) const {
  return parts_.tree.unstored.Find(place) != nullptr;
}

CallersRights::IsThere RowChange::IsThere(const Key& key) const {
  return {.column = there_.contains(key) || IsUnstored(PlaceOf(key)),
          .family = families_there_.contains(key.first) ||
                    IsUnstored(FamilyPlace(table_, row_, key.first)),
          .row = !families_there_.empty() || IsUnstored(RowPlace(table_, row_))};
}

Status RowChange::CheckRights() const {
  if (!rights_.matter()) return {};
  for (const auto& [key, column] : columns_) {
    const Place place = PlaceOf(key);
    if (column.is_put) CELLFS_RETURN_IF_ERROR(rights_.CheckMayPut(place, IsThere(key)));
    if (column.is_told && there_.contains(key))
      CELLFS_RETURN_IF_ERROR(rights_.CheckMayRead(place));
    if (column.is_deleted) CELLFS_RETURN_IF_ERROR(rights_.CheckMayDelete(place));
    for (const Timestamp time : column.dated) {
      CELLFS_RETURN_IF_ERROR(rights_.CheckMayChangeAt(place.As(PlaceKind::kVersion, time),
                                                      there_.contains(key)));
    }
  }
  for (const std::string& family : deleted_families_) {
    CELLFS_RETURN_IF_ERROR(rights_.CheckMayDeleteAll(FamilyPlace(table_, row_, family),
                                                     IsThere({family, ""}).row));
  }
  return {};
}

// While the locks are held, so that nobody keeps what was there before.
void RowChange::Tell() {
  std::vector<RewrittenColumn> changed;
  for (const std::string& family : deleted_families_)
    changed.push_back({row_, family, std::nullopt});
  for (const auto& [key, column] : columns_) {
    changed.push_back({row_, key.first, key.second});
  }
  filesystem_.CellsChanged(table_, changed);
}

void RowChange::KeepEmptied() const {
  UnstoredEntries& unstored = parts_.tree.unstored;
  for (const auto& [family, emptied] : emptied_)
    parts_.effects.KeepEmptied(Caller::Superuser(), emptied.column);
  // As rm -r does, which takes the directories away at its end.
  const auto take_away = [&](const Place& place) {
    const UnstoredPtr entry = unstored.Find(place);
    if (entry != nullptr && entry->reason == UnstoredReason::kEmptied) unstored.Remove(place);
  };
  for (const std::string& family : deleted_families_) take_away(FamilyPlace(table_, row_, family));
  if (deletes_row_) take_away(RowPlace(table_, row_));
}

void RowChange::NoteMakers() {
  bool row_is_new = families_there_.empty();
  std::set<std::string> new_families;
  for (const auto& [key, column] : columns_) {
    if (!column.is_made || there_.contains(key)) continue;
    if (!families_there_.contains(key.first)) new_families.insert(key.first);
    NoteMaker(PlaceOf(key), 0666, column.first_put);
  }
  for (const std::string& family : new_families) {
    if (std::exchange(row_is_new, false)) NoteMaker(RowPlace(table_, row_), 0777, first_put_);
    NoteMaker(FamilyPlace(table_, row_, family), 0777, first_put_);
  }
}

void RowChange::NoteMaker(const Place& place, mode_t mode, Timestamp another_from) {
  if (IsUnstored(place)) return;  // made before, by mkdir or a create
  AttributeUpdate update;
  update.uid = rights_.credentials().uid;
  if (!rights_.credentials().groups.empty()) update.gid = rights_.credentials().groups.front();
  update.mode = mode & ~umask_;
  update.anew = true;
  update.another_from = another_from;
  parts_.errors.Record("put", place, parts_.attributes.Update(place, update));
}

// What is shown may be older than what was done: a delete uncovers, and a put may lie below.
Effect RowChange::EffectOn(const Column& column, bool is_shown, Timestamp version) {
  if (column.is_put) return effect::Put{version};
  return is_shown ? Effect(effect::NewestRemoved{}) : Effect(effect::Removed{});
}

// What was put is stored now; of what was put at a time of its own, or uncovered by a delete, the
// clock tells when that was.
void RowChange::SettleColumns() {
  const auto visible = FindVisible();
  for (const auto& [key, column] : columns_) {
    const Place place = PlaceOf(key);
    const Timestamp now = parts_.tree.clock.Now();
    const auto shown = visible.ok() ? visible->find(key) : there_.end();
    const bool is_shown = visible.ok() && shown != visible->end();
    if (const auto orphan = orphans_.find(key); orphan != orphans_.end() && !is_shown) {
      parts_.tree.inodes.Unlink(place);
      parts_.tree.kernel.NameWent(place);
      orphan->second.Finish(parts_.tree);
    }
    if (visible.ok() && !is_shown) CounterWent(parts_.tree, place);
    if (const ColumnPtr known = parts_.tree.columns.Find(place))
      parts_.effects.Apply({*known, place},
                           EffectOn(column, is_shown, is_shown ? shown->second : now));
    const auto before = there_.find(key);
    const bool is_same = before != there_.end() && is_shown && before->second == shown->second;
    if (!is_shown || shown->second == now || (is_same && !column.is_put)) continue;
    AttributeUpdate update;
    update.version = shown->second;
    update.ctime = ToTimespec(now);
    parts_.errors.Record("put", place, parts_.attributes.Update(place, update));
  }
}

// Directories change when names come and go.
void RowChange::NoteNames() {
  std::set<std::string> changed = deleted_families_;
  for (const auto& [key, column] : columns_) {
    if (column.is_deleted || !there_.contains(key)) changed.insert(key.first);
  }
  for (const std::string& family : changed) {
    filesystem_.NamesChanged(FamilyPlace(table_, row_, family));
    if (!families_there_.contains(family)) filesystem_.NamesChanged(RowPlace(table_, row_));
  }
  if (families_there_.empty() || deletes_row_) filesystem_.NamesChanged(TablePlace(table_));
}

}  // namespace cellfs::fs
