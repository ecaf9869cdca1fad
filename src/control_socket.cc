// SPDX-License-Identifier: MIT
#include "src/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "engine/memory_reserve.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMaxLine = size_t{1} << 24;
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

Status SomebodyElses(const std::string& store_directory) {
  return Status(StatusCode::kAccessDenied,
                "the store " + store_directory + " is somebody else's; run this as its owner");
}

// A socket's path may have 107 bytes, a directory's more: so the address goes by a descriptor of
// the directory.
struct SocketAddress {
  FileDescriptor directory;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
};

StatusOr<SocketAddress> AddressIn(const std::string& store_directory) {
  SocketAddress result{
      .directory = FileDescriptor(open(store_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  if (result.directory.get() < 0) {
    return errno == EACCES ? SomebodyElses(store_directory) : SystemError(store_directory);
  }
  const std::string path =
      "/proc/self/fd/" + std::to_string(result.directory.get()) + "/control.sock";
  memcpy(result.address.sun_path, path.c_str(), path.size() + 1);
  return result;
}

// A line without its newline; empty at the end of the connection.
std::string ReadLine(int fd, std::string& buffer) {
  while (true) {
    if (const size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t count = recv(fd, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || buffer.size() > kMaxLine) return {};
    buffer.append(bytes, static_cast<size_t>(count));
  }
}

bool WriteLine(int fd, const json& message) {
  // What is no UTF-8 is replaced: JSON has no way to say it.
  const std::string line = message.dump(-1, ' ', true, json::error_handler_t::replace) + '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = send(fd, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

json ErrorOf(std::string_view code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

json Answer(const CommandHandler& handler, const std::string& line) {
  const json request = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object() || !request.contains("command") || !request["command"].is_string()) {
    return ErrorOf("IllegalArgument", "a request is an object with a command");
  }
  const json given = request.value("arguments", json::object());
  if (!given.is_object()) return ErrorOf("IllegalArgument", "arguments are an object");
  Arguments arguments;
  for (const auto& [key, value] : given.items()) {
    if (value.is_string()) arguments[key] = value.get<std::string>();
  }
  auto result = handler(request["command"].get<std::string>(), arguments);
  if (!result.ok()) {
    return ErrorOf(CodeName(result.status().code()), result.status().message());
  }
  return {{"result", json::parse(*result)}};
}

class Server : public ControlServer {
 public:
  Server(FileDescriptor listener, CommandHandler handler, std::string path)
      : listener_(std::move(listener)), handler_(std::move(handler)), path_(std::move(path)) {
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~Server() override {
    stopping_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    {
      std::lock_guard lock(mutex_);
      for (Connection& connection : connections_) shutdown(connection.socket.get(), SHUT_RDWR);
    }
    for (Connection& connection : connections_) connection.thread.join();
    unlink(path_.c_str());
  }

 private:
  struct Connection {
    FileDescriptor socket;
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  void Accept() {
    spare_ = SpareDescriptor();
    while (!stopping_) {
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
    return connections_.remove_if([](Connection& connection) {
      if (connection.ended) connection.thread.join();
      return connection.ended.load();
    }) > 0;
  }

  // Without memory the connection is closed, which says enough.
  void Begin(FileDescriptor socket) noexcept try {
    RemoveEnded();
    const std::lock_guard lock(mutex_);
    Connection& connection = connections_.emplace_back();
    connection.socket = std::move(socket);
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
        const std::string line = ReadLine(connection.socket.get(), buffer);
        if (line.empty()) break;
        const MemoryReserve reserve(MemoryReserve::kOfSmallText);
        if (!WriteLine(connection.socket.get(), Answer(handler_, line))) break;
      }
    } catch (const std::exception&) {
      // As if it had ended: whoever asked does not know how far the command got.
    }
    shutdown(connection.socket.get(), SHUT_RDWR);
    connection.ended = true;
  }

  FileDescriptor listener_;
  FileDescriptor spare_;  // given up where there are no others; of the acceptor
  const CommandHandler handler_;
  const std::string path_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // guards connections_
  std::list<Connection> connections_;
  std::thread acceptor_;
};

StatusCode CodeOf(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kOutcomeUnknown); ++code) {
    if (CodeName(static_cast<StatusCode>(code)) == name) return static_cast<StatusCode>(code);
  }
  return StatusCode::kIoError;
}

// A socket that is connected to the store's daemon.
StatusOr<FileDescriptor> ConnectTo(const std::string& store_directory, bool may_wait) {
  CELLFS_ASSIGN_OR_RETURN(const SocketAddress address, AddressIn(store_directory));
  const int type = SOCK_STREAM | SOCK_CLOEXEC | (may_wait ? 0 : SOCK_NONBLOCK);
  FileDescriptor daemon(socket(AF_UNIX, type, 0));
  if (daemon.get() < 0) return SystemError("socket");
  if (connect(daemon.get(), reinterpret_cast<const sockaddr*>(&address.address),
              sizeof address.address) == 0) {
    return daemon;
  }
  if (errno == EACCES) return SomebodyElses(store_directory);
  if (errno == EAGAIN) return Status(StatusCode::kOutcomeUnknown, "the daemon accepts nobody");
  return Status(StatusCode::kUnavailable, "no daemon answers for " + store_directory);
}

}  // namespace

StatusOr<std::unique_ptr<ControlServer>> ControlServer::Open(const std::string& store_directory,
                                                             CommandHandler handler) {
  CELLFS_ASSIGN_OR_RETURN(SocketAddress address, AddressIn(store_directory));
  const std::string path = store_directory + "/control.sock";
  // Left by a daemon that died; the store's lock says that no other lives.
  unlink(path.c_str());
  FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) return SystemError("socket");
  const mode_t umask_before = umask(0177);
  const int bound = bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.address),
                         sizeof address.address);
  umask(umask_before);
  if (bound != 0 || listen(listener.get(), 16) != 0) return SystemError(path);
  return std::unique_ptr<ControlServer>(
      std::make_unique<Server>(std::move(listener), std::move(handler), path));
}

