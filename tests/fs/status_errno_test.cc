// SPDX-License-Identifier: MIT
#include "fs/base/status_errno.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace cellfs::fs {
namespace {

TEST(StatusErrnoTest, EveryFailureHasAnErrno) {
  for (int code = 1; code <= static_cast<int>(StatusCode::kOutcomeUnknown); ++code) {
    EXPECT_GT(StatusErrno(static_cast<StatusCode>(code)), 0) << code;
  }
  EXPECT_EQ(StatusErrno(Status()), 0);
}

TEST(StatusErrnoTest, TheOnesThatProgramsLookFor) {
  EXPECT_EQ(StatusErrno(StatusCode::kTableNotFound), ENOENT);
  EXPECT_EQ(StatusErrno(StatusCode::kNoSuchColumnFamily), ENOENT);
  EXPECT_EQ(StatusErrno(StatusCode::kValueTooLarge), EFBIG);
  EXPECT_EQ(StatusErrno(StatusCode::kAccessDenied), EACCES);
  EXPECT_EQ(StatusErrno(StatusCode::kSpaceLimiting), EDQUOT);
  EXPECT_EQ(StatusErrno(StatusCode::kCancelled), EINTR);
  EXPECT_EQ(StatusErrno(StatusCode::kStoreFull), ENOSPC);
  EXPECT_EQ(StatusErrno(StatusCode::kReadOnly), EROFS);
  EXPECT_EQ(StatusErrno(StatusCode::kTableNotEnabled), EROFS);
  EXPECT_EQ(StatusErrno(StatusCode::kTimestampUnreadable), ERANGE);
  EXPECT_EQ(StatusErrno(StatusCode::kTimestampsExhausted), EOVERFLOW);
  EXPECT_EQ(StatusErrno(StatusCode::kCorruption), EIO);
  EXPECT_EQ(StatusErrno(StatusCode::kOutcomeUnknown), EIO);
}

}  // namespace
}  // namespace cellfs::fs
