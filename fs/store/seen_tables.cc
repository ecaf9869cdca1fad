// SPDX-License-Identifier: MIT
#include "fs/store/seen_tables.h"

namespace cellfs::fs {

bool SeenTables::IsAnother(const TableSchema& schema) {
  if (!schema.incarnation()) return false;
  const TableIncarnation& now = *schema.incarnation();
  const std::lock_guard lock(mutex_);
  Seen& seen = tables_[schema.name()];
  if (seen.makers > 0) return false;
  if (!now.IsLaterThan(seen.incarnation.value_or(TableIncarnation()))) return false;
  const bool is_another = seen.incarnation && !now.IsSameTable(*seen.incarnation);
  seen.incarnation = now;
  return is_another;
}

bool SeenTables::IsGone(const TableName& table) {
  const std::lock_guard lock(mutex_);
  const auto seen = tables_.find(table);
  if (seen == tables_.end() || seen->second.makers > 0) return false;
  tables_.erase(seen);
  return true;
}

SeenTables::Making::Making(SeenTables& seen, const TableName& table)
    : seen_(seen), table_(table) {
  const std::lock_guard lock(seen_.mutex_);
  ++seen_.tables_[table_].makers;
}

SeenTables::Making::~Making() {
  const std::lock_guard lock(seen_.mutex_);
  const auto seen = seen_.tables_.find(table_);
  seen->second.incarnation.reset();
  if (--seen->second.makers == 0) seen_.tables_.erase(seen);
}

}  // namespace cellfs::fs
