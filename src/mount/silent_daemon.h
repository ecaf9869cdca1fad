// SPDX-License-Identifier: MIT
//
// What to say of a daemon that does not answer.
#ifndef CELLFS_SRC_MOUNT_SILENT_DAEMON_H_
#define CELLFS_SRC_MOUNT_SILENT_DAEMON_H_

#include <string>

namespace cellfs {

// By SIGSTOP or a debugger. `process`: its id; one that is not known has not been.
bool IsStopped(const std::string& process);

// "the daemon (pid 12) of /mnt does not answer; it was stopped: 'kill -CONT 12' lets it go on"
std::string SilentDaemon(const std::string& process, const std::string& mountpoint);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_SILENT_DAEMON_H_
