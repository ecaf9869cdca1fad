// SPDX-License-Identifier: MIT
//
// What `cellfs mount` and mount(8)'s helper share: a configuration from a file and options, and a
// daemon in its place.
#ifndef CELLFS_SRC_COMMANDS_MOUNTING_H_
#define CELLFS_SRC_COMMANDS_MOUNTING_H_

#include <string>
#include <vector>

#include "engine/status_or.h"
#include "src/configuration.h"

namespace cellfs {

struct MountCall {
  std::string store;
  std::string mountpoint;
  std::string config;                // empty: no file, unless the options say config=FILE
  std::vector<std::string> options;  // each a list
  UnknownOptions unknown = UnknownOptions::kRefused;
  bool foreground = false;
  bool debug = false;
};

// The file first, then the options. May be asked for again, when the file has changed.
StatusOr<Configuration> ReadConfiguration(const MountCall& call);

// Whether the store may be mounted there; what a dead daemon has left there goes. A mount that is
// read-only makes no store.
Status CheckMount(const MountCall& call, const Configuration& configuration);

// After CheckMount. Returns once the mount answers; in the foreground once it has ended.
Status MountStore(const MountCall& call, const Configuration& configuration);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_MOUNTING_H_
