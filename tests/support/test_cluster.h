// SPDX-License-Identifier: MIT
//
// The real cluster of a test run, where there is one (tests/cluster/on_hbase):
//
//     CELLFS_TEST_CLUSTER           one of its servers, "host:port"
//     CELLFS_TEST_CLUSTER_CONTROL   the port that takes the commands of conformance/hbase/Server.java
#ifndef CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_
#define CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/cluster_options.h"
#include "engine/descriptor.h"

namespace cellfs {

inline std::optional<ClusterOptions> TestCluster() {
  const char* const server = std::getenv("CELLFS_TEST_CLUSTER");
  if (server == nullptr) return std::nullopt;
  const std::string address(server);
  const size_t colon = address.rfind(':');
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(colon + 1)));
  return ClusterOptions{.servers = {{address.substr(0, colon), port}}, .user = "cellfs"};
}

// Tells the cluster's control port what is to happen; returns when it has. "ok ..." or "error ...".
inline std::string ControlTestCluster(const std::string& command) {
  const Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port =
      htons(static_cast<uint16_t>(std::atoi(std::getenv("CELLFS_TEST_CLUSTER_CONTROL"))));
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return "error: no control port";
  }
  const std::string line = command + "\n";
  if (write(connection.get(), line.data(), line.size()) < 0) return "error: it does not listen";
  std::string answer;
  for (char c = 0; read(connection.get(), &c, 1) == 1 && c != '\n';) answer += c;
  return answer;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_TEST_CLUSTER_H_
