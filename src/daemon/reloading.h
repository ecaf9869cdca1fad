// SPDX-License-Identifier: MIT
//
// Reloading: what SIGHUP does. The log is opened anew, the configuration is read again, and of what
// it says otherwise than before that is put in force that can be while the mount lives.
#ifndef CELLFS_SRC_DAEMON_RELOADING_H_
#define CELLFS_SRC_DAEMON_RELOADING_H_

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/controlled_store.h"
#include "engine/status_or.h"
#include "src/configuration.h"

namespace cellfs {

class Reloading {
 public:
  using Read = std::function<StatusOr<Configuration>()>;

  // `in_force`: what the mount began with. `read` gives it anew. `controls`: of the store; may be
  // null. `foreground`: of LogTargetOf.
  Reloading(Configuration in_force, Read read, StoreControls* controls, bool foreground);

  // Logs what it did. A key that is the same as before is left alone, whatever `cellfs set` has
  // made of it; where the configuration cannot be read, or the log not go where it says, nothing of
  // it is put in force. One thread calls it.
  void Reload();

  // What the mount goes by now, by reloading or by `cellfs set`; but for the size of the page cache,
  // which the store is told. Thread-safe.
  Configuration InForce() const;

 private:
  // All of it or nothing.
  Status PutInForce(const Configuration& configuration);
  Status PutLogInForce(const Configuration& configuration) const;

  const Configuration begun_;
  Configuration in_force_;  // as it was read; the next mount goes by all of it
  mutable std::mutex mutex_;
  std::string log_target_;  // in force; guarded by mutex_
  const Read read_;
  StoreControls* const controls_;
  const bool foreground_;
};

// "stderr" is for the foreground: in the background it is syslog.
std::string LogTargetOf(const Configuration& configuration, bool foreground);

// The keys ("[mount] names") with which two configurations differ.
std::vector<std::string> DifferingKeys(const Configuration& one, const Configuration& other);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_RELOADING_H_
