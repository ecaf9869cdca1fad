// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_HBASE_SERVER_ADDRESS_H_
#define CELLFS_ENGINE_HBASE_SERVER_ADDRESS_H_

#include <compare>
#include <cstdint>
#include <string>

namespace cellfs::hbase {

// Where a server listens, as the cluster names it.
struct ServerAddress {
  std::string host;
  uint16_t port = 0;

  std::string ToString() const { return host + ":" + std::to_string(port); }
  friend auto operator<=>(const ServerAddress&, const ServerAddress&) = default;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SERVER_ADDRESS_H_
