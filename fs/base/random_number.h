// SPDX-License-Identifier: MIT
//
// A number that no other mount chooses as well.
#ifndef CELLFS_FS_BASE_RANDOM_NUMBER_H_
#define CELLFS_FS_BASE_RANDOM_NUMBER_H_

#include <cstdint>
#include <random>

namespace cellfs::fs {

// Never 0, and at most INT64_MAX.
inline uint64_t RandomNumber() {
  static thread_local std::random_device device;
  return std::uniform_int_distribution<uint64_t>(1, INT64_MAX)(device);
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_RANDOM_NUMBER_H_
