// SPDX-License-Identifier: MIT
//
// Progress: how far a long work is, on standard error where that is a terminal: a line that is
// written anew each second, with a bar and the time left where it is known how much there is.
#ifndef CELLFS_SRC_COMMANDS_PROGRESS_H_
#define CELLFS_SRC_COMMANDS_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace cellfs {

// "[#####.....] 50% 1,234 cells, 5.0 MiB, 2.5 MiB/s, 0:12 left". `total` 0: not known.
std::string ProgressText(uint64_t cells, uint64_t bytes, uint64_t total,
                         std::chrono::milliseconds since);

// Not thread-safe.
class Progress {
 public:
  explicit Progress(uint64_t total_bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(uint64_t cells, uint64_t bytes);
  // What is written next stands in a line of its own.
  void Clear();

 private:
  const uint64_t total_;
  const bool is_shown_;
  const std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point last_;
  bool is_there_ = false;  // in the line
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_PROGRESS_H_
