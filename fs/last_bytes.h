// SPDX-License-Identifier: MIT
//
// LastBytes: what a file held when its name went, for a handle that was open then.
#ifndef CELLFS_FS_LAST_BYTES_H_
#define CELLFS_FS_LAST_BYTES_H_

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "fs/outcome.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf, for they are kept under the column's lock.
class LastBytes {
 public:
  using Bytes = std::shared_ptr<const std::string>;

  void Keep(OutcomeOr<std::string> bytes) {
    OutcomeOr<Bytes> kept =
        bytes.ok() ? OutcomeOr<Bytes>(std::make_shared<const std::string>(*std::move(bytes)))
                   : bytes.status();
    std::lock_guard lock(mutex_);
    std::swap(kept_, kept);
  }

  // ESTALE where nothing was kept, or why it could not be read.
  OutcomeOr<Bytes> Get() const {
    std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  mutable std::mutex mutex_;
  OutcomeOr<Bytes> kept_ = Outcome(ESTALE);  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LAST_BYTES_H_
