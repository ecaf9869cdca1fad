// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "engine/waiting.h"
#include "fs/attributes/attribute_loading.h"
#include "fs/tree/dropped_names.h"

namespace cellfs::fs {
namespace {

constexpr mode_t kAllModes = S_IRWXU | S_IRWXG | S_IRWXO;

// Whoever is this often too late is one of very many.
constexpr int kMostAttempts = 20;

// What a user may do to a directory whose owner was another. Of the groups of that one nothing is
// known, so it is what all may do.
mode_t OfEveryone(mode_t mode) { return (mode & mode >> 3 & mode >> 6 & S_IRWXO) * 0111; }

// Nobody reads or enters what he may not today. `is_asked_again`: whoever uses it is asked today's
// owner and mode as well; else those count alone that are known to be let in by both.
OwnerAndMode WhatWas(const OwnerAndMode& then, const OwnerAndMode& today, bool is_asked_again) {
  const bool has_same_owner = today.uid == then.uid && today.gid == then.gid;
  const mode_t allowed = has_same_owner || is_asked_again ? today.mode : OfEveryone(today.mode);
  constexpr mode_t kWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  constexpr mode_t kSpecial = S_ISUID | S_ISGID | S_ISVTX;
  return {then.uid, then.gid, then.mode & (allowed | kWrite | kSpecial)};
}

// A table that held nothing and was dropped: what was stored of it went too, and may have closed it.
bool HasGone(Store& store, const DataTable& table) {
  return table.schema == nullptr ||
         (table.schema->id() != 0 &&
          store.FindTable(table.schema->id()).status().code() == StatusCode::kTableNotFound);
}

}  // namespace

AttributeStore::AttributeStore(Store& store, const MountOptions& options,
                               std::shared_ptr<const Clock> clock,
                               const UnstoredEntries& unstored)
    : store_(store),
      options_(options),
      clock_(std::move(clock)),
      freshness_(store.traits(), *clock_),
      table_(store, *clock_, freshness_, options.attributes_table.value_or(TableName())),
      identities_(table_, *clock_, !options.read_only),
      cache_(freshness_),
      inherited_(options),
      made_(freshness_.is_exact() ? nullptr : std::make_unique<MadeAttributes>(unstored)) {}

Status AttributeStore::BeLoaded() {
  const auto is_loaded = [this] {
    return loaded_.load(std::memory_order_acquire) &&
           (freshness_.IsFresh(loaded_at_) || ReadOnce::Covers(loading_began_));
  };
  if (is_loaded()) return Status();
  auto lock = TakeLock(loading_);
  if (is_loaded()) return Status();
  const Timestamp began = freshness_.Now();
  const auto loading_began = ReadOnce::Clock::now();
  const uint64_t identities_before = identities_.changes();
  auto loaded =
      keeps() ? LoadAttributes(store_, table_, freshness_) : StatusOr(LoadedAttributes());
  if (!loaded.ok()) return AttributesUnreadable(loaded.status());
  const bool may_change = !loaded_ && !options_.read_only;
  const std::set<std::string> marked = std::move(loaded->marked);
  const bool has_narrowed = loaded->has_narrowed;
  identities_.Learn(std::move(loaded->identities), identities_before);
  inherited_.SetDirectories(std::move(loaded->directories));
  table_.Learn(std::move(loaded->contents));
  loaded_at_ = began;
  loading_began_ = loading_began;
  loaded_.store(true, std::memory_order_release);
  lock.unlock();
  // What cannot be removed stays for the next mount, and is shown nowhere until then; and a mode
  // that cannot be settled stays narrow.
  if (may_change) static_cast<void>(RemoveDropped(marked));
  if (may_change) static_cast<void>(SettleDroppedNamespaces());
  if (may_change && has_narrowed) static_cast<void>(SettleNarrowed());
  return Status();
}

std::unique_lock<std::mutex> AttributeStore::KeepFromLoading(const Place& place) {
  if (freshness_.is_exact() || IsInRow(place.kind)) return {};
  return TakeLock(loading_);
}

// The rows of all tables there are, and of those that are kept.
StatusOr<std::set<std::string>> AttributeStore::RowsOfTables() {
  std::set<std::string> rows;
  CELLFS_ASSIGN_OR_RETURN(const auto namespaces, store_.ListNamespaces());
  for (const std::string& name_space : namespaces) {
    CELLFS_ASSIGN_OR_RETURN(const auto tables, store_.ListTables(name_space));
    for (const TableName& table : tables) {
      CELLFS_ASSIGN_OR_RETURN(const auto schema, store_.DescribeTable(table));
      rows.insert(identities_.RowOf(*schema));
    }
  }
  if (!store_.traits().keeps_dropped) return rows;
  CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, store_.ListDropped());
  for (const DroppedTable& table : dropped.tables) rows.insert(identities_.RowOf(*table.schema));
  return rows;
}

