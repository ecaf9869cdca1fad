// SPDX-License-Identifier: MIT
//
// What removing a name leaves behind: nothing for a temporary file, else tombstones; and the
// directories it was in.
#ifndef CELLFS_FS_CONTENT_COLUMN_TRACES_H_
#define CELLFS_FS_CONTENT_COLUMN_TRACES_H_

#include <optional>

#include "engine/mutation.h"
#include "fs/base/outcome.h"
#include "fs/nodes/inode_table.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/place.h"
#include "fs/tree/recent_changes.h"

namespace cellfs::fs {

// The timestamp of the column's only version, where it was put through this mount within the hour
// and the column has no other version and no tombstone: it may leave without trace.
OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(RecentChanges& recent,
                                                        const InodeTable& inodes,
                                                        const Reading& reading,
                                                        const Caller& caller, const Place& column);

// Takes that version back.
Withdraw WithdrawVersion(const Place& column, Timestamp version);
// Takes back the tombstone that a rename left.
Withdraw WithdrawTombstone(const Place& column, Timestamp tombstone);
// A column tombstone, stamped like a write.
Mutation DeleteColumn(const Place& column);
// A tombstone for one version.
Mutation DeleteVersion(const Place& version);

// After the column's value has gone: family and row stay as empty directories where it was the
// last. What cannot be read is taken for empty: a directory that is kept in vain does no harm.
void KeepEmptiedDirectories(UnstoredEntries& unstored, const Reading& reading, const Caller& caller,
                            const Place& column);
// The same of .versions/q after a version has gone: rm -r removes it at its end.
void KeepEmptiedHistory(UnstoredEntries& unstored, const Resolver& resolver, timespec now,
                        const Caller& caller, const Place& version);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_TRACES_H_
