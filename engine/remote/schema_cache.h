// SPDX-License-Identifier: MIT
//
// What tables were described as lately: a file system asks for each name that it shows. Thread-safe.
#ifndef CELLFS_ENGINE_REMOTE_SCHEMA_CACHE_H_
#define CELLFS_ENGINE_REMOTE_SCHEMA_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/remote/patience.h"
#include "engine/names.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

using Description = StatusOr<std::shared_ptr<const TableSchema>>;

class SchemaCache {
 public:
  // How long a description counts. 0: it is asked for each time.
  explicit SchemaCache(SteadyClock::duration age) : age_(age) {}

  // Nullopt: to be asked for. Also what is not there is known: kTableNotFound.
  std::optional<Description> Find(const TableName& table) const { return Find(table, age_); }
  // For what need not be so new: one of that age counts as well.
  std::optional<Description> FindLate(const TableName& table, SteadyClock::duration age) const {
    return Find(table, std::max(age, age_));
  }
  // Counts the changes. To be taken before a description is asked for.
  uint64_t changes() const;
  // Unless something has changed since then, or it is a failure.
  void Keep(const TableName& table, const Description& description, uint64_t changes_before);
  // This client changes the table, or has changed it.
  void Forget(const TableName& table);

 private:
  struct Entry {
    Description description;
    SteadyClock::time_point kept_at;
  };

  std::optional<Description> Find(const TableName& table, SteadyClock::duration age) const;

  const SteadyClock::duration age_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<TableName, Entry> entries_;
  uint64_t changes_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REMOTE_SCHEMA_CACHE_H_
