// SPDX-License-Identifier: MIT
//
// Multi: changes of several rows, or several changes of one, by one call to each server that has
// some of them. A row's mutations are one atomic step; those of a row of its own, and with a
// condition, too.
#ifndef CELLFS_ENGINE_HBASE_MULTI_H_
#define CELLFS_ENGINE_HBASE_MULTI_H_

#include <vector>

#include "engine/hbase/regions.h"
#include "engine/mutation.h"

namespace cellfs::hbase {

// Each row until it is done, refused, or the patience is over. As many answers as rows.
std::vector<StatusOr<MutationResult>> ChangeRows(Regions& regions, const TableName& table,
                                                 std::vector<const RowMutations*> rows,
                                                 const Patience& patience);

StatusOr<CheckAndMutateResult> ChangeRowIf(Regions& regions, const TableName& table,
                                           const cellfs::CheckAndMutate& check,
                                           const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_MULTI_H_
