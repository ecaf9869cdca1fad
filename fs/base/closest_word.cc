// SPDX-License-Identifier: MIT
#include "fs/base/closest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cellfs::fs {
namespace {

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

std::string InUpperCase(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
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

std::string MeantName(const std::string& name, const std::vector<std::string>& known) {
  const std::string word = InUpperCase(name);
  std::vector<std::string> words;
  words.reserve(known.size());
  for (const std::string& other : known) words.push_back(InUpperCase(other));
  if (std::find(words.begin(), words.end(), word) != words.end()) return "";
  const std::string closest = ClosestTo(word, words);
  if (closest.empty() || (name.size() < 6 && closest[0] != word[0])) return "";
  return known[static_cast<size_t>(std::find(words.begin(), words.end(), closest) -
                                   words.begin())];
}

}  // namespace cellfs::fs
