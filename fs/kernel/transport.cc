// SPDX-License-Identifier: MIT
#include "fs/kernel/transport.h"

#include <fstream>
#include <string>

#include "fs/kernel/ring_entry.h"

namespace cellfs::fs {

Status FindUring() {
  constexpr auto kSwitch = "/sys/module/fuse/parameters/enable_uring";
  std::ifstream file(kSwitch);
  char state = 0;
  if (!(file >> state)) {
    return {StatusCode::kUnavailable,
            "this kernel has no FUSE over io_uring: Linux 6.14 and later have"};
  }
  if (state != 'Y' && state != '1') {
    return {StatusCode::kUnavailable,
            std::string("FUSE over io_uring is switched off: write Y to ") + kSwitch};
  }
  return RingEntry::Probe();
}

}  // namespace cellfs::fs
