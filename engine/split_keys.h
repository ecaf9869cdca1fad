// SPDX-License-Identifier: MIT
//
// Where the regions of a new table begin, as HBase's RegionSplitter has it.
#ifndef CELLFS_ENGINE_SPLIT_KEYS_H_
#define CELLFS_ENGINE_SPLIT_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status_or.h"

namespace cellfs {

// Split keys of `regions` regions: "hex" (HexStringSplit: start and end in hexadecimal digits,
// default 00000000..FFFFFFFF) or "uniform" (UniformSplit: the bytes 00..FF). kIllegalArgument.
StatusOr<std::vector<std::string>> SplitKeys(std::string_view algorithm, std::string_view start,
                                             std::string_view end, int32_t regions);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_SPLIT_KEYS_H_
