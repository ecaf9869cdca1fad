// SPDX-License-Identifier: MIT
//
// The database server of a test run (tests/obkv/on_database):
//
//     CELLFS_TEST_DATABASE   the path of its socket
#ifndef CELLFS_TESTS_SUPPORT_TEST_DATABASE_H_
#define CELLFS_TESTS_SUPPORT_TEST_DATABASE_H_

#include <cstdlib>
#include <optional>

#include "engine/obkv_options.h"

namespace cellfs {

inline std::optional<ObkvOptions> TestDatabase() {
  const char* const socket = std::getenv("CELLFS_TEST_DATABASE");
  if (socket == nullptr) return std::nullopt;
  ObkvOptions options;
  options.socket = socket;
  options.user = "root";
  options.partitions = 3;  // each is a file, which takes its time
  return options;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_TEST_DATABASE_H_
