// SPDX-License-Identifier: MIT
#include "src/commands/arguments.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "fs/tree/time_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// How many letters have to be put in, left out, replaced or changed with their neighbour to make one
// word of the other.
size_t DistanceOf(std::string_view a, std::string_view b) {
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    const std::vector<size_t> before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_turned = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_turned) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
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
    return Status(StatusCode::kIllegalArgument, std::string(name) + " is '" + text +
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

std::string ClosestTo(std::string_view word, const std::vector<std::string>& others) {
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  std::string closest;
  for (const std::string& other : others) {
    const size_t mistakes = DistanceOf(word, other);
    if (mistakes >= fewest || mistakes >= other.size()) continue;
    fewest = mistakes;
    closest = other;
  }
  return closest;
}

}  // namespace cellfs
