// SPDX-License-Identifier: MIT
//
// Background work has nobody to tell that memory ran out, and must not end the daemon.
#ifndef CELLFS_FS_BASE_MEMORY_RETRY_H_
#define CELLFS_FS_BASE_MEMORY_RETRY_H_

#include <chrono>
#include <new>
#include <stop_token>
#include <thread>

namespace cellfs::fs {

// Does the work, again and again while memory runs out. The work must bear being done twice.
template <typename Work>
void RetryWithMemory(const std::stop_token& stop, Work&& work) {
  constexpr std::chrono::milliseconds kPause{20};  // others may give memory back
  while (!stop.stop_requested()) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_MEMORY_RETRY_H_
