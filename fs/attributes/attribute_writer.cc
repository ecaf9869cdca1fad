// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_writer.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "engine/waiting.h"
#include "fs/attributes/attribute_loading.h"
#include "fs/base/random_number.h"

namespace cellfs::fs {

timespec ToTimespec(Timestamp milliseconds) {
  return {static_cast<time_t>(milliseconds / 1000),
          static_cast<long>(milliseconds % 1000 * 1000000)};
}

Timestamp ToMilliseconds(const timespec& time) {
  return static_cast<Timestamp>(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

// What an update changes in a row of the table.
struct AttributeWriter::RowChange {
  RecordKey key;
  bool place_is_in_row = true;
  Timestamp since = 0;  // from when on the records say something else of who owns it
  Timestamp version = kNoVersion;
  uint64_t changes_before = 0;  // AttributeCache::ChangesOf
  RowRecords stored;
  std::optional<OwnerAndMode> inherited;
  AttributeRecord record;           // afterwards
  Put put;                          // of that
  std::vector<ChangedRecord> kept;  // by what is in the directory that the place is
};

StatusOr<bool> AttributeWriter::BeginWriting(const Place& place, const DataTable& table,
                                             WrittenAttributes what) {
  CELLFS_RETURN_IF_ERROR(table_.Make());
  if (table.schema == nullptr) return true;
  const bool is_records = what == WrittenAttributes::kRecords;
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

std::unique_lock<std::mutex> AttributeWriter::BeginChange(const std::string& row_key) {
  const size_t number = std::hash<std::string>()(row_key) % changing_.size();
  return TakeLock(changing_[number]);
}

StatusOr<std::optional<AttributeWriter::Updated>> AttributeWriter::TryUpdate(
    const Place& place, const DataTable& table, const AttributeUpdate& update,
    const TracelessFile* gone, uint64_t& mark) {
  // Most files that are made have what they inherit, in tables for which nothing is stored.
  if (freshness_.is_exact() && update.anew && place.IsColumn() && gone == nullptr &&
      !reader_.HasRecords(place, table)) {
    std::optional<OwnerAndMode> inherited;
    CELLFS_ASSIGN_OR_RETURN(const AttributeRecord record,
                            RecordAfter(place, table, update, RowRecords(), inherited));
    if (SameRecord(OwnerRecord(), record) && !record.time.mtime)
      return std::optional(Updated{{record, {}}, inherited});
  }
  RowChange change;
  change.key = RecordKeyOf(place, table);
  change.place_is_in_row = IsInRow(place.kind);
  const auto no_other_change = BeginChange(change.key.row);
  change.changes_before = cache_.ChangesOf(change.key.row);
  CELLFS_RETURN_IF_ERROR(Prepare(place, table, update, change));
  if (mark != 0 && change.stored.own.mark == mark)  // the last attempt was done
    return std::optional(Updated{change.stored, {}});
  if (freshness_.is_exact()) {
    CELLFS_RETURN_IF_ERROR(WriteAlone(place, table, gone, change));
  } else {
    mark = change.record.mark != change.stored.own.mark ? change.record.mark : 0;
    CELLFS_ASSIGN_OR_RETURN(const bool done, WriteBesideOthers(place, table, change));
    if (!done) return std::optional<Updated>();
  }
  return std::optional(Updated{{change.record, change.stored.family}, change.inherited});
}

StatusOr<AttributeRecord> AttributeWriter::RecordAfter(const Place& place, const DataTable& table,
                                                       const AttributeUpdate& update,
                                                       const RowRecords& stored,
                                                       std::optional<OwnerAndMode>& inherited) {
  if (update.uid || update.gid || update.mode) {
    CELLFS_ASSIGN_OR_RETURN(inherited, inherited_.Of(place, table, stored.family));
  }
  const OwnerAndMode above = inherited.value_or(OwnerAndMode());
  AttributeRecord record = update.anew ? AttributeRecord() : stored.own;
  auto keep = [](auto value, auto from_above, auto& kept) {
    if (value && *value == from_above) kept.reset();
    if (value && *value != from_above) kept = *value;
  };
  keep(update.uid, above.uid, record.uid);
  keep(update.gid, above.gid, record.gid);
  keep(update.mode, above.mode, record.mode);
  // Copies make their directories 0700 and give them their modes at the end: what was made in one
  // with a mode that only happens to be inherited keeps it.
  const mode_t usual = place.IsDirectory() ? options_.directory_mode : options_.file_mode;
  if (update.mode && *update.mode != usual) record.mode = *update.mode;
  if (update.mode) record.had_mode.reset();
  if (update.as_own) {
    record.uid = update.uid;
    record.gid = update.gid;
    record.mode = update.mode;
  }
  if (update.ctime) record.ctime = update.ctime;

  record.since = stored.own.since;
  std::optional<timespec> mtime = stored.own.time.mtime;
  if (update.anew || update.forget_mtime) mtime.reset();
  if (update.mtime) mtime = update.mtime;
  if (update.version >= 0 && SameTime(mtime, ToTimespec(update.version))) mtime.reset();
  record.time = {mtime, stored.own.time.since};
  return record;
}

// With the time from which on it is in force, which `after` gets as well: `since`, or that of the
// record before where owner and mode stay.
void AttributeWriter::PutOwner(const std::string& qualifier, const OwnerRecord& before,
                               const std::optional<Timestamp>& another_from, Timestamp since,
                               OwnerRecord& after, Put& put) const {
  after.since = before.since;
  after.mark = before.mark;
  after.another_from = before.another_from;
  if (SameRecord(before, after)) return;
  if (!freshness_.is_exact()) after.mark = RandomNumber();
  const bool is_other = before.since == 0 || !SameOwner(before, after);
  if (is_other) after.since = since;
  // Of what had no record nothing is known, not even that it was there.
  if (after.since != before.since) after.another_from = 0;
  if (another_from && is_other && before.since != 0) after.another_from = *another_from;
  put.cells.push_back({kOwnerFamily, qualifier, after.since, WriteRecord(after), {}});
}

// Where the mtime is another.
Status AttributeWriter::PutTime(RowChange& change) const {
  const TimeRecord& before = change.stored.own.time;
  TimeRecord& after = change.record.time;
  if (SameTime(before.mtime, after.mtime)) return {};
  std::string times;
  // What one had that was dropped, of the name of a directory above the rows, is not at hand.
  if (before.since != 0 || (!change.place_is_in_row && table_.exists())) {
    CELLFS_ASSIGN_OR_RETURN(times, table_.ReadTimesOf(change.key, change.version));
  }
  times = TimesAfter(times, before, after.mtime, clock_.Now());
  after.since = ReadTimes(times).since;
  change.put.cells.push_back(
      {kTimeFamily, change.key.qualifier, change.version, std::move(times), {}});
  return {};
}

Status AttributeWriter::Prepare(const Place& place, const DataTable& table,
                                const AttributeUpdate& update, RowChange& change) {
  const auto& [row_key, qualifier] = change.key;
  CELLFS_ASSIGN_OR_RETURN(change.stored,
                          reader_.ReadToChange(place, table, change.key, update.version));
  const OwnerRecord& before = change.stored.own;
  CELLFS_ASSIGN_OR_RETURN(change.record,
                          RecordAfter(place, table, update, change.stored, change.inherited));
  if (update.version >= 0) change.version = update.version;
  change.put.row = row_key;
  const DirectoryRecordChange directory{
      before, change.record, update.anew ? update.uid : std::nullopt};
  CELLFS_ASSIGN_OR_RETURN(const auto columns, kept_.Of(place, table, directory));
  const Timestamp now = clock_.Now();
  // One for all, so that what is in a directory is at no time without what it keeps; and none from
  // before another record, for the clock may have been set back.
  change.since = std::max({now, before.since, Timestamp{1}});
  for (const KeptColumn& column : columns)
    change.since = std::max(change.since, column.before.since);
  std::optional<Timestamp> another_from = update.another_from;
  if (update.anew && !another_from) another_from = now;
  PutOwner(qualifier, before, another_from, change.since, change.record, change.put);
  CELLFS_RETURN_IF_ERROR(PutTime(change));
  for (auto [column, had, keeps] : columns) {
    ChangedRecord record{column.qualifier, had, Put{column.row, {}}};
    PutOwner(column.qualifier, had, std::nullopt, change.since, keeps, record.put);
    change.kept.push_back(std::move(record));
  }
  return {};
}

// In one step.
Status AttributeWriter::WriteAlone(const Place& place, const DataTable& table,
                                   const TracelessFile* gone, RowChange& change) {
  const std::string& row_key = change.key.row;
  RowStep step{{row_key, {}}, {}, {}};
  step.mutations.mutations.reserve(RowStep::kMostMutations);
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
  // Where something was read all of that was done.
  if (change.stored.own.since == 0)
    CELLFS_RETURN_IF_ERROR(BeginWriting(place, table, WrittenAttributes::kRecords).status());
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
StatusOr<bool> AttributeWriter::WriteBesideOthers(const Place& place, const DataTable& table,
                                                  const RowChange& change) {
  if (change.put.cells.empty() && change.kept.empty()) return true;
  const auto& [row_key, qualifier] = change.key;
  CELLFS_ASSIGN_OR_RETURN(const bool begun,
                          BeginWriting(place, table, WrittenAttributes::kRecords));
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
  if (IsAboveRows(place)) CELLFS_RETURN_IF_ERROR(ReloadDirectory(table_, row_key, inherited_));
  if (written.status().code() == StatusCode::kOutcomeUnknown) return false;  // it is looked for
  return written;
}

// The columns' before the directory's: whoever comes in between, they have what they are to keep.
StatusOr<bool> AttributeWriter::WriteWhereUnchanged(const std::vector<ChangedRecord>& changed) {
  for (const auto& [qualifier, before, put] : changed) {
    if (put.cells.empty()) continue;
    const std::string text = before.since == 0 ? std::string() : WriteRecord(before);
    const ColumnCondition as_read{kOwnerFamily, qualifier, CompareOperator::kEqual, text};
    CELLFS_ASSIGN_OR_RETURN(const bool done, table_.WriteIf(as_read, RowMutations::Of(put)));
    if (!done) return false;
  }
  return true;
}

void AttributeWriter::Wrote(const RowChange& change, uint64_t changes_before) {
  const auto& [row_key, qualifier] = change.key;
  if (!change.kept.empty()) return cache_.Forget(row_key);
  cache_.Wrote(row_key, qualifier, change.record, change.version, change.record.time,
               changes_before);
}

Status AttributeWriter::Forget(const TracelessFile& gone) {
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, reader_.TableToChange(gone.place));
  const RecordKey key = RecordKeyOf(gone.place, table);
  const auto no_other_change = BeginChange(key.row);
  const uint64_t changes = cache_.ChangesOf(key.row);
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

// Nothing where nothing is stored for it. Withdrawn, as the file itself is: an empty record would
// be there for ever, and every copier's temporaries have new names.
StatusOr<std::optional<Withdraw>> AttributeWriter::WithdrawalOf(const TracelessFile& gone,
                                                                const DataTable& table,
                                                                const RecordKey& key) {
  CELLFS_ASSIGN_OR_RETURN(const RowRecords records,
                          reader_.Read(gone.place, table, key, gone.version));
  const AttributeRecord& stored = records.own;
  const std::string& qualifier = key.qualifier;
  Withdraw withdraw{key.row, {}};
  if (stored.since != 0) {
    CELLFS_ASSIGN_OR_RETURN(const auto versions, reader_.OwnerVersions(key));
    withdraw.cells.reserve(versions.size() + 1);
    for (const Timestamp version : versions) {
      withdraw.cells.push_back({kOwnerFamily, qualifier, version});
    }
  }
  if (stored.time.since != 0) withdraw.cells.push_back({kTimeFamily, qualifier, gone.version});
  if (withdraw.cells.empty()) return std::optional<Withdraw>();
  return std::optional(std::move(withdraw));
}

// Behind so many versions there may be one more, which is read now.
void AttributeWriter::WasWithdrawn(size_t cells, const RecordKey& key, const TracelessFile& gone,
                                   uint64_t changes) {
  if (cells >= kOwnerVersions) return cache_.Forget(key.row);
  cache_.Wrote(key.row, key.qualifier, {}, gone.version, {}, changes);
}

}  // namespace cellfs::fs
