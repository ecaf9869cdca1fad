// SPDX-License-Identifier: MIT
//
// RewriteObserver: who keeps what was read for longer than a call hears here where a flush or a
// compaction, asked for or not, may have changed the present. It rarely does: cells that go were
// hidden. But a compaction sees no memstore and a flush no file, so that, for example, the version
// behind one whose tombstone lies in the memstore goes as one too many.
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

class RewriteObserver {
 public:
  virtual ~RewriteObserver() = default;
  // In row order. What is read from now on sees the rewrite; what expires by a TTL is not told.
  // Called by whoever rewrites: must return soon, and must not call the store.
  virtual void Rewritten(const TableName& table, const std::vector<RewrittenColumn>& columns) = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REWRITE_OBSERVER_H_
