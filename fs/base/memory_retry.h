// SPDX-License-Identifier: MIT
//
// Background work has nobody to tell that memory (or threads, or descriptors) ran out, and must not
// end the daemon.
#ifndef CELLFS_FS_BASE_MEMORY_RETRY_H_
#define CELLFS_FS_BASE_MEMORY_RETRY_H_

#include <algorithm>
#include <chrono>
#include <exception>
#include <stop_token>
#include <thread>

namespace cellfs::fs {

// Does the work, again and again while it throws. The work must bear being done twice.
template <typename Work>
void RetryWithMemory(const std::stop_token& stop, Work&& work) {
  constexpr std::chrono::milliseconds kLongestPause{1000};
  std::chrono::milliseconds pause{20};  // others may give memory back
  while (!stop.stop_requested()) {
    try {
      return work();
    } catch (const std::exception&) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  }
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_MEMORY_RETRY_H_
