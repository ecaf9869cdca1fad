// SPDX-License-Identifier: MIT
//
// The way to a store's daemon: a socket in the store directory, for the owner only. One JSON object
// a line, a request and its answer in turn:
//
//     {"command": "flush", "arguments": {"table": "t"}}
//     {"result": {...}}   or   {"error": {"code": "TableNotFound", "message": "..."}}
#ifndef CELLFS_SRC_CONTROL_SOCKET_H_
#define CELLFS_SRC_CONTROL_SOCKET_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/status_or.h"

namespace cellfs {

using Arguments = std::map<std::string, std::string>;
// Answers a command with JSON text. Called from several threads.
using CommandHandler =
    std::function<StatusOr<std::string>(const std::string& command, const Arguments& arguments)>;

// The daemon's side; answers while it lives.
class ControlServer {
 public:
  static StatusOr<std::unique_ptr<ControlServer>> Open(const std::string& store_directory,
                                                       CommandHandler handler);
  virtual ~ControlServer() = default;
};

// The other side. kUnavailable: no daemon answers there; kAccessDenied: it is somebody else's.
StatusOr<std::string> CallDaemon(const std::string& store_directory, const std::string& command,
                                 const Arguments& arguments);

enum class DaemonState {
  kServes,
  kEnds,       // it refuses commands, or it ended while it was asked
  kIsMissing,  // nobody listens: it has ended, or not yet begun
  kIsSilent,   // it has not ended, but does not answer soon
  kIsSomebodyElses,
};

// By the command `ping`; answers within a second or so.
DaemonState AskDaemon(const std::string& store_directory);

}  // namespace cellfs

#endif  // CELLFS_SRC_CONTROL_SOCKET_H_
