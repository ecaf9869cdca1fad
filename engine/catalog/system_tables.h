// SPDX-License-Identifier: MIT
//
// The tables of the namespace `hbase`: what the catalog says, as cells, in HBase's rows and
// columns. Values that HBase writes as protocol buffers are text here. Nothing is stored: the
// cells are made from the catalog as it is when they are read.
//
//   meta       row "table,startkey,created.hash."  info:regioninfo, info:state
//              row "table"                         table:state            ENABLED, DISABLED
//   namespace  row "ns"                            info:d
//   quota      row "t.table", "n.ns"               q:s                    the space quota
//              row "t.table"                       u:p                    the violation in force
//   acl        row "table", "@ns", "hbase:acl" (global)
//                                                  l:user[,family[,qualifier]]   letters of RWXCA
#ifndef CELLFS_ENGINE_CATALOG_SYSTEM_TABLES_H_
#define CELLFS_ENGINE_CATALOG_SYSTEM_TABLES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/clock.h"
#include "engine/snapshot.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

// In the order of their names; all are READONLY.
const std::vector<std::shared_ptr<const TableSchema>>& SystemTableSchemas();

// All users may read where regions and namespaces are, as in HBase.
bool IsReadableByAll(const TableName& table);

// The cells of each family, in cell order.
std::map<std::string, std::vector<Cell>> SystemTableCells(const Catalog& catalog,
                                                          const TableName& table);

using CatalogSource = std::function<Snapshot<Catalog>()>;

// Beneath the region of a system table; every change of it is kReadOnly.
std::shared_ptr<CellStorage> MakeSystemTableStorage(std::shared_ptr<const TableSchema> schema,
                                                    CatalogSource catalog,
                                                    std::shared_ptr<const Clock> clock);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_SYSTEM_TABLES_H_
