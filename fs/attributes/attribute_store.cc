// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string_view>

#include "engine/waiting.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/base/random_number.h"

namespace cellfs::fs {

namespace {

// Whatever the reason: a file is not to be taken for absent, or for anybody's.
Status Unreadable(const Status& status) {
  return {StatusCode::kIoError,
          "owner and mode cannot be read: " + status.ToString() + "; see cellfs check"};
}

// A root, namespace or table: what is stored for it is at hand always.
bool IsAboveRows(const Place& place) { return !IsInRow(place.kind) && Qualifier(place).empty(); }

// Whoever is this often too late is one of very many.
constexpr int kMostAttempts = 20;

}  // namespace

timespec ToTimespec(Timestamp milliseconds) {
  return {static_cast<time_t>(milliseconds / 1000),
          static_cast<long>(milliseconds % 1000 * 1000000)};
}

Timestamp ToMilliseconds(const timespec& time) {
  return static_cast<Timestamp>(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

AttributeStore::AttributeStore(Store& store, const MountOptions& options,
                               std::shared_ptr<const Clock> clock)
    : store_(store),
      options_(options),
      clock_(std::move(clock)),
      freshness_(store.traits(), *clock_),
      table_(store, *clock_, freshness_, options.attributes_table.value_or(TableName())),
      identities_(table_, !options.read_only),
      cache_(freshness_),
      inherited_(options) {}

StatusOr<DataTable> AttributeStore::TableOf(const Place& place) {
  if (place.table.name.empty()) return DataTable();
  auto schema = store_.DescribeTable(place.table);
  if (schema.status().code() == StatusCode::kTableNotFound) return DataTable();
  if (!schema.ok()) return schema.status();
  identities_.Note(**schema);
  std::string row = identities_.RowOf(**schema);
  return DataTable{*std::move(schema), std::move(row)};
}

StatusOr<DataTable> AttributeStore::TableToChange(const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(DataTable table, TableOf(place));
  if (place.table.name.empty()) return table;
  if (table.schema != nullptr) {
    if (table.row.empty()) table.row = TableIdentities::NewRow();
    return table;
  }
  return Status(StatusCode::kTableNotFound,
                "table '" + place.table.ToString() + "' does not exist");
}

Status AttributeStore::BeLoaded() {
  const auto is_loaded = [this] {
    return loaded_.load(std::memory_order_acquire) && freshness_.IsFresh(loaded_at_);
  };
  if (is_loaded()) return Status();
  auto lock = TakeLock(loading_);
  if (is_loaded()) return Status();
  const Timestamp began = freshness_.Now();
  const uint64_t identities_before = identities_.changes();
  auto loaded = Load();
  if (!loaded.ok()) return Unreadable(loaded.status());
  const bool may_change = !loaded_ && !options_.read_only;
  const std::set<std::string> marked = std::move(loaded->marked);
  const bool has_narrowed = loaded->has_narrowed;
  identities_.Learn(std::move(loaded->identities), identities_before);
  inherited_.SetDirectories(std::move(loaded->directories));
  table_.Learn(std::move(loaded->contents));
  loaded_at_ = began;
  loaded_.store(true, std::memory_order_release);
  lock.unlock();
  // What cannot be removed stays for the next mount, and is shown nowhere until then; and a mode
  // that cannot be settled stays narrow.
  if (may_change) static_cast<void>(RemoveDropped(marked));
  if (may_change && has_narrowed) static_cast<void>(SettleNarrowed());
  return Status();
}

StatusOr<AttributeStore::Loaded> AttributeStore::Load() {
  Loaded loaded;
  if (!keeps()) return loaded;
  const Status described = store_.DescribeTable(table_.name()).status();
  if (described.code() == StatusCode::kTableNotFound) return loaded;
  CELLFS_RETURN_IF_ERROR(described);
  loaded.contents.exists = true;
  CELLFS_RETURN_IF_ERROR(freshness_.is_exact() ? LoadBySeeking(loaded) : LoadByScanning(loaded));
  return loaded;
}

// Of tables with ids all that is not about data lies together.
Status AttributeStore::LoadByScanning(Loaded& loaded) {
  Scan scan;
  scan.stop_row = kDataHereMark;
  return ForEachRow(store_, table_.name(), scan, {}, [&](const RowCells& cells) -> Status {
    const std::string& row = cells.front().row;
    if (TableIdentities::IsRowOfOne(row)) {
      for (const Cell& cell : cells)
        CELLFS_RETURN_IF_ERROR(TableIdentities::Read(cell, loaded.identities));
      return {};
    }
    for (const Cell& cell : cells) {
      if (cell.family != kChangeFamily) continue;
      if (cell.qualifier == kHasRecords) loaded.contents.tables_with_records.insert(row);
      if (cell.qualifier == kHasChanges) loaded.contents.tables_with_changes.insert(row);
    }
    return LoadDirectory(cells, loaded);
  });
}

// Two seeks for each table: from a row of it to the first row behind all of its rows of that kind.
Status AttributeStore::LoadBySeeking(Loaded& loaded) {
  Scan scan;
  scan.limit = 1;
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(auto scanner,
                            store_.OpenScanner(Caller::Superuser(), table_.name(), scan));
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({1, 1}));
    if (rows.empty()) return {};
    const RowCells& cells = rows.front();
    const std::string& row = cells.front().row;
    const size_t nul = row.find_first_of(std::string_view("\0\x01", 2));
    if (nul == std::string::npos) {
      CELLFS_RETURN_IF_ERROR(LoadDirectory(cells, loaded));
      scan.start_row = RowAfter(row);
    } else {
      auto& tables = row[nul] == '\0' ? loaded.contents.tables_with_records
                                      : loaded.contents.tables_with_changes;
      tables.insert(row.substr(0, nul));
      scan.start_row = row.substr(0, nul) + static_cast<char>(row[nul] + 1);
    }
  }
}

Status AttributeStore::LoadDirectory(const RowCells& cells, Loaded& loaded) {
  if (cells.front().row == kNarrowedRow) {
    loaded.has_narrowed = true;
    return Status();
  }
  AttributeRecord record;
  for (const Cell& cell : cells) {
    if (cell.family == kChangeFamily && cell.qualifier == kDropped && !cell.value.empty())
      loaded.marked.insert(cell.row);
    if (!cell.qualifier.empty()) continue;
    if (cell.family == kOwnerFamily) CELLFS_RETURN_IF_ERROR(ReadRecord(cell, record));
    if (cell.family == kTimeFamily) record.mtime = ReadTime(cell.value);
    if (cell.family == kChangeFamily) record.changed = ReadTime(cell.value);
  }
  loaded.directories.emplace(cells.front().row, record);
  return Status();
}

// REQUIRES: loading_.
Status AttributeStore::ReloadDirectory(const std::string& row) {
  Get get;
  get.row = row;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table_.Read(get));
  if (cells.empty()) {
    inherited_.ForgetDirectory(row);
    return {};
  }
  Loaded loaded;
  CELLFS_RETURN_IF_ERROR(LoadDirectory(cells, loaded));
  inherited_.SetDirectory(row, loaded.directories.begin()->second);
  return {};
}