// Of the tables that were to be dropped, those that are there no more. Others stay, though there be
// no such table: a catalog that was put back from a backup does not know the later ones.
Status AttributeStore::RemoveDropped(const std::set<std::string>& marked) {
  if (marked.empty()) return Status();
  CELLFS_ASSIGN_OR_RETURN(const auto present, RowsOfTables());
  for (const std::string& row : marked) {
    if (!present.contains(row)) CELLFS_RETURN_IF_ERROR(DropTable({nullptr, row}));
  }
  return Status();
}

// Other mounts may be in the midst of theirs: of a store that has such, those are taken that began
// longer ago than any rename takes.
Status AttributeStore::SettleNarrowed() {
  constexpr Timestamp kLongestRename = 300000;
  const Timestamp before =
      freshness_.is_exact() ? kLatestTimestamp : clock_->Now() - kLongestRename;
  CELLFS_ASSIGN_OR_RETURN(const auto all, narrowed_.All(before));
  for (const NarrowedModes::Unfinished& unfinished : all) {
    if (Settle(unfinished).ok()) CELLFS_RETURN_IF_ERROR(narrowed_.End(unfinished.begun));
  }
  return Status();
}

Status AttributeStore::Settle(const NarrowedModes::Unfinished& unfinished) {
  const NarrowedMode& narrowed = unfinished.narrowed;
  const Place column = narrowed.target.As(PlaceKind::kCell);
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(column));
  if (table.row != unfinished.table) return Status();  // it has gone
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, FindOwner(column));
  if (owner.mode != narrowed.narrowed) return Status();  // somebody has said another one since
  CELLFS_ASSIGN_OR_RETURN(const Timestamp shown, ShownVersion(narrowed.target));
  AttributeUpdate update;
  if (shown == narrowed.over) {
    update.mode = narrowed.before;
  } else {
    update.uid = narrowed.source.uid;
    update.gid = narrowed.source.gid;
    update.mode = narrowed.source.mode;
  }
  return Update(column, update);
}

// Its timestamp; -1: there is none.
StatusOr<Timestamp> AttributeStore::ShownVersion(const Place& place) {
  Get get;
  get.row = place.row;
  get.columns[place.family] = {place.qualifier};
  get.lengths_only = true;
  if (place.kind != PlaceKind::kCell) get.time_range = AtTimestamp(place.timestamp);
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                          store_.Read(Caller::Superuser(), place.table, get));
  return cells.empty() ? Timestamp{-1} : cells.front().timestamp;
}

StatusOr<ShownAttributes> AttributeStore::Find(const Place& place, Timestamp version) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  if (!place.HasAttributes()) return FindAbove(place);
  CELLFS_RETURN_IF_ERROR(StoreMadeAbove(place));
  CELLFS_ASSIGN_OR_RETURN(auto schema, reader_.SchemaOf(place));
  ShownAttributes shown;
  CELLFS_ASSIGN_OR_RETURN(const auto plain, OwnerOfPlain(place, schema));
  if (plain) {
    static_cast<OwnerAndMode&>(shown) = *plain;
    shown.table = schema->id();
    return shown;
  }
  const DataTable table = reader_.TableOf(std::move(schema));
  AttributeRecord times;
  if (place.view != nullptr) {
    CELLFS_RETURN_IF_ERROR(ShowThroughView(place, table, version, shown, times));
  } else {
    CELLFS_RETURN_IF_ERROR(ShowPresent(place, table, version, shown, times));
    CELLFS_RETURN_IF_ERROR(ShowEarlier(place, version, table, shown));
  }
  ShowTimes(table, version, times, shown);
  if (place.IsDirectory() && place.view == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(shown.changed, reader_.ReadChange(place, table));
  }
  return shown;
}

