// SPDX-License-Identifier: MIT
#include "src/commands/arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fs/tree/time_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// As the command line spells it.
std::string OptionOf(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

}  // namespace

bool Arguments::Flag(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->is_boolean() && found->get<bool>();
}

std::string Arguments::Text(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> Arguments::Texts(std::string_view name) const {
  std::vector<std::string> texts;
  const auto found = values_.find(name);
  if (found == values_.end() || !found->is_array()) return texts;
  for (const json& value : *found) {
    if (value.is_string()) texts.push_back(value.get<std::string>());
  }
  return texts;
}

StatusOr<std::optional<int64_t>> Arguments::Number(std::string_view name, int64_t least,
                                                   int64_t greatest) const {
  if (!Has(name)) return std::optional<int64_t>();
  const std::string text = Text(name);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least ||
      number > greatest) {
    return Status(StatusCode::kIllegalArgument, OptionOf(name) + " is '" + text +
                                                    "'; it is a number from " +
                                                    std::to_string(least) + " to " +
                                                    std::to_string(greatest));
  }
  return std::optional(number);
}

StatusOr<int64_t> Arguments::NumberOr(std::string_view name, int64_t least, int64_t greatest,
                                      int64_t otherwise) const {
  CELLFS_ASSIGN_OR_RETURN(const auto number, Number(name, least, greatest));
  return number.value_or(otherwise);
}

StatusOr<std::optional<Timestamp>> Arguments::Time(std::string_view name, Timestamp now) const {
  if (!Has(name)) return std::optional<Timestamp>();
  CELLFS_ASSIGN_OR_RETURN(const Timestamp time, fs::ParseTime(Text(name), now));
  return std::optional(time);
}

}  // namespace cellfs
