// SPDX-License-Identifier: MIT
//
// Rights of a cluster whose AccessController is on: its master changes them, and its table hbase:acl
// tells them. kUnsupportedOperation where it is off.
#ifndef CELLFS_ENGINE_HBASE_GRANTS_H_
#define CELLFS_ENGINE_HBASE_GRANTS_H_

#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/hbase/master.h"
#include "engine/hbase/regions.h"

namespace cellfs::hbase {

Status GrantRights(Master& master, const Grant& grant, bool merge, const Patience& patience);
Status RevokeRights(Master& master, const std::string& user, const GrantScope& scope,
                    const Patience& patience);
StatusOr<std::vector<Grant>> GrantsOf(Regions& regions, SteadyClock::duration within);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_GRANTS_H_
