// SPDX-License-Identifier: MIT
//
// Where regions were when they were looked up last. What is remembered may be wrong at any time: the
// server that is asked says so. Regions of a table that are remembered do not overlap: a new one
// takes the place of those that it covers. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_REGION_CACHE_H_
#define CELLFS_ENGINE_HBASE_REGION_CACHE_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/hbase/region.h"

namespace cellfs::hbase {

class RegionCache {
 public:
  std::optional<Region> Find(const TableName& table, std::string_view row) const;
  void Remember(const Region& region);

  // Unless it has been looked up again since: is at another server, or another region.
  void Forget(const Region& region);
  void ForgetAllAt(const ServerAddress& server);
  void ForgetTable(const TableName& table);

 private:
  using Regions = std::map<std::string, Region, std::less<>>;  // by start key

  mutable std::mutex mutex_;
  std::map<TableName, Regions> tables_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REGION_CACHE_H_
