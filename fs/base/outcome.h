// SPDX-License-Identifier: MIT
//
// Outcome: how a file operation ended: an errno, 0 for success, and the reason in words where the
// errno does not say it all. A Status of the engine becomes one by the table in
// fs/base/status_errno.h, so functions that return Outcome or OutcomeOr may simply return a Status.
#ifndef CELLFS_FS_BASE_OUTCOME_H_
#define CELLFS_FS_BASE_OUTCOME_H_

#include <cassert>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "engine/status_or.h"
#include "fs/base/status_errno.h"

namespace cellfs::fs {

class [[nodiscard]] Outcome {
 public:
  Outcome() = default;  // success
  Outcome(int error, std::string reason = {})
      : error_(error), reason_(std::move(reason)) {}  // NOLINT
  Outcome(const Status& status)                       // NOLINT
      : error_(StatusErrno(status)),
        reason_(status.ok() ? "" : status.ToString()),
        is_unknown_(status.code() == StatusCode::kOutcomeUnknown) {}

  static Outcome Unknown(int error, std::string reason) {
    Outcome outcome(error, std::move(reason));
    outcome.is_unknown_ = true;
    return outcome;
  }

  bool ok() const { return error_ == 0; }
  int error() const { return error_; }
  const std::string& reason() const { return reason_; }
  // It failed and may have been done all the same: what was known before may be wrong, and what is
  // done again may be done twice.
  bool is_unknown() const { return is_unknown_; }

 private:
  int error_ = 0;
  std::string reason_;
  bool is_unknown_ = false;
};

template <typename T>
class [[nodiscard]] OutcomeOr {
 public:
  OutcomeOr(Outcome outcome) : outcome_(std::move(outcome)) { assert(!outcome_.ok()); }  // NOLINT
  OutcomeOr(const Status& status) : OutcomeOr(Outcome(status)) {}                        // NOLINT
  OutcomeOr(const T& value) : value_(value) {}                                           // NOLINT
  OutcomeOr(T&& value) : value_(std::move(value)) {}                                     // NOLINT
  // Made where it stays.
  template <typename... Arguments>
  explicit OutcomeOr(std::in_place_t /*tag*/, Arguments&&... arguments)
      : value_(std::in_place, std::forward<Arguments>(arguments)...) {}

  bool ok() const { return outcome_.ok(); }
  // Named as StatusOr names it, so that CELLFS_ASSIGN_OR_RETURN serves both.
  const Outcome& status() const { return outcome_; }
  int error() const { return outcome_.error(); }

  // REQUIRES: ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  // Of a temporary, the value itself: a reference would go with the temporary.
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Outcome outcome_;
  std::optional<T> value_;
};

}  // namespace cellfs::fs

// For expressions that give a Status or an Outcome.
#define CELLFS_RETURN_IF_FAILED(expression)                                        \
  do {                                                                             \
    if (::cellfs::fs::Outcome cellfs_outcome = (expression); !cellfs_outcome.ok()) \
      return cellfs_outcome;                                                       \
  } while (false)

#endif  // CELLFS_FS_BASE_OUTCOME_H_
