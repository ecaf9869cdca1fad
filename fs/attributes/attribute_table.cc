// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/waiting.h"

namespace cellfs::fs {

AttributeTable::AttributeTable(Store& store, const Clock& clock, const Freshness& freshness,
                               TableName name)
    : store_(store),
      name_(std::move(name)),
      read_ahead_(freshness.is_exact() ? nullptr
                                       : std::make_unique<ReadAhead>(
                                             store, freshness, ReadAhead::Histories::kBrought)),
      mutations_(store, clock),
      freshness_(freshness) {}

// ---- What is known of it ------------------------------------------------------------------------

void AttributeTable::Learn(Contents contents) {
  const std::unique_lock lock(mutex_);
  ++record_changes_;
  contents_.exists = contents_.exists || contents.exists;
  contents_.tables_with_records.merge(contents.tables_with_records);
  contents_.tables_with_changes.merge(contents.tables_with_changes);
}

bool AttributeTable::exists() const {
  const std::shared_lock lock(mutex_);
  return contents_.exists;
}

bool AttributeTable::HasRecords(const std::string& table) const {
  const std::shared_lock lock(mutex_);
  return contents_.exists && contents_.tables_with_records.contains(table);
}

bool AttributeTable::HasChanges(const std::string& table) const {
  const std::shared_lock lock(mutex_);
  return contents_.tables_with_changes.contains(table);
}

void AttributeTable::NoteRecords(const std::string& table) {
  const std::unique_lock lock(mutex_);
  if (contents_.tables_with_records.insert(table).second) ++record_changes_;
}

void AttributeTable::NoteChanges(const std::string& table) {
  const std::unique_lock lock(mutex_);
  contents_.tables_with_changes.insert(table);
}

// ---- Cells --------------------------------------------------------------------------------------

Status AttributeTable::Make() {
  if (exists()) return Status();
  const auto making = TakeLock(making_);
  if (exists()) return Status();
  const Caller& superuser = Caller::Superuser();
  if (!store_.DescribeNamespace(name_.namespace_name).ok()) {
    const Status made = store_.CreateNamespace(superuser, {name_.namespace_name, {}});
    if (made.code() != StatusCode::kNamespaceExists) CELLFS_RETURN_IF_ERROR(made);
  }
  TableSchema schema(name_);
  FamilySchema owner(kOwnerFamily);
  FamilySchema times(kTimeFamily);
  FamilySchema changes(kChangeFamily);
  CELLFS_RETURN_IF_ERROR(owner.Set("VERSIONS", std::to_string(kOwnerVersions)));
  CELLFS_RETURN_IF_ERROR(times.Set("VERSIONS", std::to_string(kAllVersions)));
  schema.families.emplace(kOwnerFamily, std::move(owner));
  schema.families.emplace(kTimeFamily, std::move(times));
  schema.families.emplace(kChangeFamily, std::move(changes));
  const Status made = store_.CreateTable(superuser, schema);
  if (made.code() != StatusCode::kTableExists) CELLFS_RETURN_IF_ERROR(made);  // another mount's
  const std::unique_lock lock(mutex_);
  ++record_changes_;
  contents_.exists = true;
  return Status();
}

StatusOr<RowCells> AttributeTable::ReadAt(const Get& get, Timestamp* read_at) const {
  if (read_ahead_ == nullptr) return store_.Read(Caller::Superuser(), name_, get);
  CELLFS_ASSIGN_OR_RETURN(auto answer, read_ahead_->Ask(Caller::Superuser(), name_, get));
  if (read_at != nullptr) *read_at = answer.read_at;
  return std::move(answer.cells);
}

void AttributeTable::Forget(const std::string& row, const std::string& qualifier) const {
  if (read_ahead_ == nullptr) return;
  read_ahead_->Forget(name_, row);
  const std::lock_guard lock(long_rows_mutex_);
  ++family_changes_;
  if (family_ && family_->key.row == row && family_->key.qualifier == qualifier) family_.reset();
}

void AttributeTable::ForgetRow(const std::string& row) const {
  if (read_ahead_ == nullptr) return;
  read_ahead_->Forget(name_, row);
  const std::lock_guard lock(long_rows_mutex_);
  ++family_changes_;
  if (family_ && family_->key.row == row) family_.reset();
}

StatusOr<RowRecords> AttributeTable::ReadRecords(const Place& place, const RecordKey& key,
                                                 Timestamp version, const View* view) const {
  const bool may_come_along = read_ahead_ != nullptr && freshness_.KeepsAnything();
  if (may_come_along && view == nullptr && place.IsColumn())
    return ReadColumn(place, key, version);
  if (may_come_along && view == nullptr && place.kind == PlaceKind::kFamily) {
    CELLFS_ASSIGN_OR_RETURN(const AttributeRecord own, ReadFamily(place, key));
    return RowRecords{own, {}};
  }
  if (may_come_along && view != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(auto past, ReadPastRow(place, key, version, *view));
    if (past) return *past;
  }
  return ReadAlone(place, key, version, view);
}

// One after the other of the row, as they are listed.
StatusOr<RowRecords> AttributeTable::ReadColumn(const Place& column, const RecordKey& key,
                                                Timestamp version) const {
  RowRecords records;
  CELLFS_RETURN_IF_ERROR(ReadOwner(key.row, key.qualifier, records.own));
  const Place family = FamilyPlace(column.table, column.row, column.family);
  CELLFS_ASSIGN_OR_RETURN(records.family, ReadFamily(family, {key.row, Qualifier(family)}));
  Get get;
  get.row = key.row;
  get.columns[kTimeFamily] = {key.qualifier};
  CELLFS_ASSIGN_OR_RETURN(RowCells times, Read(get));
  const Timestamp wanted = version < 0 ? kNoVersion : version;
  if (times.empty() || times.front().timestamp < wanted) return records;
  if (times.front().timestamp > wanted) {
    get.time_range = AtTimestamp(wanted);
    CELLFS_ASSIGN_OR_RETURN(times, Read(get));
  }
  if (!times.empty()) records.own.time = ReadTimes(times.front().value);
  return records;
}

Status AttributeTable::ReadOwner(const std::string& row, const std::string& qualifier,
                                 OwnerRecord& owner) const {
  Get get;
  get.row = row;
  get.columns[kOwnerFamily] = {qualifier};
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, Read(get));
  return cells.empty() ? Status() : ReadRecord(cells.front(), owner);
}

