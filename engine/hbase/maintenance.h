// SPDX-License-Identifier: MIT
//
// What the servers of a table's regions are asked to do for it, region after region.
#ifndef CELLFS_ENGINE_HBASE_MAINTENANCE_H_
#define CELLFS_ENGINE_HBASE_MAINTENANCE_H_

#include "engine/admin.h"
#include "engine/hbase/regions.h"

namespace cellfs::hbase {

Status Flush(Regions& regions, const TableName& table, const Patience& patience);

// Done when it returns; kOutcomeUnknown where the patience ends before the servers are through.
// Which files a minor one merges, and whether any, is the servers' choice.
Status Compact(Regions& regions, const TableName& table, CompactionKind kind,
               const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_MAINTENANCE_H_
