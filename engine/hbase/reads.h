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
                        Clock::duration within);

// A scan over all regions of its range. Scanners hold leases at the servers, which are renewed for
// some minutes. One that is lost (its region moved, nobody asked for an hour) is opened again behind
// the last row that was returned, or in the middle of it. Each Next ends within the time given. From
// its second call on the next answer is asked for before it is wanted, one at a time.
StatusOr<std::unique_ptr<Scanner>> OpenScanner(Regions& regions, const TableName& table,
                                               const Scan& scan, Clock::duration within);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_READS_H_
