// SPDX-License-Identifier: MIT
//
// Guardian: a small process beside the daemon that ends the mount's connection when the daemon is
// killed. The kernel does so itself once the last of the daemon's threads has gone; but a thread
// that tells it to drop a page or a name waits there, beyond any signal, for a client that waits
// for an answer of the daemon: the mount would hang, and the store stay locked, for ever.
#ifndef CELLFS_SRC_DAEMON_GUARDIAN_H_
#define CELLFS_SRC_DAEMON_GUARDIAN_H_

#include <sys/types.h>

#include <string>

namespace cellfs {

class Guardian {
 public:
  // Forks, as the child of the calling thread. REQUIRES: one thread, which lives as long as this.
  Guardian();
  ~Guardian();  // an orderly end: there is nothing left to do
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // From now on, for what is mounted there.
  void Guard(const std::string& mountpoint) const;

 private:
  pid_t process_ = -1;  // -1: could not be made, and the mount goes without
  int channel_ = -1;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_GUARDIAN_H_
