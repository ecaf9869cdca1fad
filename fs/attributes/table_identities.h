// SPDX-License-Identifier: MIT
//
// TableIdentities: which row of the table of attributes a table of data has. What is kept belongs
// to a table and not to its name: who makes one anew under the name of another inherits nobody.
//
// A store that gives ids to tables says it itself, and all of this is empty. Of another one a row
// "@ns:table" keeps the id that the first mount which had to write something has chosen, and the
// stamps by which the table was told then (TableIncarnation). A table of which both stamps are
// others is another one: it gets another id, and what was kept of the former goes. Where one of
// them is another one, the table was split or disabled, say, and both are noted anew. A table that
// is not in the store yet (fs/store/kept_tables.h) has an id in this process alone. While a mount
// makes a table anew none are noted: whatever is seen of it, it is the one; for five minutes, then
// that mount has died, and the stamps that are seen next are noted.
//
// All that changes is put on condition that it is as it was read, for other mounts do the same.
#ifndef CELLFS_FS_ATTRIBUTES_TABLE_IDENTITIES_H_
#define CELLFS_FS_ATTRIBUTES_TABLE_IDENTITIES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

#include "engine/cell.h"
#include "engine/clock.h"
#include "engine/schema.h"
#include "fs/attributes/attribute_table.h"

namespace cellfs::fs {

// Thread-safe.
class TableIdentities {
 public:
  // Both outlive it. `notes`: whether what is seen of a table may be noted.
  TableIdentities(AttributeTable& table, const Clock& clock, bool notes)
      : table_(table), clock_(clock), notes_(notes) {}

  struct Identity {
    TableId id = 0;
    TableIncarnation incarnation;
    std::string text;     // as it is stored
    Timestamp since = 0;  // when that was
    std::optional<TableIncarnation> tried;  // could not be noted
  };
  using Identities = std::map<TableName, Identity>;

  // ---- As they are stored
  static bool IsRowOfOne(const std::string& row);
  static Status Read(const Cell& cell, Identities& identities);
  // Counts changes. To be asked before they are read.
  uint64_t changes() const;
  // Unless something changed since then.
  void Learn(Identities identities, uint64_t changes_before);

  // ---- Of one table
  // Empty: nothing is kept of it.
  std::string RowOf(const TableSchema& schema) const;
  // For a table that has none; Establish gives it.
  static std::string NewRow();
  // Before something is written in the row, which is the table's or a new one. False: it was given
  // another one meanwhile, by another thread or mount.
  StatusOr<bool> Establish(const TableSchema& schema, const std::string& row);
  // Notes the stamps of a table that was seen, where one of them is a new one, or a mount that has
  // died has left none.
  void Note(const TableSchema& schema);
  // The table that this mount makes anew is the one that it was: before it does, and afterwards.
  Status IsStillTheSame(const TableSchema& schema);
  // It was dropped.
  Status Forget(const TableName& table);

 private:
  std::optional<Identity> Find(const TableName& table) const;
  void Set(const TableName& table, std::optional<Identity> identity);
  Status Reread(const TableName& table);
  // False: another mount was there first.
  StatusOr<bool> Put(const TableName& table, const std::string& text_before, Identity identity);

  // Whether a mount began to make the table anew so long ago that it has died in the midst of it.
  bool WasLeft(const Identity& identity) const;

  AttributeTable& table_;
  const Clock& clock_;
  const bool notes_;
  mutable std::shared_mutex mutex_;  // a leaf; guards the rest
  Identities stored_;
  std::map<TableName, TableId> here_;  // of tables that are not in the store yet
  uint64_t changes_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_TABLE_IDENTITIES_H_
