// SPDX-License-Identifier: MIT
#include "engine/remote/schema_cache.h"

namespace cellfs {
namespace {

constexpr size_t kMostEntries = 1024;  // who looks at more tables in so short a time asks again

}  // namespace

std::optional<Description> SchemaCache::Find(const TableName& table,
                                             SteadyClock::duration age) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(table);
  const bool is_known = entry != entries_.end();
  if (!is_known || SteadyClock::now() - entry->second.kept_at >= age) return std::nullopt;
  return entry->second.description;
}

uint64_t SchemaCache::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void SchemaCache::Keep(const TableName& table, const Description& description,
                       uint64_t changes_before) {
  const bool is_known =
      description.ok() || description.status().code() == StatusCode::kTableNotFound;
  const std::lock_guard lock(mutex_);
  if (!is_known || changes_ != changes_before) return;
  if (entries_.size() >= kMostEntries) entries_.clear();
  entries_.insert_or_assign(table, Entry{description, SteadyClock::now()});
}

void SchemaCache::Forget(const TableName& table) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  entries_.erase(table);
}

}  // namespace cellfs
