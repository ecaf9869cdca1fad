// SPDX-License-Identifier: MIT
//
// A mount of a store that the mount table does not tell by the store's name: the directory was
// renamed under it, or it is in another mount namespace.
#ifndef CELLFS_SRC_MOUNT_MOUNT_ELSEWHERE_H_
#define CELLFS_SRC_MOUNT_MOUNT_ELSEWHERE_H_

#include <string>

namespace cellfs {

// Of the store in `directory`, which process `holder` has open: ", mounted on ...", with what ends
// that. Empty: there is none that can be seen from here.
std::string DescribeMountElsewhere(const std::string& directory, const std::string& holder);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_MOUNT_ELSEWHERE_H_
