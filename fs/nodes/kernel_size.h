// SPDX-License-Identifier: MIT
//
// KernelSize: how long a file is as far as the kernel knows, and whether it was told otherwise just
// now.
//
// A reply with attributes that names another size has the kernel cut pages off there, in the thread
// that asked, and behind the moment in which it takes the size over: whoever writes in between loses
// what he has written to pages behind that size, which show zeros then. So for a moment after such a
// reply pages do not count as having what is written.
//
// The kernel knows of a write before it is served, and ignores a reply from before it that comes
// afterwards or meanwhile. So that reply tells it nothing, whatever size it names.
#ifndef CELLFS_FS_NODES_KERNEL_SIZE_H_
#define CELLFS_FS_NODES_KERNEL_SIZE_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cellfs::fs {

// Thread-safe.
class KernelSize {
 public:
  // Counts how often the file became longer by a request.
  uint64_t growths() const { return growths_.load(); }
  // By a reply with attributes, for which the size was read after there were so many growths.
  void IsTold(int64_t size, uint64_t growths) {
    int64_t before = size_.load();
    do {
      if (growths_.load() != growths) return;
    } while (!size_.compare_exchange_weak(before, size));
    if (before != size && before != kUnknown) told_at_.store(Now(), std::memory_order_relaxed);
  }
  // By a request that the kernel makes while nobody writes the file: ftruncate, O_TRUNC.
  void IsSet(int64_t size) { size_.store(size); }
  // At least so long.
  void IsAtLeast(int64_t end) {
    int64_t before = size_.load();
    if (before >= end) return;
    ++growths_;  // first: who sees the new size sees it too
    while (before < end && !size_.compare_exchange_weak(before, end)) {
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
  std::atomic<uint64_t> growths_{0};
  std::atomic<int64_t> told_at_{0};
  std::atomic<int64_t> cuts_written_{0};  // that of the reply behind which somebody wrote
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_KERNEL_SIZE_H_
