// SPDX-License-Identifier: MIT
//
// Whether a version may be added to a column. The kernel takes each name of a column for a file of
// its own, so it lets whoever may make files in the family make another version of a column that is
// there.
#ifndef CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_
#define CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// EACCES where there is a value in the column of that version that the caller may not write to, or
// the name was another's at the time of that version.
Outcome CheckMayAddVersion(const Reading& reading, AttributeStore& attributes,
                           const MountOptions& options, const Request& request,
                           const Place& version);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_
