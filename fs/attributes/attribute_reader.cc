// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_reader.h"

#include <utility>

#include "fs/tree/viewed_catalog.h"

namespace cellfs::fs {

Status AttributesUnreadable(const Status& status) {
  const std::string why = "owner and mode cannot be read: " + status.ToString();
  const StatusCode code = status.code();
  if (code == StatusCode::kTimedOut || code == StatusCode::kCancelled) return {code, why};
  return {StatusCode::kIoError, why + "; see cellfs check"};
}

StatusOr<std::shared_ptr<const TableSchema>> AttributeReader::SchemaOf(const Place& place) const {
  std::shared_ptr<const TableSchema> none;
  if (place.table.name.empty()) return none;
  auto schema = PresentSchema(store_, place);
  if (schema.status().code() == StatusCode::kTableNotFound) return none;
  return schema;
}

DataTable AttributeReader::TableOf(std::shared_ptr<const TableSchema> schema) {
  if (schema == nullptr) return {};
  identities_.Note(*schema);
  std::string row = identities_.RowOf(*schema);
  return {std::move(schema), std::move(row)};
}

StatusOr<DataTable> AttributeReader::TableOf(const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, SchemaOf(place));
  return TableOf(std::move(schema));
}

StatusOr<DataTable> AttributeReader::TableToChange(const Place& place) {
  StatusOr<DataTable> table = TableOf(place);
  if (!table.ok() || place.table.name.empty()) return table;
  if (table->schema != nullptr) {
    if (table->row.empty()) table->row = TableIdentities::NewRow();
    return table;
  }
  return Status(StatusCode::kTableNotFound,
                "table '" + place.table.ToString() + "' does not exist");
}

bool AttributeReader::HasRecords(const Place& place, const DataTable& table) const {
  if (!place.table.name.empty() && table.row.empty()) return false;  // the table has gone
  return IsInRow(place.kind) ? table_.HasRecords(table.row) : table_.exists();
}

StatusOr<RowRecords> AttributeReader::Read(const Place& place, const DataTable& table,
                                           const RecordKey& key, Timestamp version) {
  auto records = HasRecords(place, table) ? ReadStored(place, key, version)
                                          : StatusOr<RowRecords>(RowRecords());
  if (made_ != nullptr && records.ok()) made_->Show(place, *records);
  return records;
}

// Most places are in tables without any: those need no key.
StatusOr<RowRecords> AttributeReader::Read(const Place& place, const DataTable& table,
                                           Timestamp version) {
  auto records = HasRecords(place, table)
                     ? ReadStored(place, RecordKeyOf(place, table), version)
                     : StatusOr<RowRecords>(RowRecords());
  if (made_ != nullptr && records.ok()) made_->Show(place, *records);
  return records;
}

StatusOr<RowRecords> AttributeReader::ReadToChange(const Place& place, const DataTable& table,
                                                   const RecordKey& key, Timestamp version) {
  if (!place.IsDirectory()) return Read(place, table, key, version);
  return HasRecords(place, table) ? ReadStored(place, key, version) : RowRecords();
}

StatusOr<RowRecords> AttributeReader::ReadStored(const Place& place, const RecordKey& key,
                                                 Timestamp version) {
  RowRecords records;
  const auto& [row_key, qualifier] = key;
  if (IsAboveRows(place)) {
    records.own = inherited_.Directory(row_key);
    return records;
  }
  const auto find = [&] {
    return cache_.Find(key.row, key.qualifier, version < 0 ? kNoVersion : version, place.family);
  };
  auto known = find();
  if (!known && freshness_.KeepsAnything()) {
    if (const Status taken = TakeIn(row_key); !taken.ok()) return AttributesUnreadable(taken);
    known = find();
  }
  if (!known || !known->whole) {
    auto alone = table_.ReadRecords(place, key, version);
    if (!alone.ok()) return AttributesUnreadable(alone.status());
    return alone;
  }
  static_cast<OwnerRecord&>(records.own) = known->owner;
  records.own.time = known->time;
  if (place.IsColumn()) records.family = known->family;
  return records;
}

// Reads the whole row for the cache.
Status AttributeReader::TakeIn(const std::string& row_key) {
  const uint64_t changes = cache_.ChangesOf(row_key);
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
    } else if (const TimeRecord time = ReadTimes(cell.value); time.since != 0) {
      stored.times.emplace(cell.timestamp, time);
    }
  }
  const bool fits = cells.size() <= kMaxCells;
  cache_.Remember(row_key, fits ? &row : nullptr, changes, read_at);
  return Status();
}

StatusOr<OwnerAndMode> AttributeReader::InForce(const Place& place, const DataTable& table,
                                                const RowRecords& records) {
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode inherited,
                          inherited_.Of(place, table, records.family));
  return OwnOver(inherited, records.own);
}

StatusOr<std::optional<timespec>> AttributeReader::ReadChange(const Place& directory,
                                                              const DataTable& table) {
  if (!IsInRow(directory.kind)) return inherited_.Directory(RowKey(directory, table)).changed;
  if (!table_.HasChanges(table.row)) return std::optional<timespec>();
  Get get;
  get.row = ChangeRowKey(directory, table);
  get.columns[kChangeFamily] = {Qualifier(directory)};
  const auto cells = table_.Read(get);
  if (!cells.ok()) return AttributesUnreadable(cells.status());
  return cells->empty() ? std::optional<timespec>() : ReadTime(cells->front().value);
}

StatusOr<std::vector<Timestamp>> AttributeReader::OwnerVersions(const RecordKey& key) {
  auto known = cache_.OwnerVersions(key.row, key.qualifier);
  if (known) return *std::move(known);
  Get get;
  get.row = key.row;
  get.columns[kOwnerFamily] = {key.qualifier};
  get.max_versions = kAllVersions;
  get.lengths_only = true;
  const auto cells = table_.Read(get);
  if (!cells.ok()) return AttributesUnreadable(cells.status());
  std::vector<Timestamp> versions;
  for (const Cell& cell : *cells) versions.push_back(cell.timestamp);
  return versions;
}

}  // namespace cellfs::fs
