// SPDX-License-Identifier: MIT
//
// Space quotas of a cluster: its master sets them, and its table hbase:quota tells them.
#ifndef CELLFS_ENGINE_HBASE_SPACE_QUOTAS_H_
#define CELLFS_ENGINE_HBASE_SPACE_QUOTAS_H_

#include <optional>
#include <string>
#include <variant>

#include "engine/admin.h"
#include "engine/hbase/master.h"
#include "engine/hbase/regions.h"

namespace cellfs::hbase {

// A table, or a namespace by its name.
using QuotaScope = std::variant<TableName, std::string>;

// Nothing: removes it. kOutcomeUnknown where the master does not answer.
Status SetSpaceQuota(Master& master, const QuotaScope& scope,
                     const std::optional<SpaceQuota>& quota, const Patience& patience);

// Also nothing where the cluster has no quotas at all.
StatusOr<std::optional<SpaceQuota>> SpaceQuotaOf(Regions& regions, const QuotaScope& scope,
                                                 SteadyClock::duration within);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SPACE_QUOTAS_H_
