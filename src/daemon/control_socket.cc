// SPDX-License-Identifier: MIT
#include "src/daemon/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fstream>
#include <list>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "engine/memory_reserve.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMaxRequest = size_t{1} << 25;  // bytes
constexpr size_t kMaxAnswer = size_t{1} << 30;
constexpr std::chrono::seconds kPatience{5};  // with a daemon that accepts nobody
constexpr std::chrono::milliseconds kPause{100};  // before descriptors are asked for again

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Status SystemError(const std::string& what) {
  return Status(StatusCode::kIoError, what + ": " + strerror(errno));
}

// ---- Addresses ----------------------------------------------------------------------------------

std::string PrefixOf(uid_t user, const std::string& device) {
  return "cellfs/" + std::to_string(user) + "/" + device + "/";
}

struct SocketAddress {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Abstract: the name begins with a zero byte, and needs none at its end.
std::optional<SocketAddress> AddressOf(const std::string& name) {
  SocketAddress result;
  if (name.size() + 1 > sizeof result.address.sun_path) return std::nullopt;
  memcpy(result.address.sun_path + 1, name.data(), name.size());
  result.length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

// The names of sockets that listen and begin so: "Num RefCount Protocol Flags Type St Inode @name".
std::vector<std::string> ListenersAt(const std::string& prefix) {
  std::vector<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find(" @" + prefix);
    if (at != std::string::npos) names.push_back(line.substr(at + 2));
  }
  return names;
}

// ---- Lines --------------------------------------------------------------------------------------

// A line without its newline; empty at the end of the connection.
std::string ReadLine(int fd, std::string& buffer, size_t longest) {
  size_t searched = 0;
  while (true) {
    if (const size_t end = buffer.find('\n', searched); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    searched = buffer.size();
    char bytes[65536];
    const ssize_t count = recv(fd, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || buffer.size() > longest) return {};
    buffer.append(bytes, static_cast<size_t>(count));
  }
}

bool WriteLine(int fd, json message) {
  const std::string line = ToJsonText(std::move(message)) + '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = send(fd, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

json ErrorOf(const Status& status) {
  return {{"error", {{"code", CodeName(status.code())}, {"message", status.message()}}}};
}

StatusOr<ControlRequest> ReadRequest(const std::string& line) {
  auto request = FromJsonText(line);
  if (!request || !request->is_object() || !request->contains("command") ||
      !(*request)["command"].is_string()) {
    return Status(StatusCode::kIllegalArgument, "a request is an object with a command");
  }
  json arguments = json::object();
  if (request->contains("arguments")) arguments = std::move((*request)["arguments"]);
  if (!arguments.is_object())
    return Status(StatusCode::kIllegalArgument, "arguments are an object");
  return ControlRequest{(*request)["command"].get<std::string>(), std::move(arguments), nullptr};
}

// ---- The daemon's side --------------------------------------------------------------------------

StatusOr<Peer> PeerOf(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return SystemError("SO_PEERCRED");
  Peer peer{credentials.pid, credentials.uid, {}};
  std::vector<gid_t> groups(64);
  length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  const bool has_groups =
      getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) == 0;
  if (!has_groups && errno == ERANGE) {
    groups.resize(length / sizeof(gid_t));
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) length = 0;
  } else if (!has_groups) {
    length = 0;
  }
  groups.resize(length / sizeof(gid_t));
  peer.groups.push_back(credentials.gid);
  peer.groups.insert(peer.groups.end(), groups.begin(), groups.end());
  return peer;
}

class Server : public ControlServer {
 public:
  Server(FileDescriptor listener, Options options, Handler handler)
      : listener_(std::move(listener)),
        options_(std::move(options)),
        handler_(std::move(handler)) {
    watch_ = std::thread([this] { Watch(); });
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~Server() override {
    stopping_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (Connection& connection : connections_) {
        connection.cancelled = true;
        shutdown(connection.socket.get(), SHUT_RDWR);
      }
      came_.notify_one();
    }
    watch_.join();
    for (Connection& connection : connections_) connection.thread.join();
  }

  void StopAccepting() override { shutdown(listener_.get(), SHUT_RDWR); }

 private:
  struct Connection {
    FileDescriptor socket;
    Peer peer;
    std::thread thread;
    std::atomic<bool> cancelled = false;  // nobody is at the other end
    std::atomic<bool> ended = false;
  };

  void Accept() {
    spare_ = SpareDescriptor();
    while (!stopping_) {
      // The kernel sets a descriptor aside before it waits, so that there is one whoever comes.
      FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.get() >= 0) {
        Begin(std::move(socket));
        if (spare_.get() < 0) spare_ = SpareDescriptor();
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        MakeRoom();
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return;
      }
    }
  }

