// SPDX-License-Identifier: MIT
#include "engine/hbase/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace cellfs::hbase {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype([](addrinfo* list) { freeaddrinfo(list); })>;

Status CannotReach(const ServerAddress& server, StatusCode code, const std::string& why) {
  return {code, "cannot connect to " + server.ToString() + ": " + why};
}

StatusOr<AddressList> AddressesOf(const ServerAddress& server) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(server.port);
  if (const int error = getaddrinfo(server.host.c_str(), port.c_str(), &wanted, &found)) {
    return CannotReach(server, StatusCode::kUnavailable, gai_strerror(error));
  }
  return AddressList(found);
}

// Waits until the connection that was begun is there. 0, or an errno.
int FinishConnecting(int descriptor, const Patience& patience) {
  for (;;) {
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const auto wait = std::min(patience.Left(), std::chrono::milliseconds(100));
    const int count = poll(&ready, 1, static_cast<int>(wait.count()));
    if (count > 0) break;
    if (count < 0 && errno != EINTR) return errno;
    if (patience.IsOver()) return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

int ConnectTo(const addrinfo& address, const Patience& patience, Descriptor& connected) {
  Descriptor made(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.get() < 0) return errno;
  if (connect(made.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (const int error = FinishConnecting(made.get(), patience)) return error;
  }
  const int on = 1;
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(made.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  connected = std::move(made);
  return 0;
}

}  // namespace

StatusOr<Descriptor> ConnectTo(const ServerAddress& server, const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const AddressList addresses, AddressesOf(server));
  int error = EADDRNOTAVAIL;
  Descriptor connected;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    error = ConnectTo(*address, patience, connected);
    if (error == 0) return connected;
  }
  const StatusCode code = error == ETIMEDOUT ? StatusCode::kTimedOut : StatusCode::kUnavailable;
  return CannotReach(server, code, std::strerror(error));
}

}  // namespace cellfs::hbase
