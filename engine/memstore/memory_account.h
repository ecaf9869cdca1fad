// SPDX-License-Identifier: MIT
//
// MemoryAccount: how many bytes the memstores of a store take, so that writers wait before memory
// runs out; and how many their store files may take, so that the disk has room for them. A
// MemoryCharge is one memstore's part. It gives the bytes back when it ends, whatever ends it.
#ifndef CELLFS_ENGINE_MEMSTORE_MEMORY_ACCOUNT_H_
#define CELLFS_ENGINE_MEMSTORE_MEMORY_ACCOUNT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace cellfs {

// Thread-safe.
class MemoryAccount {
 public:
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t file_bytes() const { return file_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryCharge;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> file_bytes_{0};
};

// One thread at a time adds or ends it.
class MemoryCharge {
 public:
  explicit MemoryCharge(std::shared_ptr<MemoryAccount> account) : account_(std::move(account)) {}
  ~MemoryCharge() { End(); }
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  void Add(uint64_t bytes, uint64_t file_bytes) noexcept {
    bytes_ += bytes;
    file_bytes_ += file_bytes;
    account_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
    account_->file_bytes_.fetch_add(file_bytes, std::memory_order_relaxed);
  }
  uint64_t file_bytes() const { return file_bytes_; }
  // Gives the bytes back before the charge is destroyed; once is enough.
  void End() noexcept {
    account_->bytes_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
    account_->file_bytes_.fetch_sub(std::exchange(file_bytes_, 0), std::memory_order_relaxed);
  }

 private:
  const std::shared_ptr<MemoryAccount> account_;
  uint64_t bytes_ = 0;
  uint64_t file_bytes_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_MEMORY_ACCOUNT_H_
