// SPDX-License-Identifier: MIT
//
// FindName: an entry of a map by its name, of which most maps have a few: to compare each once takes
// half of what std::map does, which compares the one that it finds twice.
#ifndef CELLFS_ENGINE_FIND_NAME_H_
#define CELLFS_ENGINE_FIND_NAME_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cellfs {

// `map` is a std::map by std::string, with std::less<>.
template <typename Map>
auto FindName(Map& map, std::string_view name) {
  constexpr size_t kFew = 4;
  if (map.size() > kFew) return map.find(name);
  return std::find_if(map.begin(), map.end(),
                      [name](const auto& entry) { return entry.first == name; });
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FIND_NAME_H_
