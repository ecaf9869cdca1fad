// SPDX-License-Identifier: MIT
//
// The moments that `.asof/<time>` directories read. The first look-up of a time pins the store as
// it is then, so that puts and deletes made afterwards are left out and flush and compaction keep
// what is read; the pin goes when nothing has used it for the hold (an hour) and nothing open uses
// it. A directory that the kernel knows counts as a use: somebody may stand in it.
//
// Times that are pinned while nothing is written share a pin, also with the commands that pin a
// moment while they run. Only so many are held at once, by shares of users, and what they keep
// alone has a bound (StoreOptions::moment_limit), of which each has an even share at least: where one
// is reached those of the user go that were used least lately, if nothing open uses them and nothing
// has used them for a minute; else a further one is refused him. A store that pins no moments shows
// what it still keeps of a time by its timestamps.
#ifndef CELLFS_FS_TREE_ASOF_H_
#define CELLFS_FS_TREE_ASOF_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/base/outcome.h"
#include "fs/base/shared_limit.h"

namespace cellfs::fs {

class AsofRegistry;

// One time. Thread-safe.
class AsofMoment {
 public:
  AsofMoment(AsofRegistry& registry, Timestamp time) : registry_(registry), time_(time) {}

  Timestamp time() const { return time_; }
  // The pinned moment, pinned anew where it had been let go. Null where the time is later than now,
  // and where the store pins none: timestamps alone tell then what was.
  // EBUSY where no more can be held, with the reason. Who keeps the result holds the pin.
  OutcomeOr<std::shared_ptr<const Moment>> Hold();
  // The namespaces and tables of that time; null: those of the present, for the time is later than
  // now or the store tells no others.
  std::shared_ptr<const PastCatalog> Catalog();
  // The families of a table ("": the table) of which VERSIONS, deletes or a truncate had taken something
  // when the moment was pinned, so that it may not be all that was there at its time; once, for one
  // to be told.
  std::vector<std::string> TakeIncomplete(const TableName& table);
  // Null also where no more can be held: then it reads what the present has of that time, and
  // nothing of it may be cached.
  std::shared_ptr<const Moment> Use();

 private:
  friend class AsofRegistry;
  AsofRegistry& registry_;
  const Timestamp time_;
  std::shared_ptr<const Moment> moment_;  // guarded by the registry's mutex
  uid_t user_ = 0;                        // in whose name it is held; likewise
  std::map<TableName, std::vector<std::string>> incomplete_;  // likewise
  Timestamp last_use_ = 0;                // guarded by the registry's mutex
};

// Thread-safe.
class AsofRegistry {
 public:
  AsofRegistry(Store& store, const Clock& clock, int64_t hold_ms)
      : store_(store), clock_(clock), hold_ms_(hold_ms) {}

  static constexpr size_t kMostHeld = 512;  // of which the first user may have a half

  // Before anything is held. What `is_known` says true of is used when its hold is over, as it was
  // by who stands in a directory of it; it is asked without a lock.
  using IsKnown = std::function<bool(const AsofMoment& moment)>;
  void SetIsKnown(IsKnown is_known) { is_known_ = std::move(is_known); }

  // Pinned. EBUSY where no more can be held.
  OutcomeOr<std::shared_ptr<AsofMoment>> Find(Timestamp time);
  // The present, for as long as a command of the user needs it: what it keeps goes with it.
  // kUnavailable where the user, or all together, hold too many.
  StatusOr<std::shared_ptr<const Moment>> PinFor(uid_t user);
  // Lets go what was not used within the hold, and more where what is kept has reached its bound.
  // Called now and then, and before a status is told.
  void LetGoUnused();
  // ENOENT where the time is not held; EBUSY where it is in use or was within a minute.
  Outcome LetGo(Timestamp time);

  struct Held {
    Timestamp time;
    Timestamp last_use;
    SequenceId sequence_id;
    bool in_use;
  };
  std::vector<Held> ListHeld();

 private:
  friend class AsofMoment;
  using HeldMoments = std::map<Timestamp, std::shared_ptr<AsofMoment>>;
  class Gone;
  struct SharedMoment;

  // A pin may wait for a flush or a compaction, with the mutex.
  std::unique_lock<std::mutex> Lock();
  std::shared_ptr<AsofMoment> Known(Timestamp time);
  std::map<TableName, std::vector<std::string>> IncompleteAt(Timestamp time);
  void LetGoExpired();
  std::vector<std::shared_ptr<AsofMoment>> ListExpired();
  bool IsExpired(const AsofMoment& held) const;
  // REQUIRES: the mutex.
  OutcomeOr<std::shared_ptr<const Moment>> PinWithRoom(uid_t user, Timestamp now, Gone& gone);
  Status Pin(uid_t user, Timestamp now, SharedMoment& pinned);
  static bool IsUsed(const AsofMoment& held);
  static bool MayGo(const AsofMoment& held, Timestamp now);
  using IsOf = std::function<bool(uid_t user)>;
  bool LetGoOldest(const IsOf& is_of, Timestamp now, Gone& gone);
  // What moments keep has reached its bound: one of those who keep their share.
  bool LetGoOfLargest();

  Store& store_;
  const Clock& clock_;
  const int64_t hold_ms_;
  // Moments may outlive the registry.
  const std::shared_ptr<SharedLimit> limit_ = std::make_shared<SharedLimit>(kMostHeld);
  IsKnown is_known_ = [](const AsofMoment& /*moment*/) { return false; };
  std::mutex mutex_;
  std::map<Timestamp, std::weak_ptr<AsofMoment>> moments_;  // that somebody knows, and some more
  size_t sweep_at_ = kMostHeld;  // so many of them: those are looked for that nobody knows any more
  HeldMoments held_;                                        // those that hold a pin
  std::map<uid_t, std::weak_ptr<const Moment>> newest_pins_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_ASOF_H_