std::unique_lock<std::mutex> AttributeStore::KeepFromLoading(const Place& place) {
  if (freshness_.is_exact() || IsInRow(place.kind)) return {};
  return TakeLock(loading_);
}

bool AttributeStore::HasRecords(const Place& place, const DataTable& table) const {
  if (!place.table.name.empty() && table.row.empty()) return false;  // the table has gone
  return IsInRow(place.kind) ? table_.HasRecords(table.row) : table_.exists();
}

StatusOr<RowRecords> AttributeStore::Read(const Place& place, const DataTable& table,
                                          const RecordKey& key, Timestamp version) {
  return HasRecords(place, table) ? ReadStored(place, key, version) : RowRecords();
}

StatusOr<RowRecords> AttributeStore::Read(const Place& place, const DataTable& table,
                                          Timestamp version) {
  if (!HasRecords(place, table)) return RowRecords();
  return ReadStored(place, RecordKeyOf(place, table), version);
}

// The rows of all tables there are.
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

StatusOr<std::string> AttributeStore::Narrow(const NarrowedMode& narrowed) {
  if (!keeps()) return std::string();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  const Place column = narrowed.target.As(PlaceKind::kCell);
  std::string begun;
  if (NarrowedModes::CanTell(narrowed.target, narrowed.over)) {
    DataTable table;
    for (bool has_row = false; !has_row;) {
      CELLFS_ASSIGN_OR_RETURN(table, TableToChange(column));
      CELLFS_ASSIGN_OR_RETURN(has_row, BeginWriting(column, table, Writes::kRecords));
    }
    CELLFS_ASSIGN_OR_RETURN(begun, narrowed_.Begin(narrowed, table.row));
  }
  AttributeUpdate update;
  update.mode = narrowed.narrowed;
  CELLFS_RETURN_IF_ERROR(Update(column, update));
  return begun;
}

