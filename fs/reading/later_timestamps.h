// SPDX-License-Identifier: MIT
//
// Whether a user may name the timestamp of what he puts or deletes. What has a timestamp that is
// still to come hides what others write until then, also where nothing of theirs is yet: so on a
// mount that others use, that is for who mounted it, and root.
#ifndef CELLFS_FS_READING_LATER_TIMESTAMPS_H_
#define CELLFS_FS_READING_LATER_TIMESTAMPS_H_

#include <sys/types.h>

#include <vector>

#include "engine/mutation.h"
#include "engine/status.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// kAccessDenied where one of them names a timestamp that is later than the clock.
Status CheckNamesNoLater(const Reading& reading, uid_t uid, const std::vector<Mutation>& mutations);
// The same of a version that is put or removed by its path: EPERM. Other places name no timestamp.
Outcome CheckIsNoLater(const Reading& reading, uid_t uid, const Place& place);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_LATER_TIMESTAMPS_H_
