// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_SERVER_ADDRESS_H_
#define CELLFS_ENGINE_SERVER_ADDRESS_H_

#include <compare>
#include <cstdint>
#include <string>

namespace cellfs {

// Where a server of a cluster listens, as the cluster names it.
struct ServerAddress {
  std::string host;
  uint16_t port = 0;

  std::string ToString() const { return host + ":" + std::to_string(port); }
  friend auto operator<=>(const ServerAddress&, const ServerAddress&) = default;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_SERVER_ADDRESS_H_
