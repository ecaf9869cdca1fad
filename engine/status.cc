// SPDX-License-Identifier: MIT
#include "engine/status.h"

namespace cellfs {

std::string_view CodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "Ok";
    case StatusCode::kIllegalArgument:
      return "IllegalArgument";
    case StatusCode::kValueTooLarge:
      return "ValueTooLarge";
    case StatusCode::kInvalidVersions:
      return "InvalidVersions";
    case StatusCode::kNoSuchColumnFamily:
      return "NoSuchColumnFamily";
    case StatusCode::kFailedSanityCheck:
      return "FailedSanityCheck";
    case StatusCode::kUnsupportedOperation:
      return "UnsupportedOperation";
    case StatusCode::kNotALong:
      return "NotALong";
    case StatusCode::kDoNotRetry:
      return "DoNotRetry";
    case StatusCode::kWrongRow:
      return "WrongRow";
    case StatusCode::kReadOnly:
      return "ReadOnly";
    case StatusCode::kTimestampUnreadable:
      return "TimestampUnreadable";
    case StatusCode::kTimestampsExhausted:
      return "TimestampsExhausted";
    case StatusCode::kTableNotFound:
      return "TableNotFound";
    case StatusCode::kTableExists:
      return "TableExists";
    case StatusCode::kTableNotEnabled:
      return "TableNotEnabled";
    case StatusCode::kTableNotDisabled:
      return "TableNotDisabled";
    case StatusCode::kInvalidFamilyOperation:
      return "InvalidFamilyOperation";
    case StatusCode::kNamespaceNotFound:
      return "NamespaceNotFound";
    case StatusCode::kNamespaceExists:
      return "NamespaceExists";
    case StatusCode::kConstraint:
      return "Constraint";
    case StatusCode::kQuotaExceeded:
      return "QuotaExceeded";
    case StatusCode::kSpaceLimiting:
      return "SpaceLimiting";
    case StatusCode::kAccessDenied:
      return "AccessDenied";
    case StatusCode::kCancelled:
      return "Cancelled";
    case StatusCode::kStoreFull:
      return "StoreFull";
    case StatusCode::kCorruption:
      return "Corruption";
    case StatusCode::kIoError:
      return "IoError";
    case StatusCode::kUnavailable:
      return "Unavailable";
    case StatusCode::kTimedOut:
      return "TimedOut";
    case StatusCode::kOutcomeUnknown:
      return "OutcomeUnknown";
  }
  return "Unknown";
}

std::string Status::ToString() const {
  std::string text(CodeName(code_));
  if (!message_.empty()) text += ": " + message_;
  return text;
}

}  // namespace cellfs