Status AttributeStore::EndNarrowing(const std::string& begun) {
  return begun.empty() ? Status() : narrowed_.End(begun);
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
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableOf(column));
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

StatusOr<RowRecords> AttributeStore::ReadStored(const Place& place, const RecordKey& key,
                                                Timestamp version) {
  RowRecords records;
  const auto& [row_key, qualifier] = key;
  if (!IsInRow(place.kind) && qualifier.empty()) {
    records.own = inherited_.Directory(row_key);
    return records;
  }
  const auto find = [&] {
    return cache_.Find(key.row, key.qualifier, version < 0 ? kNoVersion : version, place.family);
  };
  auto known = find();
  if (!known) {
    if (const Status taken = TakeIn(row_key); !taken.ok()) return Unreadable(taken);
    known = find();
  }
  if (!known || !known->whole) {
    auto alone = table_.ReadRecords(place, key, version);
    if (!alone.ok()) return Unreadable(alone.status());
    return alone;
  }
  static_cast<OwnerRecord&>(records.own) = known->owner;
  records.own.mtime = known->mtime;
  if (place.IsColumn()) records.family = known->family;
  return records;
}

// Reads the whole row for the cache.
Status AttributeStore::TakeIn(const std::string& row_key) {
  const uint64_t changes = cache_.changes();
  Timestamp read_at = freshness_.Now();
  Get get;
  get.row = row_key;
  get.columns[kOwnerFamily] = {};
  get.columns[kTimeFamily] = {};
  get.max_versions = kAllVersions;
  // Of the owners all versions are read, for a file that goes without a trace must take all along.
  constexpr size_t kMaxCells = 4 * AttributeCache::kMaxRowEntries;
  get.store_limit = kMaxCells + 1;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table_.ReadAt(get, &read_at));
  StoredRow row;
  for (const Cell& cell : cells) {
    StoredAttributes& stored = row[cell.qualifier];
    if (cell.family == kOwnerFamily && stored.owner.since != 0) {
      stored.earlier.push_back(cell.timestamp);
    } else if (cell.family == kOwnerFamily) {
      CELLFS_RETURN_IF_ERROR(ReadRecord(cell, stored.owner));
    } else if (const auto mtime = ReadTime(cell.value)) {
      stored.mtimes.emplace(cell.timestamp, *mtime);
    }
  }
  const bool fits = cells.size() <= kMaxCells;
  cache_.Remember(row_key, fits ? &row : nullptr, changes, read_at);
  return Status();
}

StatusOr<ShownAttributes> AttributeStore::Find(const Place& place, Timestamp version) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  if (!place.HasAttributes()) return FindAbove(place);
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableOf(place));
  CELLFS_ASSIGN_OR_RETURN(RowRecords records, Read(place, table, version));
  ShownAttributes shown;
  CELLFS_ASSIGN_OR_RETURN(static_cast<OwnerAndMode&>(shown), InForce(place, table, records));
  if (place.view != nullptr && place.view->ShowsPast() && table_.exists())
    CELLFS_RETURN_IF_ERROR(ShowPast(place, table, version, shown, records.own));
  if (table.schema != nullptr) shown.table = table.schema->id();
  shown.mtime = records.own.mtime;
  // A version put since then is the later change, unless it was given a time that is yet to come.
  const auto& ctime = records.own.ctime;
  bool newer_version = ctime && version > ToMilliseconds(*ctime) && version <= clock_->Now();
  if (!newer_version) shown.ctime = ctime;
  if (place.IsDirectory() && place.view == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(shown.changed, ReadChange(place, table));
  }
  return shown;
}

namespace {

// What a user may do to a directory whose owner was another. Of the groups of that one nothing is
// known, so it is what all may do.
mode_t OfEveryone(mode_t mode) { return (mode & mode >> 3 & mode >> 6 & S_IRWXO) * 0111; }

}  // namespace

