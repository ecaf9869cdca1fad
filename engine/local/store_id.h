// SPDX-License-Identifier: MIT
//
// The id of a store stands in FORMAT, and in its manifests and segments of the log, which have
// checksums. So where all of these agree on another one, it is FORMAT that is wrong.
#ifndef CELLFS_ENGINE_LOCAL_STORE_ID_H_
#define CELLFS_ENGINE_LOCAL_STORE_ID_H_

#include <cstdint>
#include <string>

#include "engine/disk/file_layer.h"

namespace cellfs {

// 16 hexadecimal digits.
std::string StoreIdText(uint64_t id);

// `id`: what FORMAT of the store in `path` says. kCorruption, with the right one, where no other
// file says so and all that can be read say one other. Mostly reads one manifest.
Status CheckIdIsOfFiles(FileLayer& files, const std::string& path, uint64_t id);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_STORE_ID_H_
