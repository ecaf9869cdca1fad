// SPDX-License-Identifier: MIT
//
// CompactionTurns: who compacts which files of a table. What is asked for has its family alone; what
// the background finds worth it is done beside each other, each with files of its own (HBase:
// HStore.filesCompacting), so that a long one does not keep short ones from what comes meanwhile.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_TURNS_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_TURNS_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/local/compaction_picker.h"

namespace cellfs {

// Thread-safe.
class CompactionTurns {
 private:
  struct Family {
    int turns = 0;
    bool is_alone = false;  // the one turn
    int waiting = 0;        // for it alone
    TakenFiles files;        // of all turns
  };

 public:
  // Of a family, from before its files are chosen until they have become one. One thread.
  class Turn {
   public:
    // REQUIRES: the mutex of `turns`, which outlives it.
    Turn(CompactionTurns& turns, Family& family, bool is_alone);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Takes the files that `choose` gives back, who is told which ones others have. One choice at a
    // time.
    template <typename Choose>
    auto Take(Choose choose) {
      const std::lock_guard lock(turns_.mutex_);
      auto chosen = choose(std::as_const(family_.files));
      Add(chosen);
      return chosen;
    }
    void LetGo();
    // False: there are others.
    bool TakeAlone();

   private:
    // REQUIRES: the mutex.
    void Add(const StoreFiles& files);
    void Add(const std::optional<Compaction>& compaction);

    CompactionTurns& turns_;
    Family& family_;               // guarded by the mutex
    std::vector<uint64_t> files_;  // numbers
  };

  // Waits until nobody else has a turn, and meanwhile nobody gets one. Null: who asked for it has
  // given up.
  std::unique_ptr<Turn> TakeAlone(const std::string& family);
  // Null: somebody has the family alone, or waits for that.
  std::unique_ptr<Turn> TryToShare(const std::string& family);
  // Until all have ended.
  void Await();

 private:
  std::mutex mutex_;  // before those of VersionSet
  std::condition_variable ended_;
  std::map<std::string, Family> families_;  // guarded by mutex_; none goes
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_TURNS_H_
