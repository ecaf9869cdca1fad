// SPDX-License-Identifier: MIT
//
// Space quotas: which tables are over their limit, and what is refused then (HBase's
// QuotaObserverChore and its violation policies). A table's own violation goes before its
// namespace's; a table that keeps its own quota still falls under the violation of its namespace.
#ifndef CELLFS_ENGINE_CATALOG_SPACE_QUOTAS_H_
#define CELLFS_ENGINE_CATALOG_SPACE_QUOTAS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "engine/catalog/catalog.h"
#include "engine/mutation.h"

namespace cellfs {

// `sizes`: bytes of store files; a table that is not there counts as 0.
std::map<TableName, SpaceViolationPolicy> FindViolations(
    const Catalog& catalog, const std::map<TableName, uint64_t>& sizes);

// Of a put.
Status SpaceLimiting(const TableName& table, SpaceViolationPolicy violation);

// kSpaceLimiting where the violation forbids one of the mutations.
Status CheckSpace(const TableName& table, const std::optional<SpaceViolationPolicy>& violation,
                  const RowMutations& mutations);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_SPACE_QUOTAS_H_
