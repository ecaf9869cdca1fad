// SPDX-License-Identifier: MIT
//
// NewStore: whether a mount makes the store's directory. If the mount is refused after all, what it
// has made goes again.
#ifndef CELLFS_SRC_MOUNT_NEW_STORE_H_
#define CELLFS_SRC_MOUNT_NEW_STORE_H_

#include <string>

namespace cellfs {

class NewStore {
 public:
  // Before the store is opened.
  explicit NewStore(std::string directory);

  // After it was closed, or could not be opened: takes the directory away if it was not there
  // before, and nobody else has opened the store since. What cannot be taken away stays.
  void TakeAway() const;

 private:
  const std::string directory_;
  const bool was_there_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_NEW_STORE_H_
