// SPDX-License-Identifier: MIT
//
// Numbers of bytes as people write them.
#ifndef CELLFS_ENGINE_BYTE_SIZE_H_
#define CELLFS_ENGINE_BYTE_SIZE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace cellfs {

// "1073741824", "512M", "10 GB", "1.5TiB": K, M, G and T are of 1024, in any case of letters.
// nullopt: it is no size.
std::optional<int64_t> ParseByteSize(std::string_view text);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_BYTE_SIZE_H_
