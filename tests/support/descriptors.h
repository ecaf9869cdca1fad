// SPDX-License-Identifier: MIT
#ifndef CELLFS_TESTS_SUPPORT_DESCRIPTORS_H_
#define CELLFS_TESTS_SUPPORT_DESCRIPTORS_H_

#include <filesystem>
#include <string>
#include <system_error>

namespace cellfs {

// How many descriptors of this process lead into the directory.
inline int DescriptorsInto(const std::string& directory) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored);
    if (target.string().starts_with(directory + "/")) ++count;
  }
  return count;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_DESCRIPTORS_H_