// Nullopt: more is to be looked at.
StatusOr<std::optional<OwnerAndMode>> AttributeStore::OwnerOfPlain(
    const Place& place, const std::shared_ptr<const TableSchema>& schema) {
  const bool may_be = place.kind == PlaceKind::kCell && place.view == nullptr;
  if (!may_be || schema == nullptr || !freshness_.is_exact()) return std::optional<OwnerAndMode>();
  PlainColumns::Basis basis{schema, table_.record_changes(), inherited_.directory_changes()};
  if (const auto known = plain_.Find(basis, place.family)) return known->owner;
  const DataTable table = reader_.TableOf(schema);
  PlainColumns::Answer answer;
  if (!table_.HasRecords(table.row)) {
    CELLFS_ASSIGN_OR_RETURN(answer.owner, inherited_.Of(place, table, OwnerRecord()));
  }
  plain_.Keep(std::move(basis), place.family, answer);
  return answer.owner;
}

void AttributeStore::ShowTimes(const DataTable& table, Timestamp version,
                               const AttributeRecord& times, ShownAttributes& shown) const {
  if (table.schema != nullptr) shown.table = table.schema->id();
  shown.has_record = times.since != 0;
  shown.mtime = times.time.mtime;
  // A version put since then is the later change, unless it was given a time that is yet to come.
  const auto& ctime = times.ctime;
  bool newer_version = ctime && version > ToMilliseconds(*ctime) && version <= clock_->Now();
  if (!newer_version) shown.ctime = ctime;
}

Status AttributeStore::ShowPresent(const Place& place, const DataTable& table, Timestamp version,
                                   OwnerAndMode& owner, AttributeRecord& times) {
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, reader_.Read(place, table, version));
  CELLFS_ASSIGN_OR_RETURN(owner, reader_.InForce(place, table, records));
  const bool is_deleted = place.kind == PlaceKind::kDeletedCell;
  if (is_deleted && IsAskedAgain()) owner.mode = records.own.had_mode.value_or(owner.mode);
  times = records.own;
  return {};
}

Status AttributeStore::ShowThroughView(const Place& place, const DataTable& table,
                                       Timestamp version, OwnerAndMode& owner,
                                       AttributeRecord& times) {
  std::optional<Place> retired;
  const Place* const present = PresentOf(place, retired);
  const Place& asked = present != nullptr ? *present : place;
  CELLFS_RETURN_IF_ERROR(ShowPresent(asked, table, version, owner, times));
  if (present == nullptr && table_.exists()) owner.mode = kAllModes;  // nothing of it is closed
  const bool shows_past = place.view->ShowsPast();
  std::optional<Earlier> earlier;
  const Timestamp seen = place.IsVersion() && !shows_past ? place.timestamp : version;
  if (place.IsColumn() && seen >= 0) {
    CELLFS_ASSIGN_OR_RETURN(earlier, FindEarlier(place, seen, table, owner));
    if (earlier) owner = earlier->allowed;
  }
  if (!shows_past || !table_.exists()) return {};
  CELLFS_RETURN_IF_ERROR(ShowPast(place, table, version, owner, times));
  // Then the name was the other's already, and the version was not.
  const bool is_of_before = earlier && earlier->until <= place.view->Time();
  if (is_of_before) owner = IsAskedAgain() ? earlier->had : earlier->allowed;
  return {};
}

const Place* AttributeStore::PresentOf(const Place& place, std::optional<Place>& retired) {
  if (place.view == nullptr) return &place;
  const std::string& name = place.table.namespace_name;
  const auto catalog = place.view->Catalog();
  if (catalog == nullptr) return &place;
  const auto then = catalog->namespaces.find(name);
  if (then == catalog->namespaces.end() || then->second.is_there) return &place;
  if (then->second.dropped == 0) return nullptr;
  retired = place;
  retired->table.namespace_name = WithTimeOfDrop(name, then->second.dropped);
  return &*retired;
}

