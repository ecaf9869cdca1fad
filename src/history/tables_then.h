// SPDX-License-Identifier: MIT
//
// The tables as they are now beside those of a time T: which of them can be made what they were by
// their cells alone, and what has become of the others.
#ifndef CELLFS_SRC_HISTORY_TABLES_THEN_H_
#define CELLFS_SRC_HISTORY_TABLES_THEN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/past_catalog.h"
#include "src/history/dropped_tables.h"
#include "src/history/scope.h"

namespace cellfs {

struct TablesThen {
  std::vector<TableName> there;     // by their present names
  std::vector<std::string> others;  // a line for each, for people, with what to do
};

// Whether what the name was at T can be told by the cells of the table that has it now: kUnavailable
// where it was another's then, or this one was in .deleted. OK of one that was made since, and of
// one that is not there.
Status CheckHadItsName(const HistoryAccess& access, const CatalogAt& catalog_at,
                       const TableName& table, Timestamp time);

std::string ClosedTable(const TableName& table);  // such a line

// Without a namespace: of all but the system's. kIllegalArgument: it is the system's.
// kNamespaceNotFound: with the way to bring it back, if it is kept; what listing says.
StatusOr<TablesThen> FindTablesThen(const HistoryAccess& access, const CatalogAt& catalog_at,
                                    const std::optional<std::string>& namespace_name,
                                    Timestamp time);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_TABLES_THEN_H_
