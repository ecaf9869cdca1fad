// SPDX-License-Identifier: MIT
#include "fs/reading/change_rights.h"

#include "engine/admin.h"

namespace cellfs::fs {
namespace {

bool IsOfSchemas(const Place& place) {
  return place.kind == PlaceKind::kRoot || place.kind == PlaceKind::kNamespace ||
         place.kind == PlaceKind::kTable || place.IsToml();
}

bool IsOfOneColumn(const Place& place) {
  return place.IsColumn() || place.kind == PlaceKind::kVersionsColumn;
}

GrantScope ScopeOf(const Place& place) {
  if (place.table.name.empty()) return {place.table.namespace_name};
  GrantScope scope{"", place.table, place.family};
  if (IsOfOneColumn(place)) scope.qualifier = place.qualifier;
  return scope;
}

}  // namespace

Status CheckMayChange(const Reading& reading, const Caller& caller, const Place& place) {
  if (caller.is_superuser()) return {};  // as all are where no rights are checked
  const GrantScope scope = ScopeOf(place);
  return IsOfSchemas(place) ? reading.CheckMayAlter(caller, scope)
                            : reading.CheckMayPutWithin(caller, scope);
}

}  // namespace cellfs::fs
