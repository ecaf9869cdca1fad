// SPDX-License-Identifier: MIT
//
// What the store's observer is told of a rewrite that is in force: the columns that read otherwise
// than before, since cells have gone that tombstones had hidden.
#ifndef CELLFS_ENGINE_LOCAL_REWRITE_NOTICE_H_
#define CELLFS_ENGINE_LOCAL_REWRITE_NOTICE_H_

#include "engine/local/dropped_columns.h"
#include "engine/local/table_services.h"
#include "engine/local/table_version.h"

namespace cellfs {

// `before`: the version that was rewritten. Tombstones that come now are no concern: who reads them
// sees the rewrite as well.
void TellOfRewrite(TableServices& services, DroppedColumns dropped,
                   const TableVersionPtr& before) noexcept;

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_REWRITE_NOTICE_H_
