// SPDX-License-Identifier: MIT
#include "fs/listing/listed_directory.h"

#include "fs/reading/reading.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

ListedDirectory::ListedDirectory(const Reading& reading, std::shared_ptr<const Place> place)
    : reading_(reading), place_(std::move(place)) {
  if (place_->view != nullptr) moment_ = place_->view->Use();
}

Outcome ListedDirectory::ReadSchema() {
  if (place_->table.name.empty()) return {};
  CELLFS_ASSIGN_OR_RETURN(schema_, reading_.DescribeTable(*place_));
  family_ = nullptr;
  return {};
}

// Made where it will lie: a listing of a million entries is mostly copies.
SourceEntry& ListedDirectory::AddCell(SourceEntries& entries, const Place& like, const Cell& cell) {
  SourceEntry& entry = entries.emplace_back(like);
  Place& place = entry.found.place;
  const PlaceKey key = place.traits().key;
  if (key == PlaceKey::kRow) {
    place.row = cell.row;
  } else if (key == PlaceKey::kFamily) {
    place.family = cell.family;
  } else {
    place.qualifier = cell.qualifier;
  }
  entry.key = OrderKey(place);
  Resolver::Describe(CachedCellOf(cell, FamilyOf(cell)), entry.found);
  return entry;
}

const FamilySchema* ListedDirectory::FamilyOf(const Cell& cell) {
  if (schema_ == nullptr) return nullptr;
  if (family_ == nullptr || family_->name() != cell.family) {
    family_ = schema_->FindFamily(cell.family);
  }
  return family_;
}

std::string VersionKey(Timestamp timestamp) {
  uint64_t inverted = ~static_cast<uint64_t>(timestamp);
  std::string key(sizeof inverted, '\0');
  for (auto it = key.rbegin(); it != key.rend(); ++it, inverted >>= 8) {
    *it = static_cast<char>(inverted & 0xff);
  }
  return key;
}

}  // namespace cellfs::fs