StatusOr<AttributeRecord> AttributeTable::ReadFamily(const Place& family,
                                                     const RecordKey& key) const {
  uint64_t changes = 0;
  {
    const std::lock_guard lock(long_rows_mutex_);
    const bool is_known = family_ && family_->key.row == key.row &&
                          family_->key.qualifier == key.qualifier &&
                          freshness_.IsFresh(family_->read_at);
    if (is_known) return family_->record;
    changes = family_changes_;
  }
  const Timestamp read_at = freshness_.Now();
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records, ReadAlone(family, key, kNoVersion, nullptr));
  const std::lock_guard lock(long_rows_mutex_);
  if (family_changes_ == changes) family_ = Family{key, records.own, read_at};
  return records.own;
}

StatusOr<std::optional<RowRecords>> AttributeTable::ReadPastRow(const Place& place,
                                                                const RecordKey& key,
                                                                Timestamp version,
                                                                const View& view) const {
  {
    const std::lock_guard lock(long_rows_mutex_);
    if (long_past_row_ == key.row) return std::optional<RowRecords>();
  }
  Get get;
  view.Narrow(get);
  get.row = key.row;
  get.columns[kOwnerFamily] = {};
  get.columns[kTimeFamily] = {};
  get.max_versions = kAllVersions;
  constexpr size_t kMostCells = AttributeCache::kMaxRowEntries;
  get.store_limit = kMostCells + 1;  // of each family
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, Read(get));
  if (cells.size() > kMostCells) {
    const std::lock_guard lock(long_rows_mutex_);
    long_past_row_ = key.row;
    return std::optional<RowRecords>();
  }
  RowRecords records;
  const auto take = [](const Cell& cell, OwnerRecord& owner) {
    return owner.since != 0 ? Status() : ReadRecord(cell, owner);  // the newest comes first
  };
  for (const Cell& cell : cells) {
    if (cell.family == kTimeFamily) {
      const bool is_of_version = cell.timestamp == (version < 0 ? kNoVersion : version);
      if (cell.qualifier != key.qualifier || !is_of_version) continue;
      records.own.time = ReadTimes(cell.value, view.Time());
    } else if (cell.qualifier == key.qualifier) {
      CELLFS_RETURN_IF_ERROR(take(cell, records.own));
    } else if (place.IsColumn() && cell.qualifier == place.family) {
      CELLFS_RETURN_IF_ERROR(take(cell, records.family));
    }
  }
  return std::optional(records);
}