// A file that had another owner shows what was, and opening it asks the present ones as well; a
// read-only mount is not asked when files are opened.
Status AttributeStore::ShowPast(const Place& place, const DataTable& table, Timestamp version,
                                OwnerAndMode& owner, AttributeRecord& times) {
  auto then = past_.Find(place, table, version);
  if (!then.ok()) return Unreadable(then.status());
  const bool has_same_owner = owner.uid == then->uid && owner.gid == then->gid;
  const bool is_asked_again = !place.IsDirectory() && !options_.read_only;
  const mode_t allowed =
      has_same_owner || is_asked_again ? owner.mode : OfEveryone(owner.mode);
  constexpr mode_t kWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  constexpr mode_t kSpecial = S_ISUID | S_ISGID | S_ISVTX;
  owner = {*then->uid, *then->gid, *then->mode & (allowed | kWrite | kSpecial)};
  times = *std::move(then);
  return Status();
}

StatusOr<OwnerAndMode> AttributeStore::InForce(const Place& place, const DataTable& table,
                                               const RowRecords& records) {
  CELLFS_ASSIGN_OR_RETURN(OwnerAndMode owner, inherited_.Of(place, table, records.family));
  owner.uid = records.own.uid.value_or(owner.uid);
  owner.gid = records.own.gid.value_or(owner.gid);
  owner.mode = records.own.mode.value_or(owner.mode);
  return owner;
}

StatusOr<OwnerAndMode> AttributeStore::FindOwner(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableOf(place));
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, Read(place, table, kNoVersion));
  return InForce(place, table, records);
}

StatusOr<bool> AttributeStore::DiffersBetweenRows(const TableName& name) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableOf(RowPlace(name, "")));
  return table_.HasRecords(table.row);
}

// Of a place without attributes of its own: those of the directory of the data that it is in.
StatusOr<ShownAttributes> AttributeStore::FindAbove(const Place& place) {
  Place directory = place.Parent();
  while (!directory.HasAttributes()) directory = directory.Parent();
  CELLFS_ASSIGN_OR_RETURN(ShownAttributes shown, Find(directory, -1));
  if (place.IsDirectory()) return shown;
  ShownAttributes of_file;
  of_file.table = shown.table;
  of_file.uid = shown.uid;
  of_file.gid = shown.gid;
  of_file.mode = shown.mode & options_.file_mode;
  return of_file;
}

StatusOr<std::optional<timespec>> AttributeStore::ReadChange(const Place& directory,
                                                             const DataTable& table) {
  if (!IsInRow(directory.kind)) return inherited_.Directory(RowKey(directory, table)).changed;
  if (!table_.HasChanges(table.row)) return std::optional<timespec>();
  Get get;
  get.row = ChangeRowKey(directory, table);
  get.columns[kChangeFamily] = {Qualifier(directory)};
  const auto cells = table_.Read(get);
  if (!cells.ok()) return Unreadable(cells.status());
  return cells->empty() ? std::optional<timespec>() : ReadTime(cells->front().value);
}