// Of a table that is in another one by now, which is not in the path.
StatusOr<std::optional<OwnerAndMode>> AttributeStore::NamespaceSinceMoved(
    const Place& place, const DataTable& table) {
  if (place.kind != PlaceKind::kTable || table.schema == nullptr)
    return std::optional<OwnerAndMode>();
  const std::string& present = table.schema->name().namespace_name;
  if (present == place.table.namespace_name) return std::optional<OwnerAndMode>();
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode name_space, FindOwner(NamespacePlace(present)));
  return std::optional(name_space);
}

Status AttributeStore::ShowPast(const Place& place, const DataTable& table, Timestamp version,
                                OwnerAndMode& owner, AttributeRecord& times) {
  DataTable table_then = table;
  if (const auto past = place.view->FindPast(place.table)) table_then.schema = past->schema;
  auto then = past_.Find(place, table_then, version);
  if (!then.ok()) return AttributesUnreadable(then.status());
  const OwnerAndMode was{*then->uid, *then->gid, *then->mode};
  if (!IsAskedAgain()) {
    CELLFS_ASSIGN_OR_RETURN(const auto moved_to, NamespaceSinceMoved(place, table));
    if (moved_to && (OfEveryone(moved_to->mode) & S_IXOTH) == 0) owner.mode = 0;
  }
  // Of what has been changed too often since, the record of then has gone.
  bool is_known = then->since != 0 || !IsInRow(place.kind);
  if (!is_known) {
    CELLFS_ASSIGN_OR_RETURN(const auto records,
                            reader_.OwnerVersions(RecordKeyOf(place, table)));
    is_known = records.size() < kOwnerVersions;
  }
  owner = is_known && IsAskedAgain() ? was : WhatWas(was, owner, IsAskedAgain());
  const bool may_be_forgotten = place.kind == PlaceKind::kTable && then->since == 0;
  if (may_be_forgotten && HasGone(store_, table)) owner.mode &= ~mode_t{S_IRWXG | S_IRWXO};
  times = *std::move(then);
  // A later one is written over the record.
  const bool is_later = times.ctime && ToMilliseconds(*times.ctime) > place.view->Time();
  if (is_later) times.ctime.reset();
  return Status();
}

StatusOr<std::optional<AttributeStore::Earlier>> AttributeStore::FindEarlier(
    const Place& column, Timestamp version, const DataTable& table, const OwnerAndMode& present) {
  if (table.schema == nullptr || !table_.HasRecords(table.row)) return std::optional<Earlier>();
  const Place cell = column.As(PlaceKind::kCell);
  const auto then = version_owners_.Find(cell, table, version);
  if (!then.ok()) return AttributesUnreadable(then.status());
  if (!*then) return std::optional<Earlier>();
  std::optional<OwnerAndMode> first;
  mode_t closed_mode = ~mode_t{0};
  mode_t had = ~mode_t{0};
  for (const auto& [own, family] : (*then)->stored) {
    RowRecords records;
    static_cast<OwnerRecord&>(records.own) = own;
    records.family = family;
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode in_force, reader_.InForce(cell, table, records));
    if (!first) first = in_force;
    closed_mode &= in_force.mode;
    had &= own.had_mode.value_or(in_force.mode);
  }
  const OwnerAndMode closed{first->uid, first->gid, closed_mode};
  const bool is_as_today = closed.uid == present.uid && closed.gid == present.gid &&
                           closed.mode == present.mode && !(*then)->was_in_anothers_directory;
  if (is_as_today) return std::optional<Earlier>();
  Earlier earlier{closed, closed, {}, (*then)->until};
  earlier.had.mode = had;
  if ((*then)->was_in_anothers_directory) earlier.in_force.mode &= S_IRWXU;
  earlier.allowed = WhatWas(earlier.in_force, present, IsAskedAgain());
  return std::optional(earlier);
}

// Of the history, and of what is deleted.
Status AttributeStore::ShowEarlier(const Place& place, Timestamp version, const DataTable& table,
                                   OwnerAndMode& owner) {
  const bool is_deleted = place.kind == PlaceKind::kDeletedCell;
  if (!place.IsVersion() && (!is_deleted || version < 0)) return {};
  const Timestamp seen = is_deleted ? version : place.timestamp;
  CELLFS_ASSIGN_OR_RETURN(const auto earlier, FindEarlier(place, seen, table, owner));
  if (!earlier) return {};
  const OwnerAndMode& of_deleted = IsAskedAgain() ? earlier->had : earlier->in_force;
  owner = is_deleted ? of_deleted : earlier->allowed;
  return {};
}

