// SPDX-License-Identifier: MIT
#include "engine/hbase/region_cache.h"

namespace cellfs::hbase {

std::optional<Region> RegionCache::Find(const TableName& table, std::string_view row) const {
  const std::lock_guard lock(mutex_);
  const auto regions = tables_.find(table);
  if (regions == tables_.end()) return std::nullopt;
  auto found = regions->second.upper_bound(row);
  if (found == regions->second.begin()) return std::nullopt;
  --found;
  if (!found->second.Contains(row)) return std::nullopt;
  return found->second;
}

void RegionCache::Remember(const Region& region) {
  const std::lock_guard lock(mutex_);
  Regions& regions = tables_[region.table];
  // The one that begins before it may reach into it.
  auto overlapping = regions.lower_bound(region.start_key);
  if (overlapping != regions.begin() &&
      std::prev(overlapping)->second.Contains(region.start_key)) {
    --overlapping;
  }
  while (overlapping != regions.end() &&
         (region.end_key.empty() || overlapping->first < region.end_key)) {
    overlapping = regions.erase(overlapping);
  }
  regions.emplace(region.start_key, region);
}

void RegionCache::Forget(const Region& region) {
  const std::lock_guard lock(mutex_);
  const auto regions = tables_.find(region.table);
  if (regions == tables_.end()) return;
  const auto found = regions->second.find(region.start_key);
  if (found == regions->second.end() || found->second.name != region.name ||
      found->second.server != region.server) {
    return;
  }
  regions->second.erase(found);
  if (regions->second.empty()) tables_.erase(regions);
}

void RegionCache::ForgetAllAt(const ServerAddress& server) {
  const std::lock_guard lock(mutex_);
  for (auto& [table, regions] : tables_) {
    std::erase_if(regions, [&](const auto& entry) { return entry.second.server == server; });
  }
  std::erase_if(tables_, [](const auto& entry) { return entry.second.empty(); });
}

void RegionCache::ForgetTable(const TableName& table) {
  const std::lock_guard lock(mutex_);
  tables_.erase(table);
}

}  // namespace cellfs::hbase