Status AttributeStore::StoreDirectoryTime(const Place& directory, Timestamp time, bool is_shown) {
  if (!directory.HasAttributes() || !keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(DataTable table, TableOf(directory));
  if (table.schema == nullptr && !directory.table.name.empty()) return Status();  // it has gone
  if (table.schema != nullptr && table.row.empty()) table.row = TableIdentities::NewRow();
  if (is_shown) {
    CELLFS_ASSIGN_OR_RETURN(const auto stored, ReadChange(directory, table));
    if (!stored) return Status();
  }
  const auto no_loading = KeepFromLoading(directory);
  CELLFS_ASSIGN_OR_RETURN(const bool begun, BeginWriting(directory, table, Writes::kChanges));
  if (!begun) return Status();  // another mount stores the same of the same
  if (!IsInRow(directory.kind)) {
    inherited_.SetDirectoryChanged(RowKey(directory, table), ToTimespec(time));
  }
  const std::string row = ChangeRowKey(directory, table);
  const std::string text = WriteTime(ToTimespec(time));
  Put put{row, {{kChangeFamily, Qualifier(directory), kNoVersion, text, {}}}};
  return table_.Write(std::move(put));
}

StatusOr<AttributeRecord> AttributeStore::RecordAfter(const Place& place, const DataTable& table,
                                                      const AttributeUpdate& update,
                                                      const RowRecords& stored) {
  OwnerAndMode inherited;
  if (update.uid || update.gid || update.mode) {
    CELLFS_ASSIGN_OR_RETURN(inherited, inherited_.Of(place, table, stored.family));
  }
  AttributeRecord record = update.anew ? AttributeRecord() : stored.own;
  auto keep = [](auto value, auto from_above, auto& kept) {
    if (value && *value == from_above) kept.reset();
    if (value && *value != from_above) kept = *value;
  };
  keep(update.uid, inherited.uid, record.uid);
  keep(update.gid, inherited.gid, record.gid);
  keep(update.mode, inherited.mode, record.mode);
  // Copies make their directories 0700 and give them their modes at the end: what was made in one
  // with a mode that only happens to be inherited keeps it.
  const mode_t usual = place.IsDirectory() ? options_.directory_mode : options_.file_mode;
  if (update.mode && *update.mode != usual) record.mode = *update.mode;
  if (update.ctime) record.ctime = update.ctime;

  record.since = stored.own.since;
  record.mtime = stored.own.mtime;
  if (update.anew || update.forget_mtime) record.mtime.reset();
  if (update.mtime) record.mtime = update.mtime;
  if (update.version >= 0 && SameTime(record.mtime, ToTimespec(update.version))) {
    record.mtime.reset();
  }
  return record;
}

// With the time from which on it is in force, which `after` gets as well: that of the record before
// where owner and mode stay, and never an earlier one, for the clock may have been set back.
void AttributeStore::PutOwner(const std::string& qualifier, const OwnerRecord& before,
                              OwnerRecord& after, Put& put) const {
  after.since = before.since;
  after.mark = before.mark;
  if (SameRecord(before, after)) return;
  if (!freshness_.is_exact()) after.mark = RandomNumber();
  if (before.since == 0 || !SameOwner(before, after)) {
    after.since = std::max({clock_->Now(), before.since, Timestamp{1}});
  }
  put.cells.push_back({kOwnerFamily, qualifier, after.since, WriteRecord(after), {}});
}

StatusOr<std::vector<Timestamp>> AttributeStore::OwnerVersions(const RecordKey& key) {
  auto known = cache_.OwnerVersions(key.row, key.qualifier);
  if (known) return *std::move(known);
  Get get;
  get.row = key.row;
  get.columns[kOwnerFamily] = {key.qualifier};
  get.max_versions = kAllVersions;
  get.lengths_only = true;
  const auto cells = table_.Read(get);
  if (!cells.ok()) return Unreadable(cells.status());
  std::vector<Timestamp> versions;
  for (const Cell& cell : *cells) versions.push_back(cell.timestamp);
  return versions;
}

// Nothing where nothing is stored for it. Withdrawn, as the file itself is: an empty record would
// be there for ever, and every copier's temporaries have new names.
StatusOr<std::optional<Withdraw>> AttributeStore::WithdrawalOf(const TracelessFile& gone,
                                                               const DataTable& table,
                                                               const RecordKey& key) {
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, Read(gone.place, table, key, gone.version));
  const AttributeRecord& stored = records.own;
  const std::string& qualifier = key.qualifier;
  Withdraw withdraw{key.row, {}};
  if (stored.since != 0) {
    CELLFS_ASSIGN_OR_RETURN(const auto versions, OwnerVersions(key));
    for (const Timestamp version : versions) {
      withdraw.cells.push_back({kOwnerFamily, qualifier, version});
    }
  }
  if (stored.mtime) withdraw.cells.push_back({kTimeFamily, qualifier, gone.version});
  if (withdraw.cells.empty()) return std::optional<Withdraw>();
  return std::optional(std::move(withdraw));
}

// Behind so many versions there may be one more, which is read now.
void AttributeStore::WasWithdrawn(size_t cells, const RecordKey& key, const TracelessFile& gone,
                                  uint64_t changes) {
  if (cells >= kOwnerVersions) return cache_.Forget(key.row);
  cache_.Wrote(key.row, key.qualifier, {}, gone.version, {}, changes);
}

std::unique_lock<std::mutex> AttributeStore::BeginChange(const std::string& row_key) {
  const size_t number = std::hash<std::string>()(row_key) % changing_.size();
  return TakeLock(changing_[number]);
}

// What an update changes in a row of the table.
struct AttributeStore::RowChange {
  RecordKey key;
  Timestamp version = kNoVersion;
  uint64_t changes_before = 0;  // AttributeCache::changes
  RowRecords stored;
  AttributeRecord record;           // afterwards
  Put put;                          // of that
  std::vector<ChangedRecord> kept;  // by what is in the directory that the place is
};

Status AttributeStore::Update(const Place& place, const AttributeUpdate& update,
                              const TracelessFile* gone) {
  if (!place.HasAttributes() || !keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  uint64_t mark = 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    CELLFS_ASSIGN_OR_RETURN(const bool done, TryUpdate(place, update, gone, mark));
    if (done) return Status();
  }
  return {StatusCode::kUnavailable, "owner and mode are changed too often by other mounts"};
}