  // Tells commands whose caller has gone, and takes away connections that have ended.
  void Watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (connections_.empty()) {
        came_.wait(lock);
      } else {
        came_.wait_for(lock, kPause);
      }
      RemoveEndedLocked();
      for (Connection& connection : connections_) {
        pollfd watched{.fd = connection.socket.get(), .events = 0, .revents = 0};
        if (!connection.ended && poll(&watched, 1, 0) > 0 && (watched.revents & POLLHUP) != 0)
          connection.cancelled = true;
      }
    }
  }

  static FileDescriptor SpareDescriptor() {
    return FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

  // For the next connection: commands must get through where files take all descriptors.
  void MakeRoom() {
    if (RemoveEnded()) return;
    if (spare_.get() >= 0) {
      spare_ = FileDescriptor();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }

  // Whether there were any.
  bool RemoveEnded() {
    const std::lock_guard lock(mutex_);
    return RemoveEndedLocked();
  }

  bool RemoveEndedLocked() {
    return connections_.remove_if([](Connection& connection) {
      if (!connection.ended) return false;
      connection.thread.join();
      return true;
    }) > 0;
  }

  bool IsOurs(const Peer& peer) const { return peer.uid == geteuid() || peer.uid == 0; }

  // Why the caller gets no connection. With the mutex held.
  Status CheckMayCome(const Peer& peer) const {
    if (IsOurs(peer)) return {};
    if (!options_.is_for_all) {
      return {StatusCode::kAccessDenied,
              "the mount is somebody else's alone; with 'allow_other' he lets others in"};
    }
    int others = 0;
    int own = 0;
    for (const Connection& connection : connections_) {
      if (IsOurs(connection.peer)) continue;
      ++others;
      if (connection.peer.uid == peer.uid) ++own;
    }
    if (own < options_.connections_of_a_user && others < options_.connections) return {};
    return {StatusCode::kUnavailable,
            "too many commands run at once; wait for one of yours to end and try again"};
  }

  // Without memory the connection is closed, which says enough.
  void Begin(FileDescriptor socket) noexcept try {
    RemoveEnded();
    auto peer = PeerOf(socket.get());
    if (!peer.ok()) return;
    const std::lock_guard lock(mutex_);
    if (Status refused = CheckMayCome(*peer); !refused.ok()) {
      WriteLine(socket.get(), ErrorOf(refused));
      return;
    }
    Connection& connection = connections_.emplace_back();
    came_.notify_one();
    connection.socket = std::move(socket);
    connection.peer = *std::move(peer);
    try {
      connection.thread = std::thread([this, &connection] { Serve(connection); });
    } catch (...) {
      connections_.pop_back();
    }
  } catch (const std::exception&) {
  }

  void Serve(Connection& connection) noexcept {
    try {
      std::string buffer;
      while (!stopping_) {
        const std::string line = ReadLine(connection.socket.get(), buffer, kMaxRequest);
        if (line.empty()) break;
        const MemoryReserve reserve(MemoryReserve::kOfSmallText);
        if (!WriteLine(connection.socket.get(), Answer(connection, line))) break;
      }
    } catch (const std::exception&) {
      // As if it had ended: whoever asked does not know how far the command got.
    }
    shutdown(connection.socket.get(), SHUT_RDWR);
    connection.ended = true;
  }

  json Answer(Connection& connection, const std::string& line) {
    auto request = ReadRequest(line);
    if (!request.ok()) return ErrorOf(request.status());
    request->cancelled = &connection.cancelled;
    const auto take = [&](json record) {
      return !connection.cancelled &&
             WriteLine(connection.socket.get(), {{"record", std::move(record)}});
    };
    auto result = handler_(connection.peer, *std::move(request), take);
    if (!result.ok()) return ErrorOf(result.status());
    return {{"result", *std::move(result)}};
  }

  FileDescriptor listener_;
  FileDescriptor spare_;  // given up where there are no others; of the acceptor
  const Options options_;
  const Handler handler_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable came_;
  std::list<Connection> connections_;  // guarded by mutex_
  std::thread watch_;
  std::thread acceptor_;
};

// ---- The other side -----------------------------------------------------------------------------

StatusCode CodeOf(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kOutcomeUnknown); ++code) {
    if (CodeName(static_cast<StatusCode>(code)) == name) return static_cast<StatusCode>(code);
  }
  return StatusCode::kIoError;
}

Status StatusIn(const json& error) {
  if (!error.is_object()) return {StatusCode::kIoError, "the daemon answers nonsense"};
  return {CodeOf(error.value("code", "")), error.value("message", "")};
}

// Whether the socket is the daemon's, and nobody's who has given it such a name.
bool IsOf(int fd, uid_t user) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 &&
         credentials.uid == user;
}

