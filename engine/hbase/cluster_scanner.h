// SPDX-License-Identifier: MIT
//
// A scan over all regions of its range, one after the other:
//
//   - each region has a scanner of its own at its server, whose lease is renewed for some minutes;
//   - a scanner that is lost (its region moved, nobody asked for an hour) is opened again behind the
//     last row that was returned, or in the middle of it;
//   - from its second Next on, the next answer is asked for before it is wanted, one at a time;
//   - each Next ends within the time given.
#ifndef CELLFS_ENGINE_HBASE_CLUSTER_SCANNER_H_
#define CELLFS_ENGINE_HBASE_CLUSTER_SCANNER_H_

#include <memory>

#include "engine/hbase/regions.h"
#include "engine/read.h"

namespace cellfs::hbase {

// kUnsupportedOperation for a filter that cannot be sent.
StatusOr<std::unique_ptr<Scanner>> OpenClusterScanner(Regions& regions, const TableName& table,
                                                      const Scan& scan,
                                                      SteadyClock::duration within);

// How a Next ends whose patience is over.
Status FoundNothingInTime(const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_CLUSTER_SCANNER_H_
