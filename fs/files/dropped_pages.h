// SPDX-License-Identifier: MIT
//
// DroppedPages: whether pages of the kernel that were dropped while somebody had the file open to
// write may lack what he has written.
//
// A write(2) copies into a page, lets go of it if all of it was there, and is a request only then. A
// page that is dropped in between, and read again before that request is served, lacks what was
// written. The kernel lets one write(2) after the other have a file, so where that happened it was to
// the first one that is served behind the drop, or to one that is served while it lasts. But not where
// the thread that writes is the only one that has read: it cannot have been writing meanwhile.
#ifndef CELLFS_FS_FILES_DROPPED_PAGES_H_
#define CELLFS_FS_FILES_DROPPED_PAGES_H_

#include <sys/types.h>

#include <atomic>
#include <mutex>

namespace cellfs::fs {

// Thread-safe, and a leaf.
class DroppedPages {
 public:
  // While it lives pages are being dropped, although somebody may be writing.
  class Dropping {
   public:
    explicit Dropping(DroppedPages& pages) : pages_(pages) { pages_.Begin(); }
    ~Dropping() { pages_.End(); }
    Dropping(const Dropping&) = delete;
    Dropping& operator=(const Dropping&) = delete;

   private:
    DroppedPages& pages_;
  };

  // Pages are about to be read, from the file as it is from now on at the least. `asker`: the thread
  // that reads; 0: not known, as below.
  void AreRead(pid_t asker) {
    if (!are_watched_.load()) return;
    const std::lock_guard lock(mutex_);
    reader_ = were_read_ && reader_ != asker ? 0 : asker;
    were_read_ = true;
  }
  // What a write of that thread brought has become part of the file: whether pages may lack it.
  bool MayLackWritten(pid_t asker) {
    if (!are_watched_.load()) return false;
    const std::lock_guard lock(mutex_);
    if (dropping_ == 0) are_watched_ = false;
    return were_read_ && (reader_ == 0 || reader_ != asker);
  }

 private:
  void Begin() {
    const std::lock_guard lock(mutex_);
    ++dropping_;
    if (!are_watched_.exchange(true)) were_read_ = false;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    --dropping_;
  }

  std::mutex mutex_;
  std::atomic<bool> are_watched_{false};  // from a drop to the write behind it
  bool were_read_ = false;                // meanwhile; guarded by mutex_, as the next
  pid_t reader_ = 0;                      // the only one that has read; 0: not known, or several
  int dropping_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_DROPPED_PAGES_H_
