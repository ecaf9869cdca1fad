// SPDX-License-Identifier: MIT
//
// FairSharedMutex: as std::shared_mutex, but that who wants it for himself comes before those who
// want to share it from then on. With that of the standard library he waits until nobody shares it,
// which under many writers may never be.
#ifndef CELLFS_ENGINE_TABLE_FAIR_SHARED_MUTEX_H_
#define CELLFS_ENGINE_TABLE_FAIR_SHARED_MUTEX_H_

#include <pthread.h>

namespace cellfs {

// For std::unique_lock and std::shared_lock. A thread that shares it must not share it once more.
class FairSharedMutex {
 public:
  FairSharedMutex() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~FairSharedMutex() { pthread_rwlock_destroy(&lock_); }
  FairSharedMutex(const FairSharedMutex&) = delete;
  FairSharedMutex& operator=(const FairSharedMutex&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  bool try_lock() { return pthread_rwlock_trywrlock(&lock_) == 0; }
  void unlock() { pthread_rwlock_unlock(&lock_); }

  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  bool try_lock_shared() { return pthread_rwlock_tryrdlock(&lock_) == 0; }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_FAIR_SHARED_MUTEX_H_
