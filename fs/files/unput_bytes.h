// SPDX-License-Identifier: MIT
//
// UnputBytes: how many bytes all writers of a mount hold that are not put yet, in whole blocks, so
// that a full disk can be told of before they are closed.
#ifndef CELLFS_FS_FILES_UNPUT_BYTES_H_
#define CELLFS_FS_FILES_UNPUT_BYTES_H_

#include <atomic>
#include <cstdint>

namespace cellfs::fs {

// Thread-safe. It outlives its shares.
class UnputBytes {
 public:
  static constexpr uint64_t kBlock = 4096;
  // At least one, for who has begun a file will put something.
  static uint64_t InBlocks(uint64_t bytes) {
    return bytes <= kBlock ? kBlock : (bytes + kBlock - 1) / kBlock * kBlock;
  }

  uint64_t total() const { return total_.load(std::memory_order_relaxed); }

  // What one writer holds. Not thread-safe.
  class Share {
   public:
    explicit Share(UnputBytes& all) : all_(all) {}
    ~Share() { Set(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    uint64_t bytes() const { return bytes_; }
    void Set(uint64_t bytes) {
      if (bytes == bytes_) return;
      all_.total_.fetch_add(bytes - bytes_, std::memory_order_relaxed);
      bytes_ = bytes;
    }

   private:
    UnputBytes& all_;
    uint64_t bytes_ = 0;
  };

 private:
  std::atomic<uint64_t> total_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_UNPUT_BYTES_H_