StatusOr<bool> AttributeStore::TryUpdate(const Place& place, const AttributeUpdate& update,
                                         const TracelessFile* gone, uint64_t& mark) {
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableToChange(place));
  const auto no_loading = KeepFromLoading(place);
  RowChange change;
  change.key = RecordKeyOf(place, table);
  const auto no_other_change = BeginChange(change.key.row);
  change.changes_before = cache_.changes();
  CELLFS_RETURN_IF_ERROR(Prepare(place, table, update, change));
  if (mark != 0 && change.stored.own.mark == mark) return true;  // the last attempt was done
  if (!freshness_.is_exact()) {
    mark = change.record.mark != change.stored.own.mark ? change.record.mark : 0;
    return WriteBesideOthers(place, table, change);
  }
  CELLFS_RETURN_IF_ERROR(WriteAlone(place, table, gone, change));
  return true;
}

Status AttributeStore::Prepare(const Place& place, const DataTable& table,
                               const AttributeUpdate& update, RowChange& change) {
  const auto& [row_key, qualifier] = change.key;
  CELLFS_ASSIGN_OR_RETURN(change.stored, Read(place, table, change.key, update.version));
  const OwnerRecord& before = change.stored.own;
  CELLFS_ASSIGN_OR_RETURN(change.record, RecordAfter(place, table, update, change.stored));
  if (update.version >= 0) change.version = update.version;
  change.put.row = row_key;
  PutOwner(qualifier, before, change.record, change.put);
  const auto& mtime = change.record.mtime;
  if (!SameTime(mtime, change.stored.own.mtime)) {
    const std::string text = mtime ? WriteTime(*mtime) : "";
    change.put.cells.push_back({kTimeFamily, qualifier, change.version, text, {}});
  }
  CELLFS_ASSIGN_OR_RETURN(const mode_t closed, ClosedBefore(place, table, update, before));
  const bool is_family = place.kind == PlaceKind::kFamily;
  if (closed == 0 && (!is_family || SameOwner(before, change.record))) return {};
  DirectoryChange directory{.closed = closed};
  if (is_family) {
    directory.directory = DirectoryChange::Of::kFamily;
    directory.before = before;
    directory.after = change.record;
  }
  CELLFS_ASSIGN_OR_RETURN(change.kept, KeepColumns(place, table, directory));
  return {};
}

// In one step.
Status AttributeStore::WriteAlone(const Place& place, const DataTable& table,
                                  const TracelessFile* gone, RowChange& change) {
  const std::string& row_key = change.key.row;
  RowStep step{{row_key, {}}, {}, {}};
  for (ChangedRecord& column : change.kept) {
    std::ranges::move(column.put.cells, std::back_inserter(change.put.cells));
  }
  if (!change.put.cells.empty()) step.mutations.mutations.push_back(std::move(change.put));
  const RecordKey of_gone =
      gone != nullptr ? RecordKey{row_key, Qualifier(gone->place)} : RecordKey();
  if (gone != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(step.withdrawal, WithdrawalOf(*gone, table, of_gone));
  }
  if (step.mutations.mutations.empty() && !step.withdrawal) return {};
  const size_t withdraws = step.withdrawal ? step.withdrawal->cells.size() : 0;
  CELLFS_RETURN_IF_ERROR(BeginWriting(place, table, Writes::kRecords).status());
  if (IsAboveRows(place)) inherited_.SetDirectory(row_key, change.record);
  const StatusOr<bool> withdrawn = table_.Write(std::move(step));
  if (!withdrawn.ok()) {
    cache_.Forget(row_key);
    return withdrawn.status();
  }
  if (*withdrawn) WasWithdrawn(withdraws, of_gone, *gone, change.changes_before);
  Wrote(change, change.changes_before + (*withdrawn ? 1 : 0));
  return {};
}