StatusOr<AttributeStore::AskedToday> AttributeStore::FindAskedToday(const Place& place,
                                                                    Timestamp version) {
  AskedToday asked;
  CELLFS_RETURN_IF_ERROR(StoreMadeAbove(place));
  CELLFS_ASSIGN_OR_RETURN(asked.present, FindOwner(place));
  const bool is_version = place.IsColumn() && version >= 0;
  if (!is_version && place.kind != PlaceKind::kTable) return asked;
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(place));
  CELLFS_ASSIGN_OR_RETURN(asked.name_space, NamespaceSinceMoved(place, table));
  if (!is_version) return asked;
  CELLFS_ASSIGN_OR_RETURN(const auto earlier, FindEarlier(place, version, table, asked.present));
  if (!earlier) return asked;
  if (place.kind == PlaceKind::kDeletedCell) {
    asked.present = earlier->in_force;
  } else {
    asked.deleted = earlier->in_force;
  }
  return asked;
}

bool AttributeStore::ShowsThen(const Place& place) const {
  return place.IsOfPast() && IsAskedAgain();
}

StatusOr<OwnerAndMode> AttributeStore::FindOwner(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(place));
  std::optional<Place> retired;
  const Place* const present = PresentOf(place, retired);
  const Place& asked = present != nullptr ? *present : place;
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, reader_.Read(asked, table, kNoVersion));
  return reader_.InForce(asked, table, records);
}

StatusOr<OwnerAndMode> AttributeStore::FindOwner(const TableSchema& dropped) {
  const Place place = TablePlace(dropped.name());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, DroppedTableOf(dropped));
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, reader_.Read(place, table, kNoVersion));
  return reader_.InForce(place, table, records);
}

StatusOr<OwnerAndMode> AttributeStore::FindOwnerOfVersion(const Place& version) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(version));
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, reader_.Read(version, table, kNoVersion));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, reader_.InForce(version, table, records));
  CELLFS_ASSIGN_OR_RETURN(const auto earlier,
                          FindEarlier(version, version.timestamp, table, owner));
  return earlier ? earlier->allowed : owner;
}

StatusOr<std::optional<OwnerAndMode>> AttributeStore::FindOwnerAt(const Place& version,
                                                                  bool shows_value) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  const Place column = version.As(PlaceKind::kCell);
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(column));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, FindOwner(column));
  CELLFS_ASSIGN_OR_RETURN(const auto earlier,
                          FindEarlier(column, version.timestamp, table, owner));
  if (earlier) return std::optional(earlier->in_force);
  if (shows_value) return std::optional(owner);
  if (table.schema == nullptr) return std::optional<OwnerAndMode>();
  const auto is_of_before =
      version_owners_.IsOfBeforeDeletion(column, table, version.timestamp);
  if (!is_of_before.ok()) return AttributesUnreadable(is_of_before.status());
  return *is_of_before ? std::optional(owner) : std::nullopt;
}

StatusOr<std::vector<OwnerAndMode>> AttributeStore::DirectoriesThen(const Place& column,
                                                                   Timestamp version) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  std::vector<OwnerAndMode> directories;
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(column));
  if (table.schema == nullptr || !table_.HasRecords(table.row)) return directories;
  const auto then = version_owners_.Find(column.As(PlaceKind::kCell), table, version);
  if (!then.ok()) return AttributesUnreadable(then.status());
  if (!*then || !(*then)->was_in_anothers_directory) return directories;
  const Place family = FamilyPlace(column.table, column.row, column.family);
  for (const auto& [own, of_family] : (*then)->stored) {
    RowRecords records;
    static_cast<OwnerRecord&>(records.own) = of_family;
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode let_in, reader_.InForce(family, table, records));
    directories.push_back(let_in);
  }
  return directories;
}