// Whoever likes can listen by such a name, and accept nobody: so none is waited for as long as another
// may be the daemon's.
StatusOr<FileDescriptor> ConnectTo(const MountedStore& mount) {
  bool is_silent = false;
  for (const std::string& name : ListenersAt(PrefixOf(mount.user, mount.device))) {
    const auto address = AddressOf(name);
    FileDescriptor daemon(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (daemon.get() < 0) return SystemError("socket");
    if (!address) continue;
    if (connect(daemon.get(), address->get(), address->length) != 0) {
      is_silent |= errno == EAGAIN;
    } else if (IsOf(daemon.get(), mount.user)) {
      return daemon;
    }
  }
  if (is_silent) return Status(StatusCode::kOutcomeUnknown, "the daemon accepts nobody");
  return Status(StatusCode::kUnavailable, "no daemon answers for " + mount.mountpoint);
}

StatusOr<FileDescriptor> ConnectOrWait(const MountedStore& mount) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    auto daemon = ConnectTo(mount);
    if (daemon.ok()) fcntl(daemon->get(), F_SETFL, 0);  // it waits for what the daemon says
    const bool is_silent = daemon.status().code() == StatusCode::kOutcomeUnknown;
    if (!is_silent || std::chrono::steady_clock::now() >= deadline) return daemon;
    std::this_thread::sleep_for(kPause);
  }
}

class Connection : public ControlConnection {
 public:
  explicit Connection(FileDescriptor daemon) : daemon_(std::move(daemon)) {}

  StatusOr<json> Call(const std::string& command, const json& arguments,
                      const TakeRecord& take) override {
    if (!WriteLine(daemon_.get(), {{"command", command}, {"arguments", arguments}}))
      return RefusalOr(command);
    while (true) {
      auto answer = FromJsonText(ReadLine(daemon_.get(), buffer_, kMaxAnswer));
      if (!answer || !answer->is_object()) return Broken(command);
      if (answer->contains("result")) return std::move((*answer)["result"]);
      if (answer->contains("error")) return StatusIn((*answer)["error"]);
      if (!answer->contains("record")) return Broken(command);
      if (take && !take(std::move((*answer)["record"])))
        return Status(StatusCode::kCancelled, "nobody reads the answer");
    }
  }

 private:
  static Status Broken(const std::string& command) {
    return {StatusCode::kOutcomeUnknown, "the daemon ended before it answered '" + command + "'"};
  }
  // It may have said why it would not listen.
  Status RefusalOr(const std::string& command) {
    const auto answer = FromJsonText(ReadLine(daemon_.get(), buffer_, kMaxAnswer));
    if (answer && answer->is_object() && answer->contains("error"))
      return StatusIn((*answer)["error"]);
    return Broken(command);
  }

  const FileDescriptor daemon_;
  std::string buffer_;
};

// 64 bits, in hexadecimal digits.
std::string Unguessable() {
  std::random_device random;
  char digits[17];
  snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return digits;
}

}  // namespace

StatusOr<std::unique_ptr<ControlServer>> ControlServer::Open(const Options& options,
                                                             Handler handler) {
  const auto address = AddressOf(PrefixOf(geteuid(), options.device) + Unguessable());
  if (!address) return Status(StatusCode::kIllegalArgument, "no device: " + options.device);
  FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0 || bind(listener.get(), address->get(), address->length) != 0 ||
      listen(listener.get(), 16) != 0) {
    return SystemError("the control socket");
  }
  return std::unique_ptr<ControlServer>(
      std::make_unique<Server>(std::move(listener), options, std::move(handler)));
}

StatusOr<std::unique_ptr<ControlConnection>> ControlConnection::Open(const MountedStore& mount) {
  CELLFS_ASSIGN_OR_RETURN(FileDescriptor daemon, ConnectOrWait(mount));
  return std::unique_ptr<ControlConnection>(std::make_unique<Connection>(std::move(daemon)));
}

DaemonState AskDaemon(const MountedStore& mount) {
  constexpr int kPatience = 1000;  // ms
  const auto daemon = ConnectTo(mount);
  if (!daemon.ok()) {
    return daemon.status().code() == StatusCode::kOutcomeUnknown ? DaemonState::kIsSilent
                                                                 : DaemonState::kIsMissing;
  }
  if (!WriteLine(daemon->get(), {{"command", "ping"}})) return DaemonState::kEnds;
  pollfd answered{.fd = daemon->get(), .events = POLLIN, .revents = 0};
  if (poll(&answered, 1, kPatience) == 0) return DaemonState::kIsSilent;
  std::string buffer;  // the answer is short and so comes as one piece
  const auto answer = FromJsonText(ReadLine(daemon->get(), buffer, kMaxAnswer));
  if (!answer || !answer->is_object()) return DaemonState::kEnds;
  if (answer->contains("result")) return DaemonState::kServes;
  const Status error = StatusIn(answer->value("error", json()));
  return error.code() == StatusCode::kAccessDenied ? DaemonState::kIsSomebodyElses
                                                   : DaemonState::kEnds;
}

}  // namespace cellfs