// Each record where it is still as it was read.
StatusOr<bool> AttributeStore::WriteBesideOthers(const Place& place, const DataTable& table,
                                                 const RowChange& change) {
  if (change.put.cells.empty() && change.kept.empty()) return true;
  const auto& [row_key, qualifier] = change.key;
  CELLFS_ASSIGN_OR_RETURN(const bool begun, BeginWriting(place, table, Writes::kRecords));
  if (!begun) return false;
  if (IsAboveRows(place)) inherited_.SetDirectory(row_key, change.record);
  std::vector<ChangedRecord> changed = change.kept;
  changed.push_back({qualifier, change.stored.own, change.put});
  const StatusOr<bool> written = WriteWhereUnchanged(changed);
  if (written.ok() && *written) {
    Wrote(change, change.changes_before);
    return true;
  }
  cache_.Forget(row_key);
  if (IsAboveRows(place)) CELLFS_RETURN_IF_ERROR(ReloadDirectory(row_key));
  if (written.status().code() == StatusCode::kOutcomeUnknown) return false;  // it is looked for
  return written;
}

void AttributeStore::Wrote(const RowChange& change, uint64_t changes_before) {
  const auto& [row_key, qualifier] = change.key;
  if (!change.kept.empty()) return cache_.Forget(row_key);
  cache_.Wrote(row_key, qualifier, change.record, change.version, change.record.mtime,
               changes_before);
}

StatusOr<bool> AttributeStore::BeginWriting(const Place& place, const DataTable& table,
                                            Writes what) {
  CELLFS_RETURN_IF_ERROR(table_.Make());
  if (table.schema == nullptr) return true;
  const bool is_records = what == Writes::kRecords;
  if (!freshness_.is_exact()) {
    CELLFS_ASSIGN_OR_RETURN(const bool done, identities_.Establish(*table.schema, table.row));
    if (!done) return false;
    const bool is_known =
        is_records ? table_.HasRecords(table.row) : table_.HasChanges(table.row);
    if (IsInRow(place.kind) && !is_known) {
      const char* const has = is_records ? kHasRecords : kHasChanges;
      Put put{table.row, {{kChangeFamily, has, kNoVersion, "1", {}}}};
      CELLFS_RETURN_IF_ERROR(table_.Write(std::move(put)));
    }
  }
  if (!IsInRow(place.kind)) return true;
  is_records ? table_.NoteRecords(table.row) : table_.NoteChanges(table.row);
  return true;
}

// The columns' before the directory's: whoever comes in between, they have what they are to keep.
StatusOr<bool> AttributeStore::WriteWhereUnchanged(const std::vector<ChangedRecord>& changed) {
  for (const auto& [qualifier, before, put] : changed) {
    if (put.cells.empty()) continue;
    const std::string text = before.since == 0 ? std::string() : WriteRecord(before);
    const ColumnCondition as_read{kOwnerFamily, qualifier, CompareOperator::kEqual, text};
    CELLFS_ASSIGN_OR_RETURN(const bool done, table_.WriteIf(as_read, RowMutations::Of(put)));
    if (!done) return false;
  }
  return true;
}

// Somebody else makes a row or family anew whose directory kept others out of what is deleted in it.
StatusOr<mode_t> AttributeStore::ClosedBefore(const Place& place, const DataTable& table,
                                              const AttributeUpdate& update,
                                              const OwnerRecord& own) {
  const bool holds_columns = place.kind == PlaceKind::kRow || place.kind == PlaceKind::kFamily;
  if (!update.anew || !update.uid || !holds_columns) return mode_t{0};
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode inherited, inherited_.Of(place, table, {}));
  if (own.uid.value_or(inherited.uid) == *update.uid) return mode_t{0};
  const mode_t before = own.mode.value_or(inherited.mode);
  const mode_t group = (before & S_IXGRP) == 0 ? S_IRWXG : 0;
  const mode_t others = (before & S_IXOTH) == 0 ? S_IRWXO : 0;
  return group | others;
}

// What the column has of its own afterwards, so that it shows what it has shown before, and lets in
// nobody whom its directory kept out.
StatusOr<OwnerRecord> AttributeStore::KeptBy(const Place& column, const DataTable& table,
                                             const RowRecords& records,
                                             const DirectoryChange& change) {
  const bool is_of_family = change.directory == DirectoryChange::Of::kFamily;
  const OwnerRecord& before = is_of_family ? change.before : records.family;
  const OwnerRecord& after = is_of_family ? change.after : records.family;
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode had, inherited_.Of(column, table, before));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode has, inherited_.Of(column, table, after));
  OwnerRecord kept = records.own;
  if (!kept.uid && had.uid != has.uid) kept.uid = had.uid;
  if (!kept.gid && had.gid != has.gid) kept.gid = had.gid;
  if (!kept.mode && had.mode != has.mode) kept.mode = had.mode;
  if (const mode_t mode = kept.mode.value_or(had.mode); (mode & change.closed) != 0)
    kept.mode = mode & ~change.closed;
  return kept;
}

