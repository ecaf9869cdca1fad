// SPDX-License-Identifier: MIT
//
// ServiceManager: what the daemon tells who started it and watches it, by sd_notify(3)'s protocol:
// lines in a datagram to the socket that NOTIFY_SOCKET names. Where there is none, nothing is told.
#ifndef CELLFS_SRC_DAEMON_SERVICE_MANAGER_H_
#define CELLFS_SRC_DAEMON_SERVICE_MANAGER_H_

#include <chrono>
#include <optional>
#include <string>

namespace cellfs {

class ServiceManager {
 public:
  // Takes its variables out of the environment, for they are not for child processes. REQUIRES: one
  // thread.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // Thread-safe. `status` is one line for people.
  void TellStatus(const std::string& status) const;
  void TellReady(const std::string& status) const;
  void TellReloading() const;  // TellReady follows
  void TellStopping() const;
  void TellAlive() const;

  // It ends the daemon unless it is told within this time, again and again, that this lives.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void Send(const std::string& lines) const;

  std::string address_;  // empty: nobody listens
  int socket_ = -1;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_SERVICE_MANAGER_H_