StatusOr<std::string> CallDaemon(const std::string& store_directory, const std::string& command,
                                 const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const FileDescriptor daemon,
                          ConnectTo(store_directory, /*may_wait=*/true));
  const json request = {{"command", command}, {"arguments", arguments}};
  std::string buffer;
  json answer;
  if (WriteLine(daemon.get(), request)) {
    answer = json::parse(ReadLine(daemon.get(), buffer), nullptr, false);
  }
  if (answer.is_object() && answer.contains("result")) return answer["result"].dump();
  if (answer.is_object() && answer.contains("error")) {
    return Status(CodeOf(answer["error"].value("code", "")), answer["error"].value("message", ""));
  }
  return Status(StatusCode::kOutcomeUnknown,
                "the daemon ended before it answered '" + command + "'");
}

DaemonState AskDaemon(const std::string& store_directory) {
  constexpr int kPatience = 1000;  // ms
  const auto daemon = ConnectTo(store_directory, /*may_wait=*/false);
  if (!daemon.ok()) {
    const StatusCode code = daemon.status().code();
    if (code == StatusCode::kAccessDenied) return DaemonState::kIsSomebodyElses;
    if (code == StatusCode::kOutcomeUnknown) return DaemonState::kIsSilent;
    return DaemonState::kIsMissing;
  }
  if (!WriteLine(daemon->get(), {{"command", "ping"}})) return DaemonState::kEnds;
  pollfd answered{.fd = daemon->get(), .events = POLLIN, .revents = 0};
  if (poll(&answered, 1, kPatience) == 0) return DaemonState::kIsSilent;
  std::string buffer;  // the answer is short and so comes as one piece
  const json answer = json::parse(ReadLine(daemon->get(), buffer), nullptr, false);
  const bool serves = answer.is_object() && answer.contains("result");
  return serves ? DaemonState::kServes : DaemonState::kEnds;
}

}  // namespace cellfs
