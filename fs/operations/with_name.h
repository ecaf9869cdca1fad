// SPDX-License-Identifier: MIT
#ifndef CELLFS_FS_OPERATIONS_WITH_NAME_H_
#define CELLFS_FS_OPERATIONS_WITH_NAME_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"

namespace cellfs::fs {

// Says which name of the directory it is that failed.
inline Outcome WithName(std::string_view name, const Outcome& outcome) {
  if (outcome.reason().empty()) return outcome;
  return {outcome.error(), "'" + std::string(name) + "': " + outcome.reason()};
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_WITH_NAME_H_