StatusOr<RowRecords> AttributeTable::ReadAlone(const Place& place, const RecordKey& key,
                                               Timestamp version, const View* view) const {
  RowRecords records;
  Get get;
  if (view != nullptr) view->Narrow(get);
  get.row = key.row;
  get.columns[kOwnerFamily] = {key.qualifier};
  if (place.IsColumn()) get.columns[kOwnerFamily].insert(place.family);
  get.columns[kTimeFamily] = {key.qualifier};
  get.family_time_ranges[kTimeFamily] = AtTimestamp(version < 0 ? kNoVersion : version);
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, Read(get));
  for (const Cell& cell : cells) {
    if (cell.family == kTimeFamily) {
      records.own.time = ReadTimes(cell.value, view != nullptr ? view->Time() : kLatestTimestamp);
      continue;
    }
    OwnerRecord& owner = cell.qualifier == key.qualifier ? records.own : records.family;
    CELLFS_RETURN_IF_ERROR(ReadRecord(cell, owner));
  }
  return records;
}

StatusOr<std::string> AttributeTable::ReadTimesOf(const RecordKey& key, Timestamp version) const {
  Get get;
  get.row = key.row;
  get.columns[kTimeFamily] = {key.qualifier};
  get.time_range = AtTimestamp(version);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, Read(get));
  return cells.empty() ? std::string() : std::move(cells.front().value);
}

Status AttributeTable::Write(Mutation mutation) const {
  const std::string row = read_ahead_ == nullptr ? std::string() : RowOf(mutation);
  const auto done =
      store_.Mutate(Caller::Superuser(), name_, RowMutations::Of(std::move(mutation)));
  ForgetRow(row);
  return done.status();
}

StatusOr<bool> AttributeTable::WriteIf(const ColumnCondition& holds,
                                       RowMutations mutations) const {
  CheckAndMutate check;
  check.row = mutations.row;
  check.condition = holds;
  check.action = std::move(mutations);
  const auto result = store_.CheckAndMutate(Caller::Superuser(), name_, check);
  Forget(check.row, holds.qualifier);
  if (!result.ok()) return result.status();
  return result->done;
}

StatusOr<bool> AttributeTable::Write(RowStep step) const {
  const std::string row = read_ahead_ == nullptr ? std::string() : step.mutations.row;
  const auto done = mutations_.Do(Caller::Superuser(), name_, step);
  ForgetRow(row);
  if (!done.ok()) return done.status();
  return done->withdrawn;
}

// ---- Rows that go -------------------------------------------------------------------------------

Status AttributeTable::RemoveTable(const std::string& table) {
  {
    const std::unique_lock lock(mutex_);
    ++record_changes_;
    contents_.tables_with_records.erase(table);
    contents_.tables_with_changes.erase(table);
    if (!contents_.exists) return Status();
  }
  return RemoveRows(table);
}

Status AttributeTable::RemoveRows(const std::string& first) const {
  const std::string data = DataRowsOf(first);
  CELLFS_RETURN_IF_ERROR(DropRows(data, data + '\x02'));
  return data == first ? Status() : DropRows(first, first);
}

