// SPDX-License-Identifier: MIT
//
// ReadOnce: as long as one lives its thread works for one request, and changes no table. What
// somebody began to read after it began is the present for it, however short what is read may be
// kept (fs/store/freshness.h): so what every request needs (a table's description, and what is
// stored of directories) is asked for once a request, or once for several at the same time.
#ifndef CELLFS_FS_STORE_READ_ONCE_H_
#define CELLFS_FS_STORE_READ_ONCE_H_

#include <chrono>

namespace cellfs::fs {

class ReadOnce {
 public:
  using Clock = std::chrono::steady_clock;

  // Within another one it is part of that. A store to which nobody else writes has no use for it.
  explicit ReadOnce(bool has_other_writers) : before_(began_) {
    if (has_other_writers && began_ == Clock::time_point()) began_ = Clock::now();
  }
  ~ReadOnce() { began_ = before_; }
  ReadOnce(const ReadOnce&) = delete;
  ReadOnce& operator=(const ReadOnce&) = delete;

  // Whether what somebody began to read then is the present for this thread.
  static bool Covers(Clock::time_point asked_at) {
    return began_ != Clock::time_point() && asked_at >= began_;
  }
  static bool IsAlive() { return began_ != Clock::time_point(); }

 private:
  static inline constinit thread_local Clock::time_point began_{};

  const Clock::time_point before_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_READ_ONCE_H_
