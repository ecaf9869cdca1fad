// SPDX-License-Identifier: MIT
//
// AttributeTable: the table cellfs:attributes: whether it is there, for which tables of data it has
// anything, and how its rows go. Its format is fs/attributes/attribute_rows.h's.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_TABLE_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/store/column_mutations.h"
#include "fs/store/freshness.h"
#include "fs/store/read_ahead.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

// Thread-safe. Tables of data are named by their rows in it.
class AttributeTable {
 public:
  // All outlive it. `name`: its own.
  AttributeTable(Store& store, const Clock& clock, const Freshness& freshness, TableName name);

  const TableName& name() const { return name_; }

  // ---- What is known of it --------------------------------------------------------------------
  struct Contents {
    bool exists = false;
    std::set<std::string> tables_with_records;
    std::set<std::string> tables_with_changes;  // of rows and families
  };
  // As it was read. A table to which records came meanwhile stays one with records.
  void Learn(Contents contents);
  bool exists() const;
  // Whether anything is stored for the table's rows and what is in them.
  bool HasRecords(const std::string& table) const;
  // Grows whenever HasRecords may say something else of a table.
  uint64_t record_changes() const { return record_changes_.load(std::memory_order_acquire); }
  // Whether times of entries that came or went are.
  bool HasChanges(const std::string& table) const;
  // Before the write, so that no reader takes the table for one without records after it.
  void NoteRecords(const std::string& table);
  void NoteChanges(const std::string& table);

  // ---- Cells ----------------------------------------------------------------------------------
  // Makes it where it is not there. Under no mutex of a reader: a change of a table waits for the
  // scans of it, and their filters look here.
  Status Make();
  StatusOr<RowCells> Read(const Get& get) const { return ReadAt(get, nullptr); }
  // The same, and when that was read (Freshness::Now).
  StatusOr<RowCells> ReadAt(const Get& get, Timestamp* read_at) const;
  // The records of one place alone, of a row that is too long to be kept whole; `version` as of
  // AttributeStore::Find. As they were through the view, which shows the past, if one is given. Where they have to be
  // asked for over the network, what follows comes along.
  StatusOr<RowRecords> ReadRecords(const Place& place, const RecordKey& key, Timestamp version,
                                   const View* view = nullptr) const;
  // All that the version was given, as it is stored; empty: nothing.
  StatusOr<std::string> ReadTimesOf(const RecordKey& key, Timestamp version) const;
  Status Write(Mutation mutation) const;
  // For those that other mounts change too. False: the column holds something else.
  StatusOr<bool> WriteIf(const ColumnCondition& holds, RowMutations mutations) const;
  // Whether its withdrawal, if any, could be made.
  StatusOr<bool> Write(RowStep step) const;

  // ---- Rows that go ---------------------------------------------------------------------------
  // Those of the table, which has gone.
  Status RemoveTable(const std::string& table);
  // This row and those of its data; the last to be removed is the first, with the mark.
  Status RemoveRows(const std::string& first) const;
  // This row alone says nothing from `time` on. What it said before, of owners, modes and times that
  // were set, stays known.
  Status RetireRow(const std::string& row, Timestamp time) const;
  // The owners of qualifiers that `goes` says, of the table's data: records later than `time` are of
  // files made since then.
  using IsOfThese = std::function<bool(std::string_view qualifier)>;
  Status ForgetOwners(const std::string& table, const IsOfThese& goes, Timestamp time) const;

 private:
  Status DropRow(const RowCells& cells) const;
  Status DropRows(const std::string& first, const std::string& last) const;
  // What is stored in the row under the qualifier was changed.
  void Forget(const std::string& row, const std::string& qualifier) const;
  void ForgetRow(const std::string& row) const;
  StatusOr<RowRecords> ReadAlone(const Place& place, const RecordKey& key, Timestamp version,
                                 const View* view) const;
  StatusOr<RowRecords> ReadColumn(const Place& column, const RecordKey& key,
                                  Timestamp version) const;
  Status ReadOwner(const std::string& row, const std::string& qualifier, OwnerRecord& owner) const;
  StatusOr<AttributeRecord> ReadFamily(const Place& family, const RecordKey& key) const;
  // Nullopt: the row is too long.
  StatusOr<std::optional<RowRecords>> ReadPastRow(const Place& place, const RecordKey& key,
                                                  Timestamp version, const View& view) const;

  Store& store_;
  const TableName name_;
  const std::unique_ptr<ReadAhead> read_ahead_;  // null where what is read is kept anyway
  const ColumnMutations mutations_;

  const Freshness& freshness_;

  // What the columns of a long row are asked for with, and looked at for each of them.
  struct Family {
    RecordKey key;
    AttributeRecord record;
    Timestamp read_at = 0;
  };
  mutable std::mutex long_rows_mutex_;  // a leaf; guards the next three
  mutable std::optional<Family> family_;  // the last one
  mutable uint64_t family_changes_ = 0;   // how often one was forgotten
  mutable std::string long_past_row_;     // the last one that was too long

  std::mutex making_;                // while the table is made
  mutable std::shared_mutex mutex_;  // a leaf; guards the rest
  Contents contents_;
  std::atomic<uint64_t> record_changes_ = 0;  // written under it
};

// Calls `see` with each row of the table of data that the scan returns, or with each piece of one.
using SeeCells = std::function<Status(const RowCells& cells)>;
Status ForEachRow(Store& store, const TableName& table, const Scan& scan, const ScanBatch& batch,
                  const SeeCells& see);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_TABLE_H_
