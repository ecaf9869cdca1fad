// SPDX-License-Identifier: MIT
#include "fs/kernel/transport.h"

#include <sys/sysinfo.h>

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

Status CheckIsWorthUring() {
  constexpr int kMostForEach = 4;
  const int possible = get_nprocs_conf();
  const int present = get_nprocs();
  if (possible <= kMostForEach * present) return {};
  return {StatusCode::kUnavailable,
          "FUSE over io_uring takes a thread for each of the " + std::to_string(possible) +
              " processors that the machine may have; it has " + std::to_string(present)};
}

}  // namespace cellfs::fs
