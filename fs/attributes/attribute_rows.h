// SPDX-License-Identifier: MIT
//
// How owner, mode and times stand in the table cellfs:attributes.
//
// A row of it is the root ("/"), a namespace ("ns"), a table (":17", RowOfTable) or a data row
// (":17", NUL, row); its qualifiers are "" for the directory itself, "f" for a family, "f:q" for a
// column. Family `a` holds "uid gid mode ctime" in text, "-" where not stored, at the time when
// owner and mode became so; a change of ctime alone is written over it. So its newest
// kOwnerVersions versions tell whose the file was when. Family `m` holds the mtime that a version
// was given, in a cell of that version's timestamp, as "mtime since", and after it those before, the
// newest kTimeRecords of all; "-" is the version's own. Family `c` tells when an entry of the directory last came or went.
// For data rows and their families that stands in a row of its own (":17", SOH, row): files need
// not look for attributes in a table for which only such times are stored.
//
// In a store that gives tables no ids (fs/attributes/table_identities.h) a table is "=17", with a
// random number, its data rows are "~17", NUL, row. So what is not about data lies together, before
// all of that, and is read in one scan; family `c`, qualifiers "records" and "changes", says there
// whether there are any rows of data. Where others write, a record has a fifth word, by which it is
// told from one that says the same; else that is "0" where there is a sixth, the mode that a deleted
// column had before it was closed, or "-" where there is a seventh, the version from which on the
// name is another file's.
//
// The row "//" is of no place: what renames have begun stands there
// (fs/attributes/narrowed_modes.h).
//
// A table that is to be dropped has a mark beforehand (family `c`, qualifier "dropped"): should its
// rows not all go when it has gone, they do at the next mount.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_ROWS_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_ROWS_H_

#include <time.h>

#include <optional>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/names.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

inline const TableName kAttributesTable{std::string(kHiddenNamespace),
                                        std::string(kAttributesName)};
inline constexpr char kOwnerFamily[] = "a";
inline constexpr char kTimeFamily[] = "m";
inline constexpr char kChangeFamily[] = "c";
// Qualifiers in kChangeFamily, of a table.
inline constexpr char kDropped[] = "dropped";
inline constexpr char kHasRecords[] = "records";
inline constexpr char kHasChanges[] = "changes";
inline constexpr char kChangeSeparator = '\x01';
// So many times that one version was given are kept.
inline constexpr size_t kTimeRecords = 10;
// Of the time of a directory: it has no versions.
inline constexpr Timestamp kNoVersion = 0;

// ---- Where --------------------------------------------------------------------------------------

// ":17", "=17".
std::string RowOfTable(TableId id);
std::string RowOfTableHere(TableId id);
// REQUIRES: what RowOfTableHere returned.
TableId IdOfTableHere(std::string_view row);
inline constexpr char kTableHereMark = '=';
inline constexpr char kDataHereMark = '~';  // behind all others
// What the rows of the table's data begin with.
std::string DataRowsOf(const std::string& table_row);

// In a data row, or that itself.
bool IsInRow(PlaceKind kind);
// A root, namespace or table: what is stored for it is at hand always.
bool IsAboveRows(const Place& place);
std::string RowKey(const Place& place, const DataTable& table);
// Of family `c`.
std::string ChangeRowKey(const Place& directory, const DataTable& table);
std::string Qualifier(const Place& place);

// Where the records of a place stand.
struct RecordKey {
  std::string row;
  std::string qualifier;
};
inline RecordKey RecordKeyOf(const Place& place, const DataTable& table) {
  return {RowKey(place, table), Qualifier(place)};
}

// What is stored for a place, and for the family of a row that a column is in.
struct RowRecords {
  AttributeRecord own;
  OwnerRecord family;
};

inline OwnerAndMode OwnOver(OwnerAndMode inherited, const OwnerRecord& own) {
  return {own.uid.value_or(inherited.uid), own.gid.value_or(inherited.gid),
          own.mode.value_or(inherited.mode)};
}

// ---- As text ------------------------------------------------------------------------------------

std::string WriteRecord(const OwnerRecord& record);
// kCorruption: it is none.
Status ReadRecord(const Cell& cell, OwnerRecord& record);
std::string WriteTime(const timespec& time);
std::optional<timespec> ReadTime(std::string_view text);
// Of the times that a version was given, what was so at the time.
TimeRecord ReadTimes(std::string_view text, Timestamp time = kLatestTimestamp);
// `before`, the records of which the newest is `newest`, with another mtime from `now` on.
std::string TimesAfter(std::string_view before, const TimeRecord& newest,
                       const std::optional<timespec>& mtime, Timestamp now);

bool SameTime(const std::optional<timespec>& a, const std::optional<timespec>& b);
bool SameOwner(const OwnerRecord& a, const OwnerRecord& b);
// As family `a` holds it.
bool SameRecord(const OwnerRecord& a, const OwnerRecord& b);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_ROWS_H_
