// SPDX-License-Identifier: MIT
#include "engine/hbase/remote_exception.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cellfs::hbase {
namespace {

struct KnownException {
  std::string_view name;  // without the package
  Remedy remedy;
  StatusCode code;
};

// Every exception that a client has to answer, or that StatusCode has a name for.
constexpr std::array kKnown = {
    // Where the region is.
    KnownException{"NotServingRegionException", Remedy::kRelocate, StatusCode::kUnavailable},
    KnownException{"RegionMovedException", Remedy::kRelocate, StatusCode::kUnavailable},
    KnownException{"WrongRegionException", Remedy::kRelocate, StatusCode::kUnavailable},
    KnownException{"RegionOfflineException", Remedy::kRelocate, StatusCode::kUnavailable},
    KnownException{"RegionInRecoveryException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"RegionOpeningException", Remedy::kWait, StatusCode::kUnavailable},
    // How the server is.
    KnownException{"RegionServerStoppedException", Remedy::kReconnect, StatusCode::kUnavailable},
    KnownException{"RegionServerAbortedException", Remedy::kReconnect, StatusCode::kUnavailable},
    KnownException{"ServerNotRunningYetException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"PleaseHoldException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"MasterNotRunningException", Remedy::kFindMaster, StatusCode::kUnavailable},
    KnownException{"MasterStoppedException", Remedy::kFindMaster, StatusCode::kUnavailable},
    KnownException{"RegionTooBusyException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"CallQueueTooBigException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"CallDroppedException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"RpcThrottlingException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"RetryImmediatelyException", Remedy::kWait, StatusCode::kUnavailable},
    KnownException{"MultiActionResultTooLarge", Remedy::kWait, StatusCode::kUnavailable},
    // Scanners.
    KnownException{"UnknownScannerException", Remedy::kRescan, StatusCode::kUnavailable},
    KnownException{"OutOfOrderScannerNextException", Remedy::kRescan, StatusCode::kUnavailable},
    KnownException{"ScannerResetException", Remedy::kRescan, StatusCode::kUnavailable},
    KnownException{"LeaseException", Remedy::kRescan, StatusCode::kUnavailable},
    // The answer.
    KnownException{"IllegalArgumentException", Remedy::kNone, StatusCode::kIllegalArgument},
    KnownException{"NoSuchColumnFamilyException", Remedy::kNone, StatusCode::kNoSuchColumnFamily},
    KnownException{"FailedSanityCheckException", Remedy::kNone, StatusCode::kFailedSanityCheck},
    KnownException{"UnsupportedOperationException", Remedy::kNone,
                   StatusCode::kUnsupportedOperation},
    KnownException{"WrongRowIOException", Remedy::kNone, StatusCode::kWrongRow},
    KnownException{"TableNotFoundException", Remedy::kNone, StatusCode::kTableNotFound},
    KnownException{"TableExistsException", Remedy::kNone, StatusCode::kTableExists},
    KnownException{"TableNotEnabledException", Remedy::kNone, StatusCode::kTableNotEnabled},
    KnownException{"TableNotDisabledException", Remedy::kNone, StatusCode::kTableNotDisabled},
    KnownException{"InvalidFamilyOperationException", Remedy::kNone,
                   StatusCode::kInvalidFamilyOperation},
    // Nothing was done; by another procedure it may be (Tables).
    KnownException{"ConcurrentTableModificationException", Remedy::kNone,
                   StatusCode::kUnavailable},
    KnownException{"NamespaceNotFoundException", Remedy::kNone, StatusCode::kNamespaceNotFound},
    KnownException{"NamespaceExistException", Remedy::kNone, StatusCode::kNamespaceExists},
    KnownException{"ConstraintException", Remedy::kNone, StatusCode::kConstraint},
    KnownException{"QuotaExceededException", Remedy::kNone, StatusCode::kQuotaExceeded},
    KnownException{"SpaceLimitingException", Remedy::kNone, StatusCode::kSpaceLimiting},
    KnownException{"AccessDeniedException", Remedy::kNone, StatusCode::kAccessDenied},
};

// "org.apache.hadoop.hbase.client.Outer$Inner" -> "Inner"
std::string_view SimpleNameOf(std::string_view class_name) {
  const size_t last = class_name.find_last_of(".$");
  return last == class_name.npos ? class_name : class_name.substr(last + 1);
}

const KnownException* Find(const RemoteException& exception) {
  const std::string_view name = SimpleNameOf(exception.class_name);
  const auto* found = std::ranges::find(kKnown, name, &KnownException::name);
  return found == kKnown.end() ? nullptr : found;
}

// A refusal that HBase tells by text alone.
StatusCode CodeByMessage(const RemoteException& exception) {
  if (exception.message.find("Field is not a long") != std::string::npos) {
    return StatusCode::kNotALong;
  }
  if (exception.message.find("exceeds limit of") != std::string::npos &&
      exception.message.starts_with("Cell")) {
    return StatusCode::kValueTooLarge;
  }
  if (exception.message == "region is read only") return StatusCode::kReadOnly;
  return StatusCode::kDoNotRetry;
}

}  // namespace

std::string MessageIn(std::string_view stack_trace, std::string_view class_name) {
  std::string_view line = stack_trace.substr(0, stack_trace.find('\n'));
  if (line.starts_with(class_name)) line.remove_prefix(class_name.size());
  if (line.starts_with(": ")) line.remove_prefix(2);
  return std::string(line);
}

Remedy RemedyFor(const RemoteException& exception) {
  if (const KnownException* known = Find(exception)) return known->remedy;
  if (exception.do_not_retry) return Remedy::kNone;
  return exception.is_overloaded ? Remedy::kWait : Remedy::kNone;
}

std::optional<std::chrono::milliseconds> PauseIn(const RemoteException& exception) {
  if (SimpleNameOf(exception.class_name) != "RpcThrottlingException") return std::nullopt;
  // "number of requests exceeded - wait 1mins, 2sec, 345ms", and before that other forms of it:
  // all end with numbers and their units.
  constexpr std::string_view kWait = "wait ";
  const size_t at = exception.message.rfind(kWait);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(exception.message).substr(at + kWait.size());
  std::chrono::milliseconds pause{0};
  while (!rest.empty()) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0 || number > 1'000'000'000) return std::nullopt;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    const size_t unit_ends = std::min(rest.find_first_of(", "), rest.size());
    const std::string_view unit = rest.substr(0, unit_ends);
    if (unit == "ms") {
      pause += std::chrono::milliseconds(number);
    } else if (unit.starts_with("sec") || unit == "s") {
      pause += std::chrono::seconds(number);
    } else if (unit.starts_with("min") || unit == "m") {
      pause += std::chrono::minutes(number);
    } else if (unit.starts_with("h")) {
      pause += std::chrono::hours(number);
    } else {
      return std::nullopt;
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(", ", unit_ends), rest.size()));
  }
  return pause;
}

Status StatusOf(const RemoteException& exception) {
  const KnownException* known = Find(exception);
  StatusCode code = StatusCode::kIoError;
  if (known != nullptr) {
    code = known->code;
  } else if (exception.do_not_retry ||
             SimpleNameOf(exception.class_name) == "DoNotRetryIOException") {
    code = CodeByMessage(exception);
  }
  return {code, exception.message.empty() ? std::string(SimpleNameOf(exception.class_name))
                                          : exception.message};
}

}  // namespace cellfs::hbase
