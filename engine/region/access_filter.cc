// SPDX-License-Identifier: MIT
#include "engine/region/access_filter.h"

#include <algorithm>
#include <utility>

#include "engine/filters.h"

namespace cellfs {

FilterPtr MakeAccessFilter(std::vector<GrantScope> readable, const FilterPtr& inner) {
  const auto may_see = [readable = std::move(readable)](const CellView& cell) {
    return std::any_of(readable.begin(), readable.end(), [&](const GrantScope& scope) {
      return scope.family == cell.family &&
             (!scope.qualifier || *scope.qualifier == cell.qualifier);
    });
  };
  return MakeVisibleCellsFilter(may_see, inner);
}

}  // namespace cellfs
