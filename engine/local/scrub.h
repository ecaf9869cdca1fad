// SPDX-License-Identifier: MIT
//
// Scrub: all store files and the log of a store are read and checked, again and again, before
// somebody needs what has been damaged meanwhile. It is the walk of CheckLocalStore, slowly, in
// parts: a scrub that was ended goes on with the files that it has not read.
#ifndef CELLFS_ENGINE_LOCAL_SCRUB_H_
#define CELLFS_ENGINE_LOCAL_SCRUB_H_

#include <chrono>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "engine/admin.h"
#include "engine/check.h"
#include "engine/local/compaction_pace.h"
#include "engine/local/scrub_state.h"
#include "engine/local/table_services.h"

namespace cellfs {

// Thread-safe; one round at a time.
class Scrub {
 public:
  // Waits so long, if at all, and says whether to go on.
  using MayGoOn = std::function<bool(std::chrono::nanoseconds pause)>;
  // A store file of the table is damaged: something of it cannot be read.
  using TellTable = std::function<void(TableId table, const Status& damage)>;

  // Of a store in `directory`, where it reads what the last one has found. `services` outlives it.
  Scrub(TableServices& services, std::string directory);

  void SetTellTable(TellTable tell) { tell_table_ = std::move(tell); }  // before the first round

  // Where one is due, scrubs to its end, or until it may not go on. False: the result could not be
  // kept, and the next round tries that again.
  bool Round(const MayGoOn& may_go_on);

  ScrubStatistics GetStatistics() const;

 private:
  bool IsDue() const;
  Timestamp DueLocked() const;
  bool Begin();
  bool Save();
  bool Pace(const CheckProgress& progress, const MayGoOn& may_go_on);
  void HasRead(TableId table, const FileFacts& facts, std::span<const Damage> damage);
  void End(const StatusOr<CheckReport>& report);
  ScrubFinding FindingOf(const Damage& damage) const;
  std::vector<std::string> TextsOf(const ScrubPass& pass) const;

  TableServices& services_;
  const std::string directory_;
  const int64_t interval_ms_;  // 0: never
  const Timestamp store_made_;
  TellTable tell_table_;
  CompactionPace pace_;
  uint64_t paced_bytes_ = 0;    // of the round
  uint64_t unsaved_bytes_ = 0;  // that were read since the state was saved
  bool is_saved_ = true;

  mutable std::mutex mutex_;  // guards what follows
  ScrubState state_;
  bool is_due_at_once_ = false;
  CheckProgress progress_;  // of the round
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_SCRUB_H_
