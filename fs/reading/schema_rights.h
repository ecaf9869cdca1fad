// SPDX-License-Identifier: MIT
//
// What the modes ask of operations on names that change a schema. The kernel asks for W on the
// directory alone, because as a rule a name is all that changes. But who renames a file onto a
// .toml alters the table, and who removes an empty table drops its schema, its quota and the
// deleted values that are kept in it.
#ifndef CELLFS_FS_READING_SCHEMA_RIGHTS_H_
#define CELLFS_FS_READING_SCHEMA_RIGHTS_H_

#include "engine/status.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

enum class IsTomlShown { kYes, kNo };

// To make, replace or remove a .toml: as to write it. Its owner and its directory's owner may;
// where it is shown, those too whom its mode lets write. kAccessDenied, also for the store's
// rights.
Status CheckMayReplaceToml(const Reading& reading, const Request& request, const Place& toml,
                           IsTomlShown is_shown);

// To remove a table or a namespace: its owner and the owner of the directory that it is in may, as
// if that was sticky. kAccessDenied; the store asks for its own rights when it is dropped.
Status CheckMayDrop(const Reading& reading, const Request& request,
                    const Place& table_or_namespace);

// To bring back, or to free for good, what was dropped: its owner, as it was, and the owner of the
// directory in which it was.
Status CheckMayHandleDropped(const Reading& reading, const Request& request, const Place& dropped,
                             const OwnerAndMode& owner);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_SCHEMA_RIGHTS_H_
