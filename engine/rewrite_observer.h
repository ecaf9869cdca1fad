// SPDX-License-Identifier: MIT
//
// RewriteObserver: notifies caches of changes that are not theirs: when a flush or compaction may
// change what readers see, and when somebody writes by another way than they do.
//
// A rewrite does so rarely, since the cells that go were hidden. But a compaction does not see the
// memstore, and a flush does not see the file. For example: a tombstone in the memstore hides the
// newest version, and a compaction drops the version behind it as one more than VERSIONS.
#ifndef CELLFS_ENGINE_REWRITE_OBSERVER_H_
#define CELLFS_ENGINE_REWRITE_OBSERVER_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/names.h"

namespace cellfs {

struct RewrittenColumn {
  std::string row;
  std::string family;
  std::optional<std::string> qualifier;  // nullopt: any of the family in that row
  friend bool operator==(const RewrittenColumn&, const RewrittenColumn&) = default;
};

// What is read from now on sees the change; what expires by a TTL is not told. Called by whoever
// rewrites or writes: must return soon, and must not call the store.
class RewriteObserver {
 public:
  virtual ~RewriteObserver() = default;
  // In row order.
  virtual void Rewritten(const TableName& table, const std::vector<RewrittenColumn>& columns) = 0;
  // More columns of the table than are worth naming.
  virtual void TableRewritten(const TableName& table) = 0;
  // Something was rewritten, and memory ran out before it could be told what.
  virtual void LostTrack() noexcept = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REWRITE_OBSERVER_H_
