// SPDX-License-Identifier: MIT
#include "src/mount/silent_daemon.h"

#include <fstream>

namespace cellfs {

// "12 (cellfs) T ..."; of the debugger's it is a small one.
bool IsStopped(const std::string& process) {
  std::ifstream status("/proc/" + process + "/stat");
  std::string text;
  std::getline(status, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] == 'T' || text[name_end + 2] == 't';
}

std::string SilentDaemon(const std::string& process, const std::string& mountpoint) {
  return "the daemon (pid " + process + ") of " + mountpoint + " does not answer; " +
         (IsStopped(process) ? "it was stopped: 'kill -CONT " + process + "' lets it go on"
                             : "try again, or end it with 'kill " + process + "'");
}

std::string HowToEndMount(const std::string& mountpoint,
                          const std::optional<std::string>& holder) {
  if (holder && IsStopped(*holder)) return SilentDaemon(*holder, mountpoint);
  return "'cellfs umount " + mountpoint + "' ends that";
}

}  // namespace cellfs
