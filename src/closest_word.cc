// SPDX-License-Identifier: MIT
#include "src/closest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cellfs {
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
