// SPDX-License-Identifier: MIT
//
// What removing a name leaves behind: nothing for a temporary file, else tombstones.
#ifndef CELLFS_FS_CONTENT_COLUMN_TRACES_H_
#define CELLFS_FS_CONTENT_COLUMN_TRACES_H_

#include <optional>

#include "engine/mutation.h"
#include "fs/base/outcome.h"
#include "fs/nodes/column.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// The timestamp of the column's only version, where it was put through this mount within the hour
// and the column has no other version and no tombstone: it may leave without trace. REQUIRES: the
// column's lock.
OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(const Column& column,
                                                        const Reading& reading,
                                                        const Caller& caller, const Place& place);

// Takes that version back.
Withdraw WithdrawVersion(const Place& column, Timestamp version);
// Takes back the tombstone that a rename left.
Withdraw WithdrawTombstone(const Place& column, Timestamp tombstone);
// A column tombstone, stamped like a write.
Mutation DeleteColumn(const Place& column);
// A tombstone for one version.
Mutation DeleteVersion(const Place& version);

// The directory, whose last cell went, stays as an empty one. Of very many the oldest goes.
void KeepEmptied(LiveTree& tree, const Place& directory);
// After a version has gone: .versions/q stays where it was the last, for rm -r removes it at its
// end.
void KeepEmptiedHistory(LiveTree& tree, const Resolver& resolver, const Caller& caller,
                        const Place& version);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_TRACES_H_
