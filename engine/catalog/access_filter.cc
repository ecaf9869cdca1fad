// SPDX-License-Identifier: MIT
#include "engine/catalog/access_filter.h"

#include <algorithm>
#include <utility>

#include "engine/filters.h"

namespace cellfs {

namespace {

// A family's tombstones are each column's: without them what they hide would seem to be there.
bool IsOfScope(const CellView& cell, const GrantScope& scope) {
  if (scope.family != cell.family) return false;
  return !scope.qualifier || *scope.qualifier == cell.qualifier || IsFamilyTombstone(cell.type);
}

}  // namespace

FilterPtr MakeAccessFilter(std::vector<GrantScope> readable, const FilterPtr& inner,
                           std::atomic<bool>* passed_over) {
  const auto may_see = [readable = std::move(readable), passed_over](const CellView& cell) {
    const bool is_seen =
        std::any_of(readable.begin(), readable.end(),
                    [&](const GrantScope& scope) { return IsOfScope(cell, scope); });
    if (!is_seen && passed_over != nullptr) passed_over->store(true);
    return is_seen;
  };
  return MakeVisibleCellsFilter(may_see, inner);
}

}  // namespace cellfs
