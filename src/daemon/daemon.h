// SPDX-License-Identifier: MIT
//
// A mounted store's life: open the store, mount it, answer its socket, serve, and all of that back.
#ifndef CELLFS_SRC_DAEMON_DAEMON_H_
#define CELLFS_SRC_DAEMON_DAEMON_H_

#include <functional>
#include <string>

#include "engine/status_or.h"
#include "src/configuration.h"
#include "src/daemon/background.h"

namespace cellfs {

struct DaemonOptions {
  std::string store;  // as CanonicalStore writes it
  std::string mountpoint;  // absolute
  bool foreground = false;
  bool debug = false;  // every request on standard error
  Configuration configuration;
  // The configuration anew, when the file may have changed.
  std::function<StatusOr<Configuration>()> read_configuration;
};

// Answers the exit code once the mount has ended. `report` is called once: when the mount answers,
// or with the reason why it will not.
int RunDaemon(const DaemonOptions& options, const Report& report);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_DAEMON_H_
