// SPDX-License-Identifier: MIT
//
// MomentRegistry: the moments that readers have pinned, and what each needs of tables that have
// changed since. A moment is a sequence id: as long as a table only grows, its present version
// serves. Before a rewrite takes something away, the version as it is now is kept for the moments
// before it.
#ifndef CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_
#define CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/local/table_version.h"
#include "engine/read.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

// Thread-safe. A pinned moment keeps the registry alive, but not the store.
class MomentRegistry : public std::enable_shared_from_this<MomentRegistry> {
 public:
  // The moment of the present `read_point`, in the name of the holder.
  std::shared_ptr<const Moment> Pin(const std::atomic<SequenceId>& read_point, Timestamp now,
                                    const std::string& holder);

  // The table as a moment of that sequence id sees it, which somebody holds. `present` is asked
  // under the lock under which versions are replaced.
  StatusOr<TableVersionPtr> VersionFor(const Moment& moment, TableId table,
                                   const std::function<TableVersionPtr()>& present);

  // While held, no moment is pinned. Whoever replaces a table's version by one that has less holds
  // it, and says so by one of the two that follow.
  std::unique_lock<std::mutex> HoldOff() { return std::unique_lock(mutex_); }
  // 0: nothing is pinned.
  SequenceId Newest(const std::unique_lock<std::mutex>& held) const;
  SequenceId Newest() { return Newest(HoldOff()); }
  // `before` is replaced.
  void Keep(const std::unique_lock<std::mutex>& held, TableId table,
            const TableVersionPtr& before) noexcept;
  // `after` has the cells of before->frozen in files: all that moments up to `complete_up_to` see.
  // These need not hold the memstore any more.
  void KeepOverFlush(const std::unique_lock<std::mutex>& held, TableId table,
                     const TableVersionPtr& before, const TableVersionPtr& after,
                     SequenceId complete_up_to) noexcept;

  // The store goes, and with it all that was kept: whoever still holds a moment has nothing to read
  // it from.
  void Close();

  uint32_t Count();
  uint32_t CountOf(const std::string& holder);
  // Of files and memstores that are kept for moments and are not in the present version of their
  // table (null: it was dropped).
  struct Kept {
    uint64_t bytes = 0;
    std::map<std::string, uint64_t> by_holder;  // for whom any are kept; some may be for several
  };
  Kept BytesBeyond(const std::function<TableVersionPtr(TableId)>& present);
  Timestamp OldestNow(Timestamp otherwise);  // of the moments, the earliest `now`

 private:
  struct HeldMoment;
  // All moments of one sequence id.
  struct Pinned {
    std::map<std::string, uint32_t> holders;  // with the number of their moments
    std::map<TableId, TableVersionPtr> kept;
    bool lost = false;  // memory has run out: something was not kept
  };

  void Unpin(const HeldMoment& moment);

  std::mutex mutex_;
  std::map<SequenceId, Pinned> pinned_;
  std::multiset<Timestamp> times_;  // Moment::now of each
  bool closed_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_
