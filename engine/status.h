// SPDX-License-Identifier: MIT
//
// Status: how an operation ended, in HBase's terms.
//
// A code names the HBase exception that a client of HBase 2.6 would have seen, so that a reader of
// HBase's documentation finds the rule behind it; the few codes without such an exception
// (kStoreFull, kCorruption, ...) say what a database on one machine can suffer. The message names
// the thing and the limit, in one line: "family 'cf' of table 't' does not exist".
#ifndef CELLFS_ENGINE_STATUS_H_
#define CELLFS_ENGINE_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

namespace cellfs {

enum class StatusCode {
  kOk,
  // Refused as asked for: nothing has happened, and asking again gives the same answer.
  kIllegalArgument,       // IllegalArgumentException: row, timestamp, name, range, size of a cell
  kValueTooLarge,         // a cell over the client's or the server's maximum
  kInvalidVersions,       // IOException: readVersions(<= 0) of a Get
  kNoSuchColumnFamily,    // NoSuchColumnFamilyException
  kFailedSanityCheck,     // FailedSanityCheckException: timestamp too far in the future
  kUnsupportedOperation,  // UnsupportedOperationException: cell TTL on a Delete
  kNotALong,              // DoNotRetryIOException "Field is not a long"
  kDoNotRetry,            // any other DoNotRetryIOException
  kWrongRow,              // WrongRowIOException
  kReadOnly,              // a write to a READONLY table, or to a system table
  kTimestampUnreadable,   // ours, Stamping::kReadable: the cell could not be read by its timestamp
  kTimestampsExhausted,   // ours, Stamping::kAboveColumn: no timestamp is left above the newest
  // The catalog.
  kTableNotFound,
  kTableExists,
  kTableNotEnabled,
  kTableNotDisabled,
  kInvalidFamilyOperation,
  kNamespaceNotFound,
  kNamespaceExists,
  kConstraint,  // ConstraintException: reserved or non-empty namespace, bad quota number
  // Quotas and rights.
  kQuotaExceeded,  // QuotaExceededException: tables or regions of a namespace
  kSpaceLimiting,  // SpaceLimitingException: a space quota is in violation
  kAccessDenied,
  // Ours: who asked has given up waiting (ScanBatch::cancelled); InterruptedIOException.
  kCancelled,
  // The machine.
  kStoreFull,    // no space left on the device; nothing acknowledged is lost
  kCorruption,   // stored bytes do not match their checksum or format
  kIoError,      // the device failed
  kUnavailable,  // did not happen, may work later: store locked by another process, snapshot held
  kTimedOut,     // nobody answered before its deadline: did not happen, may work later
  // May or may not have happened: a write that a cluster did not answer; a log that could not be
  // synced, where the mutation is visible but may be gone after a crash. To ask again may do it
  // twice.
  kOutcomeUnknown,
};

// "TableNotFound" for kTableNotFound.
std::string_view CodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "TableNotFound: table 'x' does not exist"
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// Whether what was asked for is done, though power loss may undo it: of what ends with
// kOutcomeUnknown only where somebody promises that it is in place then (ReplaceFile).
inline bool IsInForce(const Status& status) {
  return status.ok() || status.code() == StatusCode::kOutcomeUnknown;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_STATUS_H_