StatusOr<bool> AttributeStore::DiffersBetweenRows(const TableName& name) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableOf(RowPlace(name, "")));
  return table_.HasRecords(table.row) || (made_ != nullptr && made_->HasAnyIn(name));
}

// Of a place without attributes of its own.
StatusOr<ShownAttributes> AttributeStore::FindAbove(const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(ShownAttributes shown, Find(place.DataDirectory(), -1));
  if (place.IsDirectory()) return shown;
  ShownAttributes of_file;
  of_file.table = shown.table;
  of_file.uid = shown.uid;
  of_file.gid = shown.gid;
  of_file.mode = shown.mode & options_.file_mode;
  return of_file;
}

Status AttributeStore::StoreDirectoryTime(const Place& directory, Timestamp time, bool is_shown) {
  if (!directory.HasAttributes() || !keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(DataTable table, reader_.TableOf(directory));
  if (table.schema == nullptr && !directory.table.name.empty()) return Status();  // it has gone
  if (table.schema != nullptr && table.row.empty()) table.row = TableIdentities::NewRow();
  if (is_shown) {
    CELLFS_ASSIGN_OR_RETURN(const auto stored, reader_.ReadChange(directory, table));
    if (!stored) return Status();
  }
  const auto no_loading = KeepFromLoading(directory);
  CELLFS_ASSIGN_OR_RETURN(const bool begun, writer_.BeginWriting(directory, table,
                                                                 WrittenAttributes::kChanges));
  if (!begun) return Status();  // another mount stores the same of the same
  if (!IsInRow(directory.kind)) {
    inherited_.SetDirectoryChanged(RowKey(directory, table), ToTimespec(time));
  }
  const std::string row = ChangeRowKey(directory, table);
  const std::string text = WriteTime(ToTimespec(time));
  Put put{row, {{kChangeFamily, Qualifier(directory), kNoVersion, text, {}}}};
  return table_.Write(std::move(put));
}

Status AttributeStore::Update(const Place& place, const AttributeUpdate& update,
                              const TracelessFile* gone) {
  if (!place.HasAttributes() || !keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  if (made_ != nullptr && made_->Take(place, update)) return Status();
  // First what it inherits: to a family that gets an owner what is in it already is of before.
  if (place.IsColumn()) CELLFS_RETURN_IF_ERROR(StoreMade(place.table, place.row));
  return StoreUpdate(place, update, gone).status();
}

// A plain file shows no more than its own record and what it inherits.
StatusOr<ShownAttributes> AttributeStore::UpdateAndFind(const Place& place,
                                                        const AttributeUpdate& update) {
  const bool is_plain = place.kind == PlaceKind::kCell && place.view == nullptr;
  if (!is_plain || !keeps() || made_ != nullptr) {
    CELLFS_RETURN_IF_ERROR(Update(place, update));
    return Find(place, update.version);
  }
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const Stored stored, StoreUpdate(place, update, nullptr));
  const auto& [records, inherited] = stored.updated;
  ShownAttributes shown;
  if (inherited) {
    static_cast<OwnerAndMode&>(shown) = OwnOver(*inherited, records.own);
  } else {
    CELLFS_ASSIGN_OR_RETURN(static_cast<OwnerAndMode&>(shown),
                            reader_.InForce(place, stored.table, records));
  }
  ShowTimes(stored.table, update.version, records.own, shown);
  return shown;
}

StatusOr<AttributeStore::Stored> AttributeStore::StoreUpdate(const Place& place,
                                                             const AttributeUpdate& update,
                                                             const TracelessFile* gone) {
  uint64_t mark = 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    CELLFS_ASSIGN_OR_RETURN(DataTable table, reader_.TableToChange(place));
    const auto no_loading = KeepFromLoading(place);
    CELLFS_ASSIGN_OR_RETURN(const auto updated,
                            writer_.TryUpdate(place, table, update, gone, mark));
    if (updated) return Stored{std::move(table), *updated};
  }
  return Status(StatusCode::kUnavailable, "owner and mode are changed too often by other mounts");
}

