// SPDX-License-Identifier: MIT
//
// The way to the daemon of a mount: a socket that lies in no directory (Linux's abstract
// namespace), so that a mount without a store directory has one too, whoever may use the mount
// reaches it, and nothing stays behind when the daemon is killed. Its name is
//
//     cellfs/<user of the daemon>/<device of the mount>/<mark of the store>-<a number that nobody can
//     guess>
//
// and is found in /proc/net/unix. Each side asks the kernel who the other is: the caller takes no
// answer but the daemon's user's, so that nobody can pose as it; the daemon knows who calls.
//
// One JSON object a line; a request, then its records, then how it ended:
//
//     {"command": "count", "arguments": {...}}
//     {"record": {...}} ...
//     {"result": {...}}   or   {"error": {"code": "TableNotFound", "message": "..."}}
//
// Strings are bytes on both sides; on the way they are as src/daemon/message_stream.h has it.
#ifndef CELLFS_SRC_DAEMON_CONTROL_SOCKET_H_
#define CELLFS_SRC_DAEMON_CONTROL_SOCKET_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/status_or.h"
#include "fs/files/open_file_memory.h"
#include "fs/requests/running_request.h"
#include "src/mount/mount_table.h"

namespace cellfs {

// Who is on the other side, as the kernel says.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the effective one first
};

// Takes what a command has to tell, piece by piece. False: nobody listens any more.
using TakeRecord = std::function<bool(nlohmann::json record)>;

struct ControlRequest {
  std::string command;
  nlohmann::json arguments;                      // an object
  // Once the caller has gone: true; and a way to hear it, null where nobody can say so.
  const std::atomic<bool>* cancelled = nullptr;
  fs::Interruption* interruption = nullptr;
};

// The daemon's side; answers while it lives.
class ControlServer {
 public:
  // Called from several threads.
  using Handler = std::function<StatusOr<nlohmann::json>(const Peer& peer, ControlRequest request,
                                                         const TakeRecord& take)>;
  struct Options {
    std::string device;              // of the mount
    std::string store = {};          // as the mount table has it
    bool is_for_all = false;         // else for the daemon's user and root
    int connections_of_a_user = 4;   // other than these two
    int connections = 64;            // of all others together
    // Long requests are counted with what open files hold. Null: they are not counted.
    fs::OpenFileMemory* memory = nullptr;
    // With a caller that reads nothing of what it is told; then it counts as gone. So it does once
    // it has been waited for so long in all, however little it reads in between.
    std::chrono::milliseconds patience = std::chrono::minutes(10);
    std::chrono::milliseconds patience_in_all = std::chrono::hours(1);
  };

  static StatusOr<std::unique_ptr<ControlServer>> Open(const Options& options, Handler handler);
  virtual ~ControlServer() = default;
  // Nobody reaches it any more; who has a connection keeps it.
  virtual void StopAccepting() = 0;
};

// The other side. Not thread-safe.
class ControlConnection {
 public:
  // kUnavailable: there is no daemon, or it ends. kAccessDenied: the mount is not for this user.
  // kIoError: it is there and has not answered a `ping` within the patience: it was stopped, or has
  // too much to do. How long a command takes after that is its own affair.
  static StatusOr<std::unique_ptr<ControlConnection>> Open(
      const MountedStore& mount, std::chrono::milliseconds patience = std::chrono::seconds(10));
  virtual ~ControlConnection() = default;

  // kOutcomeUnknown: the daemon ended before it answered.
  virtual StatusOr<nlohmann::json> Call(const std::string& command,
                                        const nlohmann::json& arguments,
                                        const TakeRecord& take) = 0;
};

enum class DaemonState {
  kServes,
  kEnds,       // it refuses commands, or it ended while it was asked
  kIsMissing,  // nobody listens: it has ended, or not yet begun
  kIsSilent,   // it has not ended, but does not answer soon
  kIsSomebodyElses,
};

// By the command `ping`; answers within a second or so.
DaemonState AskDaemon(const MountedStore& mount);

// Its process, which need not answer; nullopt: nobody listens, or it is not seen from here.
std::optional<pid_t> ProcessOfDaemon(const MountedStore& mount);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_CONTROL_SOCKET_H_
