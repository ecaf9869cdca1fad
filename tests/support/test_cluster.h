// SPDX-License-Identifier: MIT
//
// The real cluster of a test run, where there is one: CELLFS_TEST_CLUSTER names it by one of its
// servers, "host:port" (tests/cluster/on_hbase).
#ifndef CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_
#define CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/cluster_options.h"

namespace cellfs {

inline std::optional<ClusterOptions> TestCluster() {
  const char* const server = std::getenv("CELLFS_TEST_CLUSTER");
  if (server == nullptr) return std::nullopt;
  const std::string address(server);
  const size_t colon = address.rfind(':');
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(colon + 1)));
  return ClusterOptions{.servers = {{address.substr(0, colon), port}}, .user = "cellfs"};
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_