Status AttributeStore::StoreMade(const TableName& table, const std::string& row) {
  if (made_ == nullptr || made_->Find(table, row).updates.empty()) return Status();
  const size_t number = std::hash<std::string>()(row) % storing_made_.size();
  const auto storing = TakeLock(storing_made_[number]);
  for (;;) {
    const MadeAttributes::OfRow made = made_->Find(table, row);
    for (const auto& [directory, update] : made.updates)
      CELLFS_RETURN_IF_ERROR(StoreUpdate(directory, update, nullptr).status());
    if (made_->IsStored(table, row, made)) return Status();
  }
}

// Where a row was only made so far, what was in it before is not its maker's, and is to be closed
// where it was (KeptColumns).
Status AttributeStore::StoreMadeAbove(const Place& place) {
  const bool is_present = place.kind == PlaceKind::kCell && place.view == nullptr;
  if (made_ == nullptr || !place.IsColumn() || is_present) return {};
  return StoreMade(place.table, place.row);
}

Status AttributeStore::KeepOwner(const TableSchema& schema) {
  if (!keeps()) return Status();
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, FindOwner(schema));
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, DroppedTableOf(schema));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode file,
                          inherited_.Of(CellPlace(schema.name(), "", "", ""), table, {}));
  AttributeUpdate update;
  update.uid = owner.uid;
  update.gid = owner.gid;
  // Files inherit it, and shall be no more open than they were.
  update.mode = owner.mode & (file.mode | ~mode_t{0666});
  update.as_own = true;
  uint64_t mark = 0;
  return writer_.TryUpdate(TablePlace(schema.name()), table, update, nullptr, mark).status();
}

StatusOr<std::string> AttributeStore::Narrow(const NarrowedMode& narrowed) {
  if (!keeps()) return std::string();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  const Place column = narrowed.target.As(PlaceKind::kCell);
  std::string begun;
  if (NarrowedModes::CanTell(narrowed.target, narrowed.over)) {
    DataTable table;
    for (bool has_row = false; !has_row;) {
      CELLFS_ASSIGN_OR_RETURN(table, reader_.TableToChange(column));
      CELLFS_ASSIGN_OR_RETURN(has_row, writer_.BeginWriting(column, table,
                                                            WrittenAttributes::kRecords));
    }
    CELLFS_ASSIGN_OR_RETURN(begun, narrowed_.Begin(narrowed, table.row));
  }
  AttributeUpdate update;
  update.mode = narrowed.narrowed;
  CELLFS_RETURN_IF_ERROR(Update(column, update));
  return begun;
}

Status AttributeStore::Forget(const TracelessFile& gone) {
  if (!store_.traits().withdraws) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  return writer_.Forget(gone);
}

Status AttributeStore::EndNarrowing(const std::string& begun) {
  return begun.empty() ? Status() : narrowed_.End(begun);
}

Status AttributeStore::IsStillTheSame(const TableName& table) {
  if (!keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const auto schema, store_.DescribeTable(table));
  return identities_.IsStillTheSame(*schema);
}

// Under a name that no namespace has.
Place AttributeStore::PlaceOfDropped(const std::string& name_space, Timestamp dropped) {
  return NamespacePlace(WithTimeOfDrop(name_space, dropped));
}

Status AttributeStore::CopyNamespace(const Place& dropped, const Place& to) {
  return CopyOwner(dropped, to, Copies::kWhatDiffers);
}

Status AttributeStore::CopyOwner(const Place& from, const Place& to, Copies copies) {
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, FindOwner(from));
  AttributeUpdate update;
  update.uid = owner.uid;
  update.gid = owner.gid;
  update.mode = owner.mode;
  update.anew = true;
  update.as_own = copies == Copies::kAll;
  return Update(to, update);
}

// What is stored of a dropped one says that this was done.
Status AttributeStore::RetireNamespace(const Place& place, const Place& dropped) {
  CELLFS_RETURN_IF_ERROR(CopyOwner(place, dropped, Copies::kAll));
  // Below .asof it has its owner, mode and time still.
  const std::string row = RowKey(place, {});
  const bool has_own = inherited_.ForgetDirectory(row);
  cache_.Clear();
  return has_own ? table_.RetireRow(row, clock_->Now()) : Status();
}

