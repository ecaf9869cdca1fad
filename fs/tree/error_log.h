// SPDX-License-Identifier: MIT
//
// ErrorLog: the reasons, in words, of the operations that failed lately: what /.cellfs/errors and
// user.cellfs.error show, and what the daemon's log gets.
#ifndef CELLFS_FS_TREE_ERROR_LOG_H_
#define CELLFS_FS_TREE_ERROR_LOG_H_

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/clock.h"
#include "fs/base/outcome.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class ErrorLog {
 public:
  explicit ErrorLog(const Clock& clock) : clock_(clock) {}

  using Sink = std::function<void(const std::string& line)>;

  // Called with each line as it comes, from the thread that failed.
  void SetSink(Sink sink);
  // Outcomes without a reason are left out: their errno says it all.
  void Record(std::string_view operation, const Place& place, const Outcome& outcome);
  // The latest lines, oldest first, each with its newline.
  std::string Text() const;
  // The latest reason recorded for the place or for something in it; empty where there is none.
  std::string ReasonFor(const Place& place) const;

 private:
  static constexpr size_t kKept = 200;
  struct Entry {
    Place place;
    Place parent;
    std::string line;
    std::string reason;
  };

  const Clock& clock_;
  mutable std::mutex mutex_;
  Sink sink_;
  std::deque<Entry> entries_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_ERROR_LOG_H_
