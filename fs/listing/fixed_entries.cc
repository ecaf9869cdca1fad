// SPDX-License-Identifier: MIT
#include "fs/listing/fixed_entries.h"

#include "fs/resolve/cellfs_directory.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

std::vector<Place> SelfEntries(const Place& directory) {
  std::vector<Place> places;
  for (const std::string_view name : kSelfFiles) {
    places.push_back(directory.As(PlaceKind::kSelfFile));
    places.back().name = name;
  }
  places.push_back(directory.As(PlaceKind::kKeysDirectory));
  return places;
}

// Behind "." and "..".
std::vector<Place> PlacesIn(Controls controls, const Place& directory) {
  switch (directory.kind) {
    case PlaceKind::kNamespace:
      return {directory.As(PlaceKind::kNamespaceFile)};
    case PlaceKind::kTable:
      if (directory.view != nullptr && !directory.view->ShowsToml()) return {};
      return {directory.As(PlaceKind::kSchemaFile)};
    case PlaceKind::kFamily:
      if (directory.view != nullptr && !directory.view->ShowsPast()) return {};
      if (controls != Controls::kVisible) return {};
      return {directory.As(PlaceKind::kVersionsDirectory)};
    case PlaceKind::kSelfDirectory:
      return SelfEntries(directory);
    default:
      return {};
  }
}

}  // namespace

OutcomeOr<FixedEntries> FixedEntriesOf(const Resolver& resolver, Controls controls,
                                       const Caller& caller, const Place& directory) {
  FixedEntries fixed{ResolvedEntry{directory}, ResolvedEntry{directory.Parent()}};
  for (const Place& place : PlacesIn(controls, directory)) {
    auto found = resolver.Find(caller, place);
    if (!found.ok() && found.error() != ENOENT) return found.status();
    fixed.push_back(found.ok() ? std::optional(*std::move(found)) : std::nullopt);
  }
  return fixed;
}

}  // namespace cellfs::fs
