// SPDX-License-Identifier: MIT
#include "fs/base/status_errno.h"

#include <cerrno>

namespace cellfs::fs {

int StatusErrno(const Status& status) { return StatusErrno(status.code()); }

int StatusErrno(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kIllegalArgument:
    case StatusCode::kInvalidVersions:
    case StatusCode::kFailedSanityCheck:
    case StatusCode::kNotALong:
    case StatusCode::kDoNotRetry:
    case StatusCode::kWrongRow:
    case StatusCode::kInvalidFamilyOperation:
    case StatusCode::kConstraint:
      return EINVAL;
    case StatusCode::kValueTooLarge:
      return EFBIG;
    case StatusCode::kNoSuchColumnFamily:
    case StatusCode::kTableNotFound:
    case StatusCode::kNamespaceNotFound:
      return ENOENT;
    case StatusCode::kTableExists:
    case StatusCode::kNamespaceExists:
      return EEXIST;
    case StatusCode::kUnsupportedOperation:
      return EOPNOTSUPP;
    case StatusCode::kReadOnly:
    case StatusCode::kTableNotEnabled:
      return EROFS;
    case StatusCode::kTableNotDisabled:
      return EBUSY;
    case StatusCode::kTimestampUnreadable:
      return ERANGE;
    case StatusCode::kTimestampsExhausted:
      return EOVERFLOW;
    case StatusCode::kQuotaExceeded:
    case StatusCode::kSpaceLimiting:
      return EDQUOT;
    case StatusCode::kAccessDenied:
      return EACCES;
    case StatusCode::kCancelled:
      return EINTR;
    case StatusCode::kStoreFull:
      return ENOSPC;
    case StatusCode::kTimedOut:
      return ETIMEDOUT;
    case StatusCode::kCorruption:
    case StatusCode::kIoError:
    case StatusCode::kUnavailable:
    case StatusCode::kOutcomeUnknown:
      return EIO;
  }
  return EIO;
}

}  // namespace cellfs::fs
