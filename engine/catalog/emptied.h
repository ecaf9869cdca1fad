// SPDX-License-Identifier: MIT
//
// When the cells of a family were thrown away as a whole: by a truncate of its table, or with the
// family or the table when that was dropped. They leave no trace among the cells of what has the
// name afterwards, so a catalog says since when the history of a name is known.
//
// Bounded, for every save of a catalog writes all of it: of kMaxEmptiedTables tables that are not
// there (of older ones one time stands for all), and of kMaxEmptiedFamilies of a table (of more the
// oldest time stands for every family).
#ifndef CELLFS_ENGINE_CATALOG_EMPTIED_H_
#define CELLFS_ENGINE_CATALOG_EMPTIED_H_

#include <cstddef>
#include <map>
#include <string>

#include "engine/catalog/catalog.h"

namespace cellfs {

inline constexpr size_t kMaxEmptiedTables = 512;
inline constexpr size_t kMaxEmptiedFamilies = 64;

// Before the table is taken out of the catalog, if it is.
void NoteTableEmptied(const TableName& table, Timestamp now, Catalog& catalog);
void NoteFamilyEmptied(const TableName& table, const std::string& family, Timestamp now,
                       Catalog& catalog);
// What is known of one table, and goes with it.
struct TableTimes {
  std::map<std::string, Timestamp> emptied;  // as of EmptiedFamilies
  Timestamp begun = 0;                       // as of TableBegun
  Timestamp created = 0;                     // of the table itself
};
TableTimes TimesOf(const Catalog& catalog, const TableName& table);
// The table has the name from now on, and brings its times along. Other tables that had the name
// say something of the time before it was made alone. Before the catalog has it so.
void NoteTableArrived(const TableTimes& table, const TableName& name, Catalog& catalog);
// It arrives under another name, and is gone from its own. Before the catalog has it so.
void NoteTableRenamed(const TableName& from, const TableName& to, Timestamp now, Catalog& catalog);
// Takes out what is over the bounds.
void PruneEmptied(Catalog& catalog);

// By family, also of those that are gone: what it held before that time is not known. "" is any
// family, with an entry of its own or not.
std::map<std::string, Timestamp> EmptiedFamilies(const Catalog& catalog, const TableName& table);
// Those of them that the table has not.
std::map<std::string, Timestamp> DroppedFamilies(const Catalog& catalog, const TableName& table);
std::map<std::string, Timestamp> DroppedFamilies(const CatalogDroppedTable& dropped);
// When the first table of that name was made, before which it held nothing; 0: it is not known.
Timestamp TableBegun(const Catalog& catalog, const TableName& table);
// When tables were dropped that are not there.
std::map<TableName, Timestamp> DroppedTables(const Catalog& catalog);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_EMPTIED_H_