Status AttributeTable::DropRows(const std::string& first, const std::string& last) const {
  Scan scan;
  scan.start_row = last;
  scan.stop_row = first;
  scan.include_stop_row = true;
  scan.reversed = true;
  scan.raw = true;  // with versions that only newer ones hide
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  return ForEachRow(store_, name_, scan, {},
                    [this](const RowCells& cells) { return DropRow(cells); });
}

// Without tombstones: they would hide the times of versions of a later namespace of this name. What
// cannot be withdrawn is made to say nothing. No other table gets the rows of one.
Status AttributeTable::DropRow(const RowCells& cells) const {
  const std::string& row = cells.front().row;
  if (row.front() == kTableHereMark || row.front() == kDataHereMark) {
    return Write(RowStep{RowMutations::Of(Delete{row, {}}), {}, {}}).status();
  }
  Withdraw withdraw{row, {}};
  Put empty{row, {}};
  for (const Cell& cell : cells) {
    withdraw.cells.push_back({cell.family, cell.qualifier, cell.timestamp, cell.type});
    const std::string nothing = cell.family == kOwnerFamily ? WriteRecord(OwnerRecord()) : "";
    empty.cells.push_back({cell.family, cell.qualifier, cell.timestamp, nothing, {}});
  }
  return Write(RowStep{{row, {}}, std::move(withdraw), std::move(empty)}).status();
}

Status AttributeTable::RetireRow(const std::string& row, Timestamp time) const {
  Scan scan;
  scan.start_row = scan.stop_row = row;
  scan.include_stop_row = true;
  scan.raw = true;
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  return ForEachRow(store_, name_, scan, {}, [&](const RowCells& cells) -> Status {
    std::map<std::string, Timestamp> owners;
    std::set<std::string> times;
    RowCells others;
    for (const Cell& cell : cells) {
      if (cell.family == kOwnerFamily) {
        Timestamp& at = owners.try_emplace(cell.qualifier, time).first->second;
        at = std::max(at, cell.timestamp + 1);
      } else if (cell.family == kTimeFamily) {
        times.insert(cell.qualifier);
      } else {
        others.push_back(cell);
      }
    }
    if (!others.empty()) CELLFS_RETURN_IF_ERROR(DropRow(others));
    Put nothing{row, {}};
    for (const auto& [qualifier, at] : owners)
      nothing.cells.push_back({kOwnerFamily, qualifier, at, WriteRecord(OwnerRecord()), {}});
    for (const std::string& qualifier : times) {
      CELLFS_ASSIGN_OR_RETURN(const std::string before, ReadTimesOf({row, qualifier}, kNoVersion));
      std::string after = TimesAfter(before, ReadTimes(before), std::nullopt, time);
      nothing.cells.push_back({kTimeFamily, qualifier, kNoVersion, std::move(after), {}});
    }
    return nothing.cells.empty() ? Status() : Write(std::move(nothing));
  });
}

Status AttributeTable::ForgetOwners(const std::string& table, const IsOfThese& goes,
                                    Timestamp time) const {
  Scan scan;
  scan.start_row = DataRowsOf(table) + '\0';
  scan.stop_row = DataRowsOf(table) + kChangeSeparator;
  scan.columns[kOwnerFamily] = {};
  const std::string nothing = WriteRecord(OwnerRecord());
  const auto forget = [&](const RowCells& cells) {
    Put put{cells.front().row, {}};
    for (const Cell& cell : cells) {
      if (goes(cell.qualifier) && cell.timestamp <= time && cell.value != nothing)
        put.cells.push_back({kOwnerFamily, cell.qualifier, time, nothing, {}});
    }
    if (put.cells.empty()) return Status();
    return Write(std::move(put));
  };
  return ForEachRow(store_, name_, scan, {}, forget);
}

Status ForEachRow(Store& store, const TableName& table, const Scan& scan, const ScanBatch& batch,
                  const SeeCells& see) {
  CELLFS_ASSIGN_OR_RETURN(auto scanner, store.OpenScanner(Caller::Superuser(), table, scan));
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next(batch));
    for (const RowCells& cells : rows) CELLFS_RETURN_IF_ERROR(see(cells));
  }
  return Status();
}

}  // namespace cellfs::fs
