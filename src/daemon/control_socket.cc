// SPDX-License-Identifier: MIT
#include "src/daemon/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "engine/memory_reserve.h"
#include "fs/requests/owner.h"
#include "src/daemon/caller_gone.h"
#include "src/daemon/message_stream.h"
#include "src/mount/silent_daemon.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr uint64_t kNotCounted = uint64_t{1} << 20;  // bytes of a request
constexpr std::chrono::seconds kPatienceToReceive{30};
constexpr std::chrono::milliseconds kPause{100};  // before descriptors are asked for again

Status SystemError(const std::string& what) {
  return Status(StatusCode::kIoError, what + ": " + strerror(errno));
}

// ---- Addresses ----------------------------------------------------------------------------------

std::string PrefixOf(uid_t user, const std::string& device) {
  return "cellfs/" + std::to_string(user) + "/" + device + "/";
}

// Tells daemons of different stores apart: the kernel gives a device's number to another mount as
// soon as it is free, while a daemon whose mount has gone still ends.
std::string MarkOf(const std::string& store) {
  char digits[17];
  snprintf(digits, sizeof digits, "%016llx",
           static_cast<unsigned long long>(XXH3_64bits(store.data(), store.size())));
  return digits;
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

// The names of sockets that may be its daemon's, as "Num RefCount Protocol Flags Type St Inode @name"
// tells them. That of a daemon of 0.1.0 has no mark.
std::vector<std::string> ListenersFor(const MountedStore& mount) {
  const std::string prefix = PrefixOf(mount.user, mount.device);
  const std::string mark = MarkOf(mount.store);
  std::vector<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find(" @" + prefix);
    if (at == std::string::npos) continue;
    std::string name = line.substr(at + 2);
    const size_t dash = name.find('-', prefix.size());
    const bool is_anothers =
        dash != std::string::npos && name.substr(prefix.size(), dash - prefix.size()) != mark;
    if (!is_anothers) names.push_back(std::move(name));
  }
  return names;
}

// ---- Requests --------------------------------------------------------------------------------------

json ErrorOf(const Status& status) {
  return {{"error", {{"code", CodeName(status.code())}, {"message", status.message()}}}};
}

