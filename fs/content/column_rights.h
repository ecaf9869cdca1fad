// SPDX-License-Identifier: MIT
//
// Whether a column may be put to, asked before anything is written: the store would say so only at
// close, and the kernel takes each name of a column for a file of its own, so that it lets whoever
// may make files in the family make another version of a column that is there.
#ifndef CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_
#define CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// EACCES where there is a value in the column of that version that the caller may not write to.
Outcome CheckMayAddVersion(const Reading& reading, AttributeStore& attributes,
                           const MountOptions& options, const Request& request,
                           const Place& version);

// Whether cells can be put there at all: an error where the family is not declared, or the table is
// READONLY or disabled.
Outcome CheckTakesPuts(const Reading& reading, const Place& column);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_RIGHTS_H_
