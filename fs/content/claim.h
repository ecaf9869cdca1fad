// SPDX-License-Identifier: MIT
//
// Claim: the unstored entry of a file that is being made. It goes again, whatever ends the making,
// unless somebody keeps it.
#ifndef CELLFS_FS_CONTENT_CLAIM_H_
#define CELLFS_FS_CONTENT_CLAIM_H_

#include "fs/nodes/unstored_entries.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

class Claim {
 public:
  // The place outlives it.
  Claim(UnstoredEntries& unstored, const Place& place) : unstored_(unstored), place_(&place) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (place_ != nullptr) unstored_.Remove(*place_);
  }

  // From here on it is somebody else's to take away.
  void Keep() { place_ = nullptr; }

 private:
  UnstoredEntries& unstored_;
  const Place* place_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CLAIM_H_
