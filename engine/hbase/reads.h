// SPDX-License-Identifier: MIT
//
// Reads of a cluster's tables, in the engine's words. Each may be made again, and so waits out a
// region that moves, splits or is opened elsewhere. The servers run a filter that can be sent;
// another one is run here.
#ifndef CELLFS_ENGINE_HBASE_READS_H_
#define CELLFS_ENGINE_HBASE_READS_H_

#include <memory>

#include "engine/hbase/regions.h"
#include "engine/read.h"

namespace cellfs::hbase {

StatusOr<RowCells> Read(Regions& regions, const TableName& table, const Get& get,
                        SteadyClock::duration within);

// See cluster_scanner.h.
StatusOr<std::unique_ptr<Scanner>> OpenScanner(Regions& regions, const TableName& table,
                                               const Scan& scan, SteadyClock::duration within);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_READS_H_
