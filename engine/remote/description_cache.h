// SPDX-License-Identifier: MIT
//
// What tables were described as lately: a file system asks for each name that it shows. Thread-safe.
#ifndef CELLFS_ENGINE_REMOTE_DESCRIPTION_CACHE_H_
#define CELLFS_ENGINE_REMOTE_DESCRIPTION_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/names.h"
#include "engine/remote/patience.h"
#include "engine/status_or.h"

namespace cellfs {

template <typename Described>
class DescriptionCache {
 public:
  using Description = StatusOr<std::shared_ptr<Described>>;

  // How long a description counts. 0: it is asked for each time.
  explicit DescriptionCache(SteadyClock::duration age) : age_(age) {}

  // Nullopt: to be asked for. Also what is not there is known: kTableNotFound.
  std::optional<Description> Find(const TableName& table) const { return Find(table, age_); }
  // For what need not be so new: one of that age counts as well.
  std::optional<Description> FindLate(const TableName& table, SteadyClock::duration age) const {
    return Find(table, std::max(age, age_));
  }
  // Counts the changes. To be taken before a description is asked for.
  uint64_t changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  // Unless something has changed since then, or it is a failure.
  void Keep(const TableName& table, const Description& description, uint64_t changes_before) {
    const bool is_known =
        description.ok() || description.status().code() == StatusCode::kTableNotFound;
    const std::lock_guard lock(mutex_);
    if (!is_known || changes_ != changes_before) return;
    if (entries_.size() >= kMostEntries) entries_.clear();
    entries_.insert_or_assign(table, Entry{description, SteadyClock::now()});
  }
  // This client changes the table, or has changed it.
  void Forget(const TableName& table) {
    const std::lock_guard lock(mutex_);
    ++changes_;
    entries_.erase(table);
  }

 private:
  // Who looks at more tables in so short a time asks again.
  static constexpr size_t kMostEntries = 1024;

  struct Entry {
    Description description;
    SteadyClock::time_point kept_at;
  };

  std::optional<Description> Find(const TableName& table, SteadyClock::duration age) const {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(table);
    const bool is_known = entry != entries_.end();
    if (!is_known || SteadyClock::now() - entry->second.kept_at >= age) return std::nullopt;
    return entry->second.description;
  }

  const SteadyClock::duration age_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<TableName, Entry> entries_;
  uint64_t changes_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REMOTE_DESCRIPTION_CACHE_H_
