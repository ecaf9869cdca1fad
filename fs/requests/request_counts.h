// SPDX-License-Identifier: MIT
//
// RequestCounts: how many requests of each kind a mount has served, and how long they took; and who
// asked, for as long as somebody wants to know that. Counting costs some thirty instructions.
//
//     RequestCounts::Set& set = counts.SetForThread();
//     const uint64_t begin = counts.Begin();
//     if (counts.WantsAskers(begin)) counts.NoteAsker(uid, thread);
//     ...
//     counts.End(set, RequestKind::kRead, begin);
#ifndef CELLFS_FS_REQUESTS_REQUEST_COUNTS_H_
#define CELLFS_FS_REQUESTS_REQUEST_COUNTS_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/durations.h"
#include "fs/requests/quick_clock.h"

namespace cellfs::fs {

// As the kernel has them; and a command of the command line, which is one request, however long.
enum class RequestKind : uint8_t {
  kLookup,
  kGetattr,
  kSetattr,
  kOpen,
  kRead,
  kWrite,
  kFlush,
  kFsync,
  kRelease,
  kCreate,
  kUnlink,
  kRename,
  kMkdir,
  kRmdir,
  kOpendir,
  kReaddir,
  kReleasedir,
  kXattr,
  kStatfs,
  kForget,
  kOther,
  kCommand,
};
inline constexpr size_t kRequestKinds = static_cast<size_t>(RequestKind::kCommand) + 1;
const char* NameOf(RequestKind kind);  // "lookup"

using RequestFigures = DurationFigures;  // of one kind
using AllRequestFigures = std::array<RequestFigures, kRequestKinds>;

// Who asked, since somebody wanted to know.
struct Asker {
  uid_t uid = 0;
  pid_t process = 0;  // 0: the kernel itself, or none that the daemon can know
  std::string name;   // of the process
  uint64_t requests = 0;
};

// Thread-safe.
class RequestCounts {
 public:
  // What a thread counts in, so that those which serve at the same time do not wait for each other.
  class alignas(64) Set {
   public:
    // A time that is negative is in the last bucket here.
    void Add(RequestKind kind, int64_t nanoseconds) {
      const auto place = static_cast<size_t>(kind);
      const auto took = static_cast<uint64_t>(nanoseconds);
      const auto bucket = static_cast<size_t>(std::countl_zero(took | 1) ^ 63);
      buckets_[place * RequestFigures::kBuckets + bucket].fetch_add(1, std::memory_order_relaxed);
      nanoseconds_[place].fetch_add(took, std::memory_order_relaxed);
    }

   private:
    friend class RequestCounts;
    // No std::array, whose bounds are looked at each time.
    std::atomic<uint64_t> nanoseconds_[kRequestKinds] = {};                           // NOLINT
    std::atomic<uint64_t> buckets_[kRequestKinds * RequestFigures::kBuckets] = {};  // NOLINT
  };

  // Once, before the first request, and some time after this was made.
  void Start() { clock_.Calibrate(); }
  Set& SetForThread();

  static uint64_t Begin() { return QuickClock::Ticks(); }
  void End(Set& set, RequestKind kind, uint64_t begin) const {
    set.Add(kind, clock_.Nanoseconds(begin, QuickClock::Ticks()));
  }
  AllRequestFigures Figures() const;

  bool WantsAskers(uint64_t now) const {
    return now < askers_wanted_until_.load(std::memory_order_relaxed);
  }
  // Of a request that is not answered yet, so that its process is there. Of the first of a process
  // /proc is read.
  void NoteAsker(uid_t uid, pid_t thread);
  // From now on for that long. What was noted since the first such call, unless the time was over
  // meanwhile. Of very many processes the oldest are told together, as one without a name.
  std::vector<Asker> AskersFor(std::chrono::nanoseconds how_long);

 private:
  static constexpr size_t kSets = 8;
  static constexpr size_t kMostAskers = 1024;

  QuickClock clock_;
  std::atomic<uint64_t> askers_wanted_until_ = 0;  // ticks
  std::atomic<size_t> sets_given_ = 0;
  std::array<Set, kSets> sets_;
  std::mutex mutex_;                                 // guards the rest
  std::map<std::pair<uid_t, pid_t>, Asker> askers_;  // by thread
  uint64_t others_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_REQUEST_COUNTS_H_
