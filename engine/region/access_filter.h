// SPDX-License-Identifier: MIT
//
// The filter that hides what a caller may not read (HBase's AccessControlFilter). Stands before the
// query's own filter, which never sees a hidden cell.
#ifndef CELLFS_ENGINE_REGION_ACCESS_FILTER_H_
#define CELLFS_ENGINE_REGION_ACCESS_FILTER_H_

#include <vector>

#include "engine/admin.h"
#include "engine/filter.h"

namespace cellfs {

// `readable`: families and columns of the one table that is read. `inner` may be null.
FilterPtr MakeAccessFilter(std::vector<GrantScope> readable, const FilterPtr& inner);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_ACCESS_FILTER_H_
