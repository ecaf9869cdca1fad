// SPDX-License-Identifier: MIT
//
// What owner and mode of a place allow to who asks for a file operation, where the kernel does not
// ask them itself.
#ifndef CELLFS_FS_READING_MODE_RIGHTS_H_
#define CELLFS_FS_READING_MODE_RIGHTS_H_

#include <sys/types.h>

#include "engine/status.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Not root, and nobody where the kernel lets in the daemon's user alone.
bool IsBoundByModes(const Reading& reading, const Request& request);

// `permissions`: of fs/reading/filter_rights.h. kAccessDenied.
Status CheckMode(const Reading& reading, const Request& request, const Place& place,
                 const OwnerAndMode& owner, mode_t permissions);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_MODE_RIGHTS_H_
