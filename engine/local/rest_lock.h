// SPDX-License-Identifier: MIT
//
// RestLock: while it lives nobody opens the store.
#ifndef CELLFS_ENGINE_LOCAL_REST_LOCK_H_
#define CELLFS_ENGINE_LOCAL_REST_LOCK_H_

#include <string>

namespace cellfs {

// Several may hold it at the same time. It writes nothing.
class RestLock {
 public:
  explicit RestLock(const std::string& store_directory);
  ~RestLock();
  RestLock(const RestLock&) = delete;
  RestLock& operator=(const RestLock&) = delete;

  // False: the store is open, in this process or in another.
  bool at_rest() const { return at_rest_; }

 private:
  int lock_ = -1;
  bool at_rest_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_REST_LOCK_H_
