// SPDX-License-Identifier: MIT
//
// StatusOr<T>: a value, or the Status that says why there is none. CELLFS_RETURN_IF_ERROR and
// CELLFS_ASSIGN_OR_RETURN are the project's two early-return macros.
#ifndef CELLFS_ENGINE_STATUS_OR_H_
#define CELLFS_ENGINE_STATUS_OR_H_

#include <cassert>
#include <optional>
#include <utility>

#include "engine/status.h"

namespace cellfs {

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT
  StatusOr(const T& value) : value_(value) {}                                      // NOLINT
  StatusOr(T&& value) : value_(std::move(value)) {}                                // NOLINT

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  // REQUIRES: ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  // Of a temporary, the value itself: a reference would go with the temporary.
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace cellfs

#define CELLFS_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                            \
    if (::cellfs::Status cellfs_status = (expression); !cellfs_status.ok()) return cellfs_status; \
  } while (false)

#define CELLFS_CONCATENATE_(a, b) a##b
#define CELLFS_CONCATENATE(a, b) CELLFS_CONCATENATE_(a, b)
#define CELLFS_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.status();                  \
  target = *std::move(result)
#define CELLFS_ASSIGN_OR_RETURN(target, expression) \
  CELLFS_ASSIGN_OR_RETURN_(CELLFS_CONCATENATE(cellfs_result_, __LINE__), target, expression)

#endif  // CELLFS_ENGINE_STATUS_OR_H_
