// SPDX-License-Identifier: MIT
//
// ASSERT_OK of a Status or a StatusOr.
#ifndef CELLFS_TESTS_SUPPORT_ASSERT_OK_H_
#define CELLFS_TESTS_SUPPORT_ASSERT_OK_H_

#include <gtest/gtest.h>

#include "engine/status_or.h"

namespace cellfs {

#define ASSERT_OK(expression)                                      \
  do {                                                             \
    const auto& ok_result = (expression);                          \
    ASSERT_TRUE(ok_result.ok()) << StatusOf(ok_result).ToString(); \
  } while (false)

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const StatusOr<T>& result) {
  return result.status();
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_ASSERT_OK_H_
