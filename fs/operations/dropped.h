// SPDX-License-Identifier: MIT
//
// Operations on what stands in .deleted of the root and of a namespace: tables and namespaces that
// were dropped and are kept.
#ifndef CELLFS_FS_OPERATIONS_DROPPED_H_
#define CELLFS_FS_OPERATIONS_DROPPED_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/operations/directory_changing.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// opendir(2): refused, so that no program takes it for an empty directory, copies that, and removes
// it (mv does, where it cannot rename).
inline Outcome OpenDropped() {
  return {EPERM,
          "what was dropped cannot be read there: mv brings it back, rm -r frees it for good"};
}
// rename(2) out of there: it is back, as it was, under the new name. EEXIST, EPERM.
Outcome BringBack(const DirectoryChanging& with, const Request& request, const Place& dropped,
                  const Place& new_directory, std::string_view new_name);
// rmdir(2): it goes for good.
Outcome FreeDropped(const DirectoryChanging& with, const Request& request, const Place& dropped);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DROPPED_H_