// All of which a version is stored in the row, or in its family, hidden or not.
StatusOr<std::set<AttributeStore::ColumnName>> AttributeStore::StoredColumns(
    const Place& row_or_family) {
  std::set<ColumnName> columns;
  Scan scan;
  scan.start_row = scan.stop_row = row_or_family.row;
  scan.include_stop_row = true;
  if (!row_or_family.family.empty()) scan.columns[row_or_family.family] = {};
  scan.raw = true;
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  const auto see = [&](const RowCells& cells) {
    for (const Cell& cell : cells) {
      if (cell.type == CellType::kPut) columns.emplace(cell.family, cell.qualifier);
    }
    return Status();
  };
  CELLFS_RETURN_IF_ERROR(
      ForEachRow(store_, row_or_family.table, scan, {.partial_rows = true}, see));
  return columns;
}

StatusOr<std::vector<AttributeStore::ChangedRecord>> AttributeStore::KeepColumns(
    const Place& row_or_family, const DataTable& table, const DirectoryChange& change) {
  std::vector<ChangedRecord> changed;
  CELLFS_ASSIGN_OR_RETURN(const auto columns, StoredColumns(row_or_family));
  for (const auto& [family, qualifier] : columns) {
    const Place column = CellPlace(row_or_family.table, row_or_family.row, family, qualifier);
    const RecordKey key = RecordKeyOf(column, table);
    CELLFS_ASSIGN_OR_RETURN(const RowRecords records, Read(column, table, key, kNoVersion));
    CELLFS_ASSIGN_OR_RETURN(OwnerRecord kept, KeptBy(column, table, records, change));
    ChangedRecord record{key.qualifier, records.own, Put{key.row, {}}};
    PutOwner(key.qualifier, records.own, kept, record.put);
    if (!record.put.cells.empty()) changed.push_back(std::move(record));
  }
  return changed;
}

Status AttributeStore::Forget(const TracelessFile& gone) {
  if (!store_.traits().withdraws) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableToChange(gone.place));
  const RecordKey key = RecordKeyOf(gone.place, table);
  const auto no_other_change = BeginChange(key.row);
  const uint64_t changes = cache_.changes();
  CELLFS_ASSIGN_OR_RETURN(auto withdrawal, WithdrawalOf(gone, table, key));
  if (!withdrawal) return Status();
  const size_t withdraws = withdrawal->cells.size();
  const StatusOr<bool> withdrawn =
      table_.Write(RowStep{{key.row, {}}, std::move(withdrawal), {}});
  if (!withdrawn.ok()) {
    cache_.Forget(key.row);
    return withdrawn.status();
  }
  if (*withdrawn) WasWithdrawn(withdraws, key, gone, changes);
  return Status();
}

Status AttributeStore::IsStillTheSame(const TableName& table) {
  if (!keeps()) return Status();
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(const auto schema, store_.DescribeTable(table));
  return identities_.IsStillTheSame(*schema);
}

Status AttributeStore::DropNamespace(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  const auto no_loading = KeepFromLoading(place);
  const std::string row = RowKey(place, {});
  const bool has_own = inherited_.ForgetDirectory(row);
  cache_.Clear();
  return has_own ? table_.RemoveRows(row) : Status();
}

StatusOr<DataTable> AttributeStore::BeginDropTable(const Place& place) {
  CELLFS_RETURN_IF_ERROR(BeLoaded());
  CELLFS_ASSIGN_OR_RETURN(DataTable table, TableToChange(place));
  if (identities_.RowOf(*table.schema).empty()) table.row.clear();
  if (!table_.exists() || table.row.empty()) return table;
  // Without it, on a full disk say, rows that cannot be removed stay, and are shown nowhere.
  Put mark{table.row, {{kChangeFamily, kDropped, kNoVersion, "-", {}}}};
  static_cast<void>(table_.Write(std::move(mark)));
  return table;
}

// Without a schema where it is the loading that found the table gone.
Status AttributeStore::DropTable(const DataTable& table) {
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
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, TableToChange(place));
  if (!table_.HasRecords(table.row)) return Status();
  CELLFS_RETURN_IF_ERROR(table_.ForgetOwners(table.row, goes, time));
  cache_.Clear();
  return Status();
}

}  // namespace cellfs::fs
