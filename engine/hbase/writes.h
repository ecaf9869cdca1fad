// SPDX-License-Identifier: MIT
//
// Writes to a cluster's tables, in the engine's words. Each waits out a region that moves, splits
// or is opened elsewhere, as long as nobody can have done it. Where a server may have done it and
// does not say so, it is made again if that changes nothing: a put or delete whose timestamps the
// caller chose, anywhere; a single Increment or Append, by its nonce, at the same server. Else the
// outcome is unknown: kOutcomeUnknown. So it is where a condition is found not to hold when it is
// asked again, for what was done the first time may be why.
//
// A server does not tell which timestamps it chose: kLatestTimestamp stands for them in results.
#ifndef CELLFS_ENGINE_HBASE_WRITES_H_
#define CELLFS_ENGINE_HBASE_WRITES_H_

#include <vector>

#include "engine/hbase/regions.h"
#include "engine/mutation.h"

namespace cellfs::hbase {

StatusOr<MutationResult> Mutate(Regions& regions, const TableName& table,
                                const RowMutations& mutations, SteadyClock::duration within);

StatusOr<CheckAndMutateResult> CheckAndMutate(Regions& regions, const TableName& table,
                                              const cellfs::CheckAndMutate& check,
                                              SteadyClock::duration within);

// Each row on its own; servers work side by side. Of a row that is named twice the second comes
// when the first has been answered. As many answers as rows.
std::vector<StatusOr<MutationResult>> Batch(Regions& regions, const TableName& table,
                                            const std::vector<RowMutations>& rows,
                                            SteadyClock::duration within);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_WRITES_H_
