// SPDX-License-Identifier: MIT
//
// FaultyVfs: the files of SQLite with faults on demand: an operation that fails, a disk that is
// full, a process that dies in the midst of one, a machine that loses power with whatever had not
// been synced. FaultyFiles is the same for the files beside SQLite's; both can share one count.
#ifndef CELLFS_TESTS_SUPPORT_FAULTY_VFS_H_
#define CELLFS_TESTS_SUPPORT_FAULTY_VFS_H_

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace cellfs {

// Thread-safe.
class FaultyVfs {
 public:
  enum class Fault {
    kFail,       // the operation fails; of a write, half is done
    kFull,       // of writes: it and all after it find no room; half of each is done
    kNoRoom,     // the operation finds no room; of a write, half is done
    kDie,        // the process ends with kDiedExitCode, of a write half is done
    kLosePower,  // the same, and what was not synced is lost, or not, by chance
    kReadError,  // a read fails
    kShortRead,  // a read gives half, as if the file ended there
  };
  static constexpr int kDiedExitCode = 77;

  // Becomes SQLite's default. REQUIRES: no database has been opened in the process.
  static FaultyVfs& Install();

  // The nth operation from now (1: the next) meets the fault: of reads for the last two, of writes
  // for kFull, else of what changes files. `seed` is that of the chances.
  void Arm(int n, Fault fault, uint32_t seed = 0);
  void Disarm();
  // Asked, by the thread that is at an operation, whether it counts; else all do.
  void CountOnly(std::function<bool()> counts);
  bool reached() const;  // since Arm
  // From here on it is known what is synced; all that lies there now is.
  void Forget();
  // Store files, or names in a directory, that others have synced.
  void NoteSynced(const std::string& path);
  // A change by somebody else, counted like ours but for kFull. True: it shall fail.
  bool CountChange();
  // For those who count their changes here from several threads: they hold it while they do, so
  // that nothing changes once power is lost.
  std::recursive_mutex& mutex() { return mutex_; }
  // Called when power is lost, for files that others keep account of.
  void OnPowerLoss(std::function<void()> hook);
  // Files are as they might be after it; nothing may go on using them.
  void LosePower(uint32_t seed);

 private:
  friend struct FaultyVfsMethods;
  struct Change {
    uint64_t offset = 0;
    std::string bytes;
    bool truncates = false;  // to `offset`
  };
  struct Tracked {
    std::string synced;
    std::vector<Change> pending;
    bool name_is_synced = true;
  };
  enum class Kind { kRead, kWrite, kOtherChange };
  bool Meets(Kind kind);
  void Note(const std::string& path, Change change);
  [[noreturn]] void Die();

  mutable std::recursive_mutex mutex_;
  std::map<std::string, Tracked> files_;
  std::function<void()> power_loss_hook_;
  std::function<bool()> counts_;
  int until_fault_ = 0;
  Fault fault_ = Fault::kFail;
  uint32_t seed_ = 0;
  bool reached_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_FAULTY_VFS_H_
