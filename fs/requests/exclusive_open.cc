// SPDX-License-Identifier: MIT
#include "fs/requests/exclusive_open.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <thread>

namespace cellfs::fs {
namespace {

// Which argument has the flags; 0: the call opens nothing.
int FlagsOf(long system_call) {
#ifdef SYS_open
  if (system_call == SYS_open) return 2;
#endif
  return system_call == SYS_openat ? 3 : 0;
}

}  // namespace

bool IsExclusiveOpen(const std::string& system_call) {
  std::istringstream words(system_call);
  long number = -1;
  uint64_t flags = 0;
  words >> number >> std::hex;
  const int at = words ? FlagsOf(number) : 0;
  for (int argument = 0; argument < at; ++argument) words >> flags;
  constexpr uint64_t kExclusive = O_CREAT | O_EXCL;
  return at != 0 && words && (flags & kExclusive) == kExclusive;
}

// It may be on its way to wait still: "running".
bool MakesExclusively(pid_t thread) {
  constexpr int kAttempts = 20;
  if (thread == 0) return false;
  std::string system_call;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::ifstream file("/proc/" + std::to_string(thread) + "/syscall");
    if (!std::getline(file, system_call) || system_call != "running") break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return IsExclusiveOpen(system_call);
}

}  // namespace cellfs::fs
