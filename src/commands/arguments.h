// SPDX-License-Identifier: MIT
//
// Arguments: what a command was called with, by the names that its syntax gives (syntax.h), as it
// travels to where the store is. Whoever calls may send anything, so each is looked at when it is
// read: kIllegalArgument names it and says what would do.
#ifndef CELLFS_SRC_COMMANDS_ARGUMENTS_H_
#define CELLFS_SRC_COMMANDS_ARGUMENTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cell.h"
#include "engine/status_or.h"

namespace cellfs {

// Immutable.
class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(nlohmann::json values) : values_(std::move(values)) {}

  const nlohmann::json& values() const { return values_; }

  bool Has(std::string_view name) const { return values_.contains(name); }
  bool Flag(std::string_view name) const;
  // Empty where it was not given.
  std::string Text(std::string_view name) const;
  // Those of an option that may be given several times, or words.
  std::vector<std::string> Texts(std::string_view name) const;
  StatusOr<std::optional<int64_t>> Number(std::string_view name, int64_t least,
                                          int64_t greatest) const;
  StatusOr<int64_t> NumberOr(std::string_view name, int64_t least, int64_t greatest,
                             int64_t otherwise) const;
  // As people say times (fs/tree/time_text.h).
  StatusOr<std::optional<Timestamp>> Time(std::string_view name, Timestamp now) const;

 private:
  nlohmann::json values_ = nlohmann::json::object();
};

// kIllegalArgument: what is wrong with a call, and what would do.
inline Status WrongCall(const std::string& what) { return {StatusCode::kIllegalArgument, what}; }

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_ARGUMENTS_H_
