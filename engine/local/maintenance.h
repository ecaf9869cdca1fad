// SPDX-License-Identifier: MIT
//
// Maintenance: the background thread of an embedded store. It flushes memstores that are full or
// that keep the log long, and compacts files whose garbage is worth it (HBase: MemStoreFlusher and
// CompactSplit).
#ifndef CELLFS_ENGINE_LOCAL_MAINTENANCE_H_
#define CELLFS_ENGINE_LOCAL_MAINTENANCE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/local_storage.h"

namespace cellfs {

// Thread-safe.
class Maintenance {
 public:
  using Tables = std::function<std::vector<std::shared_ptr<LocalStorage>>()>;

  // Starts the thread. `tables` may be called at any time until the destructor returns.
  Maintenance(std::shared_ptr<StoreContext> context, Tables tables);
  // Finishes the flush under way, and no more; a compaction ends early.
  ~Maintenance();
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

  void Wake();
  // While paused nothing is begun; a compaction under way ends at its next batch.
  void SetPaused(bool paused);
  // "idle", "paused", "flush t", "compact t"
  std::string Progress() const;

 private:
  void Run();
  void RunOnce();
  void FlushForLog(const std::vector<std::shared_ptr<LocalStorage>>& tables);
  void Flush(LocalStorage& table);
  bool MustStop() const;
  void SetProgress(std::string progress);

  const std::shared_ptr<StoreContext> context_;
  const Tables tables_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool awake_ = false;
  bool stopping_ = false;
  bool paused_ = false;
  std::string progress_ = "idle";
  bool failed_ = false;  // the thread's own: something is to be tried again later
  std::thread thread_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_MAINTENANCE_H_
