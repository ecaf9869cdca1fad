// SPDX-License-Identifier: MIT
//
// A directory of the test's own, gone with all it holds when the object goes.
#ifndef CELLFS_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
#define CELLFS_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace cellfs {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "cellfs-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category());
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
