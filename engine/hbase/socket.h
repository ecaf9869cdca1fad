// SPDX-License-Identifier: MIT
//
// A TCP connection that nobody blocks on.
#ifndef CELLFS_ENGINE_HBASE_SOCKET_H_
#define CELLFS_ENGINE_HBASE_SOCKET_H_

#include <unistd.h>

#include <utility>

#include "engine/hbase/patience.h"
#include "engine/hbase/server_address.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

// Owns a descriptor; -1: none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// Connects to the first of the server's addresses that takes it. kUnavailable, with the server's
// name and the cause. Names are looked up as getaddrinfo does, which knows no deadline.
StatusOr<Socket> ConnectTo(const ServerAddress& server, const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SOCKET_H_
