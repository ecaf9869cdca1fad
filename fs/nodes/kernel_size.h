// SPDX-License-Identifier: MIT
//
// KernelSize: how long a file is as far as the kernel knows, and whether it was told otherwise just
// now.
//
// A reply with attributes that names another size has the kernel cut pages off there, in the thread
// that asked, and behind the moment in which it takes the size over: whoever writes in between loses
// what he has written to pages behind that size, which show zeros then. So for a moment after such a
// reply pages do not count as having what is written.
#ifndef CELLFS_FS_NODES_KERNEL_SIZE_H_
#define CELLFS_FS_NODES_KERNEL_SIZE_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cellfs::fs {

// Thread-safe.
class KernelSize {
 public:
  // By a reply with attributes.
  void IsTold(int64_t size) {
    const int64_t before = size_.exchange(size, std::memory_order_relaxed);
    if (before != size && before != kUnknown) told_at_.store(Now(), std::memory_order_relaxed);
  }
  // By a request that the kernel makes while nobody writes the file: ftruncate, O_TRUNC.
  void IsSet(int64_t size) { size_.store(size, std::memory_order_relaxed); }
  // At least so long.
  void IsAtLeast(int64_t end) {
    int64_t before = size_.load(std::memory_order_relaxed);
    while (before < end && !size_.compare_exchange_weak(before, end, std::memory_order_relaxed)) {
    }
  }
  // By a write. Whether pages may still be cut.
  bool IsWritten(int64_t end) {
    IsAtLeast(end);
    const int64_t told_at = told_at_.load(std::memory_order_relaxed);
    if (told_at == 0 || Now() - told_at >= kLongest) return false;
    cuts_written_.store(told_at, std::memory_order_relaxed);
    return true;
  }
  // Likewise, and they would lack what was written.
  bool MayCutWritten() const {
    const int64_t told_at = told_at_.load(std::memory_order_relaxed);
    return told_at != 0 && told_at == cuts_written_.load(std::memory_order_relaxed) &&
           Now() - told_at < kLongest;
  }

 private:
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kLongest = 1000;  // milliseconds that a thread may not get on

  static int64_t Now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }

  std::atomic<int64_t> size_{kUnknown};
  std::atomic<int64_t> told_at_{0};
  std::atomic<int64_t> cuts_written_{0};  // that of the reply behind which somebody wrote
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_KERNEL_SIZE_H_
