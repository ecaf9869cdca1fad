// SPDX-License-Identifier: MIT
#include "fs/mount/mount_context.h"

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

bool IsTopOfView(const Place& place) {
  const PlaceKind parent = place.view == nullptr ? PlaceKind::kRoot : place.Parent().kind;
  return parent == PlaceKind::kAsofDirectory || parent == PlaceKind::kScanDirectory;
}

}  // namespace

MountContext::MountContext(Store& store_in, MountOptions options_in,
                           std::shared_ptr<const Clock> clock_in)
    : store(store_in),
      options(std::move(options_in)),
      clock(std::move(clock_in)),
      freshness(store.traits(), *clock),
      mounted_at(clock->Now()),
      made_at(options.store_made_at.value_or(mounted_at)),
      row_names(NameLevel::kRow, options.names, options.controls != Controls::kOff),
      qualifier_names(NameLevel::kQualifier, options.names, options.controls != Controls::kOff),
      asof(store, *clock, options.asof_hold_ms),
      attributes(store, options, clock),
      mutations(store, *clock),
      kernel(inodes, [this](const Place& place) { return FileName(place); }) {}

void MountContext::RecordFailure(std::string_view operation, const Place& place,
                                 const Outcome& outcome) {
  if (!outcome.ok()) errors.Record(clock->Now(), operation, place, outcome);
}

std::string MountContext::FileName(const Place& place) const {
  if (IsTopOfView(place)) return place.view->name;
  const auto shown = [this](std::string name, const std::string& key) {
    if (key.size() > kMaxNameLength / 3 && name.find("%~") != std::string::npos) {
      long_names.Remember(name, key);
    }
    return name;
  };
  switch (place.traits().key) {
    case PlaceKey::kFixedName:
      return std::string(place.traits().fixed_name);
    case PlaceKey::kNamespace:
      return place.table.namespace_name;
    case PlaceKey::kTable:
      return place.table.name;
    case PlaceKey::kRow:
      return shown(row_names.FileName(place.row), place.row);
    case PlaceKey::kFamily:
      return place.family;
    case PlaceKey::kQualifier:
      return shown(qualifier_names.FileName(place.qualifier), place.qualifier);
    case PlaceKey::kVersion:
      return shown(qualifier_names.VersionFileName(place.qualifier, place.timestamp),
                   place.qualifier);
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
