// SPDX-License-Identifier: MIT
//
// The table, the users and the group that tests speak of.
#ifndef CELLFS_TESTS_FS_NAMES_H_
#define CELLFS_TESTS_FS_NAMES_H_

#include <sys/types.h>

#include "engine/names.h"

namespace cellfs::fs {

inline const TableName kTable{"default", "t"};
inline constexpr char kTablePath[] = "default/t";
inline constexpr char kSchemaPath[] = "default/t/.schema.toml";

// Where a mount keeps owners, modes and times.
inline const TableName kAttributes{"cellfs", "attributes"};

inline constexpr uid_t kOwner = 1000;
inline constexpr uid_t kStranger = 1001;
inline constexpr gid_t kGroup = 2000;

// No machine that tests run on has users of these numbers.
inline constexpr uid_t kOne = 1234567;
inline constexpr uid_t kTwo = 1234568;

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_NAMES_H_
