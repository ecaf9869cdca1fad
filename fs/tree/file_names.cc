// SPDX-License-Identifier: MIT
#include "fs/tree/file_names.h"

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

bool IsTopOfView(const Place& place) {
  const PlaceKind parent = place.view == nullptr ? PlaceKind::kRoot : place.Parent().kind;
  return parent == PlaceKind::kAsofDirectory || parent == PlaceKind::kScanDirectory;
}

}  // namespace

std::string FileNames::Shown(std::string name, const std::string& key) const {
  if (key.size() > kMaxNameLength / 3 && name.find("%~") != std::string::npos) {
    long_names_.Remember(name, key);
  }
  return name;
}

std::string FileNames::Of(const Place& place) const {
  if (IsTopOfView(place)) return place.view->name;
  switch (place.traits().key) {
    case PlaceKey::kFixedName:
      return std::string(place.traits().fixed_name);
    case PlaceKey::kNamespace:
      return place.table.namespace_name;
    case PlaceKey::kTable:
      return place.table.name;
    case PlaceKey::kRow:
      return Shown(rows_.FileName(place.row), place.row);
    case PlaceKey::kFamily:
      return place.family;
    case PlaceKey::kQualifier:
      return Shown(qualifiers_.FileName(place.qualifier), place.qualifier);
    case PlaceKey::kVersion:
      return Shown(versions_.VersionFileName(place.qualifier, place.timestamp), place.qualifier);
    case PlaceKey::kTimestamp:
      return std::to_string(place.timestamp);
    case PlaceKey::kName:
    case PlaceKey::kLongName:
      return place.name;
    case PlaceKey::kNone:
      break;
  }
  return "";
}

}  // namespace cellfs::fs