// Of drops that were cut short behind the store's part of them: owner and mode are under the old
// name still, unless a new namespace has it.
Status AttributeStore::SettleDroppedNamespaces() {
  if (!keeps() || !store_.traits().keeps_dropped) return Status();
  CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, store_.ListDropped());
  for (auto kept = dropped.namespaces.rbegin(); kept != dropped.namespaces.rend(); ++kept) {
    const Place place = PlaceOfDropped(kept->schema.name, kept->dropped);
    const bool is_done = inherited_.Directory(RowKey(place, {})).uid.has_value();
    if (is_done || store_.DescribeNamespace(kept->schema.name).ok()) continue;
    CELLFS_RETURN_IF_ERROR(RetireNamespace(NamespacePlace(kept->schema.name), place));
  }
  return Status();
}

StatusOr<Timestamp> AttributeStore::LastKeptDrop(const std::string& name_space) {
  if (!store_.traits().keeps_dropped) return 0;
  CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, store_.ListDropped());
  Timestamp last = 0;
  for (const DroppedNamespace& kept : dropped.namespaces)
    if (kept.schema.name == name_space) last = kept.dropped;
  return last;
}

Status AttributeStore::DropNamespace(const Place& place, Timestamp last_kept_drop) {
  const std::string& name = place.table.namespace_name;
  CELLFS_ASSIGN_OR_RETURN(const Timestamp dropped, LastKeptDrop(name));
  if (dropped <= last_kept_drop) return ForgetNamespace(place);
  return RetireNamespace(place, PlaceOfDropped(name, dropped));
}

Status AttributeStore::ForgetNamespace(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  const auto no_loading = KeepFromLoading(place);
  const std::string row = RowKey(place, {});
  const bool has_own = inherited_.ForgetDirectory(row);
  cache_.Clear();
  return has_own ? table_.RemoveRows(row) : Status();
}

StatusOr<DataTable> AttributeStore::BeginDropTable(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(DataTable table, reader_.TableToChange(place));
  if (identities_.RowOf(*table.schema).empty()) table.row.clear();
  if (!table_.exists() || table.row.empty()) return table;
  // Without it, on a full disk say, rows that cannot be removed stay, and are shown nowhere.
  Put mark{table.row, {{kChangeFamily, kDropped, kNoVersion, "-", {}}}};
  static_cast<void>(table_.Write(std::move(mark)));
  return table;
}

StatusOr<DataTable> AttributeStore::DroppedTableOf(const TableSchema& dropped) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  return DataTable{std::make_shared<TableSchema>(dropped), identities_.RowOf(dropped)};
}

StatusOr<bool> AttributeStore::IsKept(const TableSchema& table) {
  if (!store_.traits().keeps_dropped) return false;
  CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, store_.ListDropped());
  return std::any_of(
      dropped.tables.begin(), dropped.tables.end(),
      [&](const DroppedTable& kept) { return kept.schema->id() == table.id(); });
}

// Without a schema where it is the loading that found the table gone.
Status AttributeStore::DropTable(const DataTable& table) {
  if (table.schema != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(const bool is_kept, IsKept(*table.schema));
    if (is_kept) return Status();
  }
  std::unique_lock<std::mutex> no_loading;
  if (table.schema != nullptr && !freshness_.is_exact()) no_loading = TakeLock(loading_);
  if (table.schema != nullptr) CELLFS_RETURN_IF_ERROR(identities_.Forget(table.schema->name()));
  if (table.row.empty()) return Status();
  inherited_.ForgetDirectory(table.row);
  cache_.Clear();
  return table_.RemoveTable(table.row);
}

Status AttributeStore::Emptied(const Place& table, Timestamp time) {
  return ForgetOwners(table, [](std::string_view) { return true; }, time);
}

Status AttributeStore::DropFamily(const Place& table, const std::string& family, Timestamp time) {
  return ForgetOwners(
      table,
      [&](std::string_view qualifier) {
        return qualifier.substr(0, qualifier.find(':')) == family;
      },
      time);
}

Status AttributeStore::ForgetOwners(const Place& place, const AttributeTable::IsOfThese& goes,
                                    Timestamp time) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableToChange(place));
  if (!table_.HasRecords(table.row)) return Status();
  CELLFS_RETURN_IF_ERROR(table_.ForgetOwners(table.row, goes, time));
  cache_.Clear();
  return Status();
}

}  // namespace cellfs::fs
