// SPDX-License-Identifier: MIT
//
// What follows a change in the store, by how that ended.
//   - Done: what else is to be remembered may fail. That is logged, and the change stays done.
//   - Unknown (kOutcomeUnknown): it may be done. What was known of the column goes.
//   - Not done: nothing follows.
#ifndef CELLFS_FS_AFTER_CHANGE_H_
#define CELLFS_FS_AFTER_CHANGE_H_

#include <functional>
#include <string_view>

#include "fs/mount_context.h"
#include "fs/outcome.h"
#include "fs/place.h"

namespace cellfs::fs {

// `remembered` is about a change that is done: a failure goes to the log alone.
void NoteAfterwards(MountContext& mount, std::string_view operation, const Place& place,
                    const Outcome& remembered);

// A change of the column may or may not be done: what the file system knew of it goes, and pages
// are dropped by the next open. Kernel: KernelCache::Doubtful. REQUIRES: the column's lock.
void ForgetColumn(MountContext& mount, const Place& column);

// Makes `change` under the column's lock, with its nodes told, and calls `tell_kernel` without the
// lock where it is done or may be.
Outcome ChangeColumn(MountContext& mount, const Place& column,
                     const std::function<Outcome()>& change,
                     const std::function<void()>& tell_kernel);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_AFTER_CHANGE_H_
