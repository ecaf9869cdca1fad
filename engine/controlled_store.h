// SPDX-License-Identifier: MIT
//
// ControlledStore: a store in this process, with what can be said to such a one alone. A cluster's
// caches and maintenance are its own business, and nobody is told what they change.
#ifndef CELLFS_ENGINE_CONTROLLED_STORE_H_
#define CELLFS_ENGINE_CONTROLLED_STORE_H_

#include <cstdint>

#include "engine/rewrite_observer.h"
#include "engine/store.h"

namespace cellfs {

// Thread-safe.
class StoreControls {
 public:
  virtual ~StoreControls() = default;

  virtual void SetMaintenancePaused(bool paused) = 0;
  // Compacts what the background would select, until nothing is worth it.
  virtual Status CompactSelected(const Caller& caller, const TableName& table) = 0;
  // Of the page cache, over all tables; at once.
  virtual void SetCacheBytes(int64_t bytes) = 0;
  // Null: none. The one before is not called any more when this returns.
  virtual void SetRewriteObserver(RewriteObserver* observer) = 0;
};

class ControlledStore : public Store, public StoreControls {};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CONTROLLED_STORE_H_
