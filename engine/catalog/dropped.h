// SPDX-License-Identifier: MIT
//
// What a catalog says of tables and namespaces that were dropped and are kept. A dropped table is
// among no tables: nothing finds it but who asks for what was dropped, or for its id. It keeps its
// id, its cells and its schema; quota, violation and grants have gone, as in HBase.
#ifndef CELLFS_ENGINE_CATALOG_DROPPED_H_
#define CELLFS_ENGINE_CATALOG_DROPPED_H_

#include <map>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"

namespace cellfs {

// Whether its drop keeps it, where it holds a cell.
bool IsToBeKept(const CatalogTable& table);
// When it is to go.
Timestamp ExpiryOf(const CatalogDroppedTable& dropped);

// All that is kept is opened with the store and told in each save of the catalog: beyond so many
// tables the oldest goes.
inline constexpr size_t kMostKeptTables = 1000;

// Instead of EraseTable: the table was dropped and is kept.
void KeepDropped(const TableName& table, Timestamp now, Catalog& catalog);
// Instead of EraseNamespace. It is kept where a table is kept that was dropped in it.
void KeepDroppedNamespace(const std::string& name, Timestamp now, Catalog& catalog);

// Null: none of that id, or that time, is kept.
const CatalogDroppedTable* FindDropped(const Catalog& catalog, TableId id);
const CatalogDroppedNamespace* FindDroppedNamespace(const Catalog& catalog, Timestamp dropped);
// Those that were dropped in the namespace that was dropped at that time; 0: in the one of that
// name that is there.
std::vector<TableId> TablesDroppedIn(const Catalog& catalog, const std::string& name,
                                     Timestamp namespace_dropped);

// The table is there again, as `schema` says, which bears its name.
void BringBackDropped(TableId id, std::shared_ptr<const TableSchema> schema, Timestamp now,
                      Catalog& catalog);
// The namespace is there again under that name, and what is kept in it is kept there.
void BringBackDroppedNamespace(Timestamp dropped, const std::string& name, Timestamp now,
                               Catalog& catalog);
// For good; a dropped namespace goes with the last table that is kept in it.
void ForgetDropped(TableId id, Catalog& catalog);
// Before that, where it goes before its time. The latest 16 are told.
void NoteFreedEarly(const CatalogDroppedTable& dropped, const std::string& reason,
                    Catalog& catalog);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_DROPPED_H_
