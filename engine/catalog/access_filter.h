// SPDX-License-Identifier: MIT
//
// The filter that hides what a caller may not read (HBase's AccessControlFilter). Stands before the
// query's own filter, which never sees a hidden cell. A raw scan shows a family's tombstones to all
// who may read a column of it; HBase hides them from those who may not read all of the family.
#ifndef CELLFS_ENGINE_CATALOG_ACCESS_FILTER_H_
#define CELLFS_ENGINE_CATALOG_ACCESS_FILTER_H_

#include <atomic>
#include <vector>

#include "engine/admin.h"
#include "engine/filter.h"

namespace cellfs {

// `readable`: families and columns of the one table that is read. `inner` may be null, and so may
// `passed_over`, which is set where a cell is hidden (Query::passed_over).
FilterPtr MakeAccessFilter(std::vector<GrantScope> readable, const FilterPtr& inner,
                           std::atomic<bool>* passed_over);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_ACCESS_FILTER_H_
