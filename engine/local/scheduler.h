// SPDX-License-Identifier: MIT
//
// Scheduler: the background threads of an embedded store, and what they do next (HBase:
// MemStoreFlusher and CompactSplit). Two flush memstores that are full, that keep the log long, or
// that are the largest when all together take too much, or that a put waits for which the disk has
// no room for; two compact, one of them only what is short (HBase's small and large pools). So a
// flush waits neither for a compaction nor for a flush of another table, and a short compaction for
// no long one. After an error the next try waits (Attempts). One more scrubs. Compactions and
// scrubs have of the processors what others leave.
#ifndef CELLFS_ENGINE_LOCAL_SCHEDULER_H_
#define CELLFS_ENGINE_LOCAL_SCHEDULER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/local_table.h"
#include "engine/local/scrub.h"

namespace cellfs {

// Thread-safe.
class Scheduler {
 public:
  using Tables = std::function<std::vector<std::shared_ptr<LocalTable>>()>;

  // Starts the threads. `tables` may be called at any time until the destructor returns.
  // `scrub` outlives it; null: none.
  Scheduler(std::shared_ptr<TableServices> services, Tables tables, Scrub* scrub = nullptr);
  // Finishes the flushes under way, and no more; a compaction ends early.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void Wake();
  // While paused nothing is begun; a compaction under way ends soon.
  void SetPaused(bool paused);
  // Beside the jobs under way: "idle", "paused"; "pausing" as long as something still ends.
  std::string State() const;

 private:
  // Answers whether all went well; else it is tried again soon.
  using Round = bool (Scheduler::*)();

  void Run(Round round);
  bool FlushRound();
  bool AnyCompactionRound();
  bool ShortCompactionRound() { return CompactionRound(CompactionLength::kShort); }
  bool CompactionRound(CompactionLength length);
  bool ScrubRound();
  std::shared_ptr<LocalTable> BeginFlush();
  std::shared_ptr<LocalTable> ChooseToFlush(
      const std::vector<std::shared_ptr<LocalTable>>& candidates) const;
  void End(const LocalTable& table);
  bool MustStop() const;
  bool MayGoOn(std::chrono::nanoseconds pause);

  const std::shared_ptr<TableServices> services_;
  const Tables tables_;
  Scrub* const scrub_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t wakings_ = 0;
  bool stopping_ = false;
  bool paused_ = false;
  std::set<TableId> flushing_;
  std::set<std::thread::id> busy_;
  std::vector<std::thread> threads_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_SCHEDULER_H_