StatusOr<ControlRequest> RequestIn(json message) {
  if (!message.contains("command") || !message["command"].is_string())
    return Status(StatusCode::kIllegalArgument, "a request is an object with a command");
  json arguments = json::object();
  if (message.contains("arguments")) arguments = std::move(message["arguments"]);
  if (!arguments.is_object())
    return Status(StatusCode::kIllegalArgument, "arguments are an object");
  return ControlRequest{message["command"].get<std::string>(), std::move(arguments)};
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
  Server(Descriptor listener, Options options, Handler handler)
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
        connection.gone.Happened();
        shutdown(connection.stream.fd(), SHUT_RDWR);
      }
      came_.notify_one();
    }
    watch_.join();
    for (Connection& connection : connections_) connection.thread.join();
  }

  void StopAccepting() override { shutdown(listener_.get(), SHUT_RDWR); }

 private:
  struct Connection {
    Connection(Descriptor socket, Peer whose)
        : stream(std::move(socket)), peer(std::move(whose)) {}
    MessageStream stream;
    const Peer peer;
    std::thread thread;
    CallerGone gone;
    std::atomic<bool> ended = false;
  };

  void Accept() {
    spare_ = SpareDescriptor();
    while (!stopping_) {
      // The kernel sets a descriptor aside before it waits, so that there is one whoever comes.
      Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
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
        pollfd watched{.fd = connection.stream.fd(), .events = 0, .revents = 0};
        if (!connection.ended && poll(&watched, 1, 0) > 0 && (watched.revents & POLLHUP) != 0)
          connection.gone.Happened();
      }
    }
  }

  static Descriptor SpareDescriptor() {
    return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

  // For the next connection: commands must get through where files take all descriptors.
  void MakeRoom() {
    if (RemoveEnded()) return;
    if (spare_.get() >= 0) {
      spare_ = Descriptor();
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

  // Why the caller gets no connection. With the mutex held.
  Status CheckMayCome(const Peer& peer) const {
    if (fs::IsOwnerOrRoot(peer.uid)) return {};
    if (!options_.is_for_all) {
      return {StatusCode::kAccessDenied,
              "the mount is somebody else's alone; with 'allow_other' he lets others in"};
    }
    int others = 0;
    int own = 0;
    for (const Connection& connection : connections_) {
      if (fs::IsOwnerOrRoot(connection.peer.uid)) continue;
      ++others;
      if (connection.peer.uid == peer.uid) ++own;
    }
    if (own >= options_.connections_of_a_user) {
      return {StatusCode::kUnavailable,
              "too many commands of yours run at once; wait for one to end and try again"};
    }
    if (others < options_.connections) return {};
    return {StatusCode::kUnavailable, "too many commands of others run at once; try again later"};
  }

  // Without memory the connection is closed, which says enough.
  void Begin(Descriptor socket) noexcept try {
    RemoveEnded();
    auto peer = PeerOf(socket.get());
    if (!peer.ok()) return;
    const std::lock_guard lock(mutex_);
    if (Status refused = CheckMayCome(*peer); !refused.ok()) {
      MessageStream(std::move(socket)).Send(ErrorOf(refused));
      return;
    }
    Connection& connection = connections_.emplace_back(std::move(socket), *std::move(peer));
    connection.stream.SetPatience(options_.patience, options_.patience_in_all);
    connection.stream.SetPatienceToReceive(kPatienceToReceive);
    came_.notify_one();
    try {
      connection.thread = std::thread([this, &connection] { Serve(connection); });
    } catch (...) {
      connections_.pop_back();
    }
  } catch (const std::exception&) {
  }

  void Serve(Connection& connection) noexcept {
    try {
      while (!stopping_ && ServeRequest(connection)) {
      }
    } catch (const std::exception&) {
      // As if it had ended: whoever asked does not know how far the command got.
    }
    shutdown(connection.stream.fd(), SHUT_RDWR);
    connection.ended = true;
  }

  // Whether there may be another one.
  bool ServeRequest(Connection& connection) {
    MessageStream& stream = connection.stream;
    const MemoryReserve reserve(MemoryReserve::kOfSmallText);
    std::optional<fs::OpenFileMemory::Share> share;
    if (options_.memory != nullptr) share.emplace(*options_.memory, connection.peer.uid);
    auto message = stream.Receive([&](uint64_t bytes) -> Status {
      if (!share || bytes <= kNotCounted || share->Resize(bytes)) return {};
      return {StatusCode::kUnavailable, options_.memory->Full(ENOMEM).reason()};
    });
    if (message.status().code() == StatusCode::kOutcomeUnknown) return false;
    const json answer =
        message.ok() ? Answer(connection, *std::move(message)) : ErrorOf(message.status());
    share.reset();  // who has the answer may ask again at once
    return stream.Send(answer) && !stream.is_broken();
  }

  json Answer(Connection& connection, json message) {
    auto request = RequestIn(std::move(message));
    if (!request.ok()) return ErrorOf(request.status());
    request->cancelled = &connection.gone.flag();
    request->interruption = &connection.gone;
    const auto take = [&](json record) {
      if (connection.gone.flag()) return false;
      if (connection.stream.Send({{"record", std::move(record)}})) return true;
      connection.gone.Happened();
      return false;
    };
    auto result = handler_(connection.peer, *std::move(request), take);
    if (!result.ok()) return ErrorOf(result.status());
    return {{"result", *std::move(result)}};
  }

  Descriptor listener_;
  Descriptor spare_;  // given up where there are no others; of the acceptor
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

std::optional<ucred> CredentialsOf(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0;
  return known ? std::optional(credentials) : std::nullopt;
}

// Whether the socket is the daemon's, and nobody's who has given it such a name.
bool IsOf(int fd, uid_t user) {
  const auto credentials = CredentialsOf(fd);
  return credentials && credentials->uid == user;
}

// Whoever likes can listen by such a name, and accept nobody: so none is waited for as long as another
// may be the daemon's.
StatusOr<Descriptor> ConnectTo(const MountedStore& mount) {
  bool is_silent = false;
  for (const std::string& name : ListenersFor(mount)) {
    const auto address = AddressOf(name);
    Descriptor daemon(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (daemon.get() < 0) return SystemError("socket");
    if (!address) continue;
    if (connect(daemon.get(), address->get(), address->length) != 0) {
      is_silent |= errno == EAGAIN;
    } else if (IsOf(daemon.get(), mount.user)) {
      return daemon;
    }
  }
  if (is_silent)
    return Status(StatusCode::kIoError, "the daemon of " + mount.mountpoint +
                                                " does not answer; it was stopped, or has too "
                                                "much to do");
  return Status(StatusCode::kUnavailable, "no daemon answers for " + mount.mountpoint);
}

using SteadyClock = std::chrono::steady_clock;

StatusOr<Descriptor> ConnectOrWait(const MountedStore& mount, SteadyClock::time_point deadline) {
  while (true) {
    auto daemon = ConnectTo(mount);
    if (daemon.ok()) fcntl(daemon->get(), F_SETFL, 0);  // it waits for what the daemon says
    const bool is_silent = daemon.status().code() == StatusCode::kIoError;
    if (!is_silent || SteadyClock::now() >= deadline) return daemon;
    std::this_thread::sleep_for(kPause);
  }
}

Status Silent(const MountedStore& mount, int socket) {
  const ucred daemon = CredentialsOf(socket).value_or(ucred{});
  return {StatusCode::kIoError, SilentDaemon(std::to_string(daemon.pid), mount.mountpoint)};
}

class Connection : public ControlConnection {
 public:
  explicit Connection(Descriptor daemon) : daemon_(std::move(daemon)) {}

  // Whether the daemon listens: by a command that is answered at once.
  Status Greet(const MountedStore& mount, SteadyClock::time_point deadline) {
    if (!daemon_.Send({{"command", "ping"}})) return RefusalOr("ping");
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd answered{.fd = daemon_.fd(), .events = POLLIN, .revents = 0};
    if (poll(&answered, 1, static_cast<int>(std::max<int64_t>(left, 0))) == 0)
      return Silent(mount, daemon_.fd());
    return ReceiveAnswer("ping", nullptr).status();
  }

  StatusOr<json> Call(const std::string& command, const json& arguments,
                      const TakeRecord& take) override {
    if (!daemon_.Send({{"command", command}, {"arguments", arguments}}))
      return RefusalOr(command);
    return ReceiveAnswer(command, take);
  }

 private:
  StatusOr<json> ReceiveAnswer(const std::string& command, const TakeRecord& take) {
    while (true) {
      auto answer = daemon_.Receive(MessageStream::TakesAll);
      if (!answer.ok()) return Broken(command);
      if (answer->contains("result")) return std::move((*answer)["result"]);
      if (answer->contains("error")) return StatusIn((*answer)["error"]);
      if (!answer->contains("record")) return Broken(command);
      if (take && !take(std::move((*answer)["record"])))
        return Status(StatusCode::kCancelled, "nobody reads the answer");
    }
  }

  static Status Broken(const std::string& command) {
    return {StatusCode::kOutcomeUnknown, "the daemon ended before it answered '" + command + "'"};
  }
  // It may have said why it would not listen.
  Status RefusalOr(const std::string& command) {
    const auto answer = daemon_.Receive(MessageStream::TakesAll);
    if (answer.ok() && answer->contains("error")) return StatusIn((*answer)["error"]);
    return Broken(command);
  }

  MessageStream daemon_;
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
  const auto address = AddressOf(PrefixOf(geteuid(), options.device) + MarkOf(options.store) + "-" +
                                 Unguessable());
  if (!address) return Status(StatusCode::kIllegalArgument, "no device: " + options.device);
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0 || bind(listener.get(), address->get(), address->length) != 0 ||
      listen(listener.get(), 16) != 0) {
    return SystemError("the control socket");
  }
  return std::unique_ptr<ControlServer>(
      std::make_unique<Server>(std::move(listener), options, std::move(handler)));
}

StatusOr<std::unique_ptr<ControlConnection>> ControlConnection::Open(
    const MountedStore& mount, std::chrono::milliseconds patience) {
  const auto deadline = SteadyClock::now() + patience;
  CELLFS_ASSIGN_OR_RETURN(Descriptor daemon, ConnectOrWait(mount, deadline));
  auto connection = std::make_unique<Connection>(std::move(daemon));
  CELLFS_RETURN_IF_ERROR(connection->Greet(mount, deadline));
  return std::unique_ptr<ControlConnection>(std::move(connection));
}

DaemonState AskDaemon(const MountedStore& mount) {
  constexpr int kAnswersWithin = 1000;  // ms
  auto daemon = ConnectTo(mount);
  if (!daemon.ok()) {
    return daemon.status().code() == StatusCode::kIoError ? DaemonState::kIsSilent
                                                          : DaemonState::kIsMissing;
  }
  MessageStream stream(*std::move(daemon));
  if (!stream.Send({{"command", "ping"}})) return DaemonState::kEnds;
  pollfd answered{.fd = stream.fd(), .events = POLLIN, .revents = 0};
  if (poll(&answered, 1, kAnswersWithin) == 0) return DaemonState::kIsSilent;
  // The answer is short and so comes as one piece.
  const auto answer = stream.Receive(MessageStream::TakesAll);
  if (!answer.ok()) return DaemonState::kEnds;
  if (answer->contains("result")) return DaemonState::kServes;
  const Status error = StatusIn(answer->value("error", json()));
  return error.code() == StatusCode::kAccessDenied ? DaemonState::kIsSomebodyElses
                                                   : DaemonState::kEnds;
}

std::optional<pid_t> ProcessOfDaemon(const MountedStore& mount) {
  const auto daemon = ConnectTo(mount);
  if (!daemon.ok()) return std::nullopt;
  const auto credentials = CredentialsOf(daemon->get());
  return credentials && credentials->pid > 0 ? std::optional(credentials->pid) : std::nullopt;
}

}  // namespace cellfs
