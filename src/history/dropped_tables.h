// SPDX-License-Identifier: MIT
//
// What drops have taken away of what history is asked about, and the way to have it back where it
// is kept.
#ifndef CELLFS_SRC_HISTORY_DROPPED_TABLES_H_
#define CELLFS_SRC_HISTORY_DROPPED_TABLES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/past_catalog.h"
#include "src/history/scope.h"

namespace cellfs {

// As of Store::CatalogAt. Null: the store does not tell it, and what is there now counts as there
// then, unless it was made later.
using CatalogAt = std::function<StatusOr<std::shared_ptr<const PastCatalog>>(Timestamp time)>;

// Such that what is typed from it names that time, to the millisecond.
std::string ExactTime(Timestamp time);

// Of the table that was dropped first after that time, and is kept: "mv ns/.deleted/t ns/t". Nullopt:
// none is, as far as the store tells the caller.
std::optional<std::string> WayBack(const Statistics& statistics, const TableName& table,
                                   Timestamp time);
// The same of a namespace that is not there: "mv .deleted/ns ns".
std::optional<std::string> WayBack(const Statistics& statistics, const std::string& namespace_name);

// All that the caller may look into, by their ids; where he may not list the namespaces, of these.
std::map<TableId, TableName> PresentTables(const HistoryAccess& access,
                                           const std::vector<std::string>& namespaces);

// Of a table or a family that is not there: kUnavailable where it was at some of these times, both
// included, so that what it held is not known, or it has another name now; else kTableNotFound or
// kNoSuchColumnFamily, with when it was dropped. OK where it is there.
Status CheckIsNotDropped(const HistoryAccess& access, const CatalogAt& catalog_at,
                         const Scope& scope, Timestamp since, Timestamp until);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_DROPPED_TABLES_H_
