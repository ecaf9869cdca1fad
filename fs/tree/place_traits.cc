// SPDX-License-Identifier: MIT
#include "fs/tree/place_traits.h"

namespace cellfs::fs {
namespace {

// .asof stands in each of them, .deleted in those above rows alone.
bool MayHold(PlaceKind directory, PlaceKind control) {
  return directory == PlaceKind::kRoot || directory == PlaceKind::kNamespace ||
         (directory == PlaceKind::kTable && control != PlaceKind::kDroppedDirectory);
}

}  // namespace

std::optional<PlaceKind> FixedChildOf(PlaceKind directory, std::string_view name) {
  for (const PlaceTraits& traits : place_table::kTraits) {
    if (traits.key != PlaceKey::kFixedName || traits.fixed_name != name) continue;
    if (traits.parent ? *traits.parent == directory : MayHold(directory, traits.kind))
      return traits.kind;
  }
  return std::nullopt;
}

}  // namespace cellfs::fs
