// SPDX-License-Identifier: MIT
//
// How many tables and regions a namespace may have (HBase's NamespaceAuditor): properties of it,
// looked at when a table is made or split; lowering one below what is there touches nothing.
#ifndef CELLFS_ENGINE_CATALOG_NAMESPACE_QUOTA_H_
#define CELLFS_ENGINE_CATALOG_NAMESPACE_QUOTA_H_

#include "engine/catalog/catalog.h"

namespace cellfs {

// `hbase.namespace.quota.maxtables` and `.maxregions`, where they are there: kConstraint where one
// is not above 0, kDoNotRetry where it is no number.
Status CheckNamespaceQuota(const NamespaceSchema& schema);

// kQuotaExceeded where there is no room for the new table. REQUIRES: its namespace exists.
Status CheckRoomForTable(const Catalog& catalog, const TableSchema& table);
// The same for the regions alone of a table that is there and is to be as `table` says.
Status CheckRoomForRegions(const Catalog& catalog, const TableSchema& table);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_NAMESPACE_QUOTA_H_
