// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_table.h"

#include <algorithm>
#include <map>
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
      mutations_(store, clock) {}

// ---- What is known of it ------------------------------------------------------------------------

void AttributeTable::Learn(Contents contents) {
  const std::unique_lock lock(mutex_);
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
  contents_.tables_with_records.insert(table);
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
  contents_.exists = true;
  return Status();
}

StatusOr<RowCells> AttributeTable::ReadAt(const Get& get, Timestamp* read_at) const {
  if (read_ahead_ == nullptr) return store_.Read(Caller::Superuser(), name_, get);
  CELLFS_ASSIGN_OR_RETURN(auto answer, read_ahead_->Ask(Caller::Superuser(), name_, get));
  if (read_at != nullptr) *read_at = answer.read_at;
  return std::move(answer.cells);
}

void AttributeTable::Forget(const std::string& row) const {
  if (read_ahead_ != nullptr) read_ahead_->Forget(name_, row);
}

StatusOr<RowRecords> AttributeTable::ReadRecords(const Place& place, const RecordKey& key,
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
      records.own.mtime = ReadTime(cell.value);
      continue;
    }
    OwnerRecord& owner = cell.qualifier == key.qualifier ? records.own : records.family;
    CELLFS_RETURN_IF_ERROR(ReadRecord(cell, owner));
  }
  return records;
}

Status AttributeTable::Write(Mutation mutation) const {
  const std::string row = read_ahead_ == nullptr ? std::string() : RowOf(mutation);
  const auto done =
      store_.Mutate(Caller::Superuser(), name_, RowMutations::Of(std::move(mutation)));
  Forget(row);
  return done.status();
}

StatusOr<bool> AttributeTable::WriteIf(const ColumnCondition& holds,
                                       RowMutations mutations) const {
  CheckAndMutate check;
  check.row = mutations.row;
  check.condition = holds;
  check.action = std::move(mutations);
  const auto result = store_.CheckAndMutate(Caller::Superuser(), name_, check);
  Forget(check.row);
  if (!result.ok()) return result.status();
  return result->done;
}

StatusOr<bool> AttributeTable::Write(RowStep step) const {
  const std::string row = read_ahead_ == nullptr ? std::string() : step.mutations.row;
  const auto done = mutations_.Do(Caller::Superuser(), name_, step);
  Forget(row);
  if (!done.ok()) return done.status();
  return done->withdrawn;
}

// ---- Rows that go -------------------------------------------------------------------------------

Status AttributeTable::RemoveTable(const std::string& table) {
  {
    const std::unique_lock lock(mutex_);
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
    RowCells others;
    for (const Cell& cell : cells) {
      if (cell.family != kOwnerFamily) {
        others.push_back(cell);
        continue;
      }
      Timestamp& at = owners.try_emplace(cell.qualifier, time).first->second;
      at = std::max(at, cell.timestamp + 1);
    }
    if (!others.empty()) CELLFS_RETURN_IF_ERROR(DropRow(others));
    if (owners.empty()) return Status();
    Put nothing{row, {}};
    for (const auto& [qualifier, at] : owners)
      nothing.cells.push_back({kOwnerFamily, qualifier, at, WriteRecord(OwnerRecord()), {}});
    return Write(std::move(nothing));
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
