// SPDX-License-Identifier: MIT
//
// What to say of a daemon that does not answer.
#ifndef CELLFS_SRC_MOUNT_SILENT_DAEMON_H_
#define CELLFS_SRC_MOUNT_SILENT_DAEMON_H_

#include <optional>
#include <string>

namespace cellfs {

// By SIGSTOP or a debugger. `process`: its id; one that is not known has not been.
bool IsStopped(const std::string& process);

// "the daemon (pid 12) of /mnt does not answer; it was stopped: 'kill -CONT 12' lets it go on"
std::string SilentDaemon(const std::string& process, const std::string& mountpoint);

// How a mount can be ended that is in the way; `holder`: the process that has its store, if any.
std::string HowToEndMount(const std::string& mountpoint, const std::optional<std::string>& holder);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_SILENT_DAEMON_H_
