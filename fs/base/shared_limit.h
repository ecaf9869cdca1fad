// SPDX-License-Identifier: MIT
//
// SharedLimit: an amount that the users of a mount share. Each may take at most as much as is left
// for the others then: the first who takes all that he can has a half, the next a quarter. So
// nobody, and no two together, leave a newcomer with nothing.
#ifndef CELLFS_FS_BASE_SHARED_LIMIT_H_
#define CELLFS_FS_BASE_SHARED_LIMIT_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace cellfs::fs {

// Thread-safe. It outlives its shares.
class SharedLimit {
 public:
  explicit SharedLimit(uint64_t limit) : limit_(limit) {}

  uint64_t limit() const { return limit_; }
  uint64_t used() const;

  // What one file has, in the name of a user. Not thread-safe.
  class Share {
   public:
    Share(SharedLimit& limit, uid_t user) : limit_(limit), user_(user) {}
    ~Share() { static_cast<void>(Resize(0)); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False, and as it was: the user may not have so much. Less is always granted.
    [[nodiscard]] bool Resize(uint64_t amount);

   private:
    SharedLimit& limit_;
    const uid_t user_;
    uint64_t amount_ = 0;
  };

 private:
  bool Change(uid_t user, uint64_t from, uint64_t to);

  const uint64_t limit_;
  mutable std::mutex mutex_;  // guards the rest
  uint64_t used_ = 0;
  std::map<uid_t, uint64_t> by_user_;  // those who have any
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_SHARED_LIMIT_H_
