// SPDX-License-Identifier: MIT
#include "fs/requests/calling_process.h"

#include <sys/types.h>

#include <cstdlib>
#include <fstream>

#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

// The kernel names the thread that asked.
pid_t ProcessOfThread(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Tgid:")) return static_cast<pid_t>(std::atol(line.c_str() + 5));
  }
  return thread;
}

}  // namespace

NamedProcess ProcessOf(pid_t thread) {
  if (thread == 0) return {};
  NamedProcess process{.id = ProcessOfThread(thread), .name = {}};
  std::ifstream comm("/proc/" + std::to_string(process.id) + "/comm");
  std::getline(comm, process.name);
  return process;
}

std::string CallingProcess() {
  const pid_t asker = RunningRequest::AskerOfThisThread();
  if (asker == 0) return {};
  const auto [id, name] = ProcessOf(asker);
  return name.empty() ? "process " + std::to_string(id) : name + " (" + std::to_string(id) + ")";
}

}  // namespace cellfs::fs
