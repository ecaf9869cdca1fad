// SPDX-License-Identifier: MIT
#include "fs/files/open_file_memory.h"

#include <algorithm>
#include <string>

namespace cellfs::fs {
namespace {

// A handle itself takes about as much, and processes may have only so many of them; so most files
// are never counted.
constexpr uint64_t kNotCounted = uint64_t{4} << 10;
// So that not every write of a file that grows has to count.
constexpr uint64_t kStep = uint64_t{64} << 10;
// Two for the first user, and as much for the others.
constexpr uint64_t kValues = 4;

uint64_t Counted(uint64_t bytes) {
  return bytes <= kNotCounted ? 0 : (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

OpenFileMemory::OpenFileMemory(uint64_t limit, uint64_t max_value_size)
    : limit_(std::max(limit, kValues * Counted(max_value_size))) {}

Outcome OpenFileMemory::Full(int error) const {
  return {error, "open files keep " + std::to_string(used()) + " of " + std::to_string(limit()) +
                     " bytes in memory, and a user may have as much as is left for others: close "
                     "some, or raise open_file_limit in [mount]"};
}

bool OpenFileMemory::Share::Resize(uint64_t bytes) { return counted_.Resize(Counted(bytes)); }

}  // namespace cellfs::fs
