// SPDX-License-Identifier: MIT
#include "src/mount/store_name.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "src/mount/mount_table.h"

namespace cellfs {
namespace {

constexpr std::string_view kScheme = "hbase://";

Status NoServer(std::string_view path, std::string_view server) {
  return {StatusCode::kIllegalArgument,
          std::string(path) + ": '" + std::string(server) +
              "' is no server; a cluster is named hbase://HOST:PORT[,HOST:PORT...]/, by masters "
              "(port 16000) or region servers (16020)"};
}

// The port stands behind the last colon: an address of IPv6 has others, and brackets.
StatusOr<ServerAddress> ParseServer(std::string_view path, std::string_view server) {
  const size_t colon = server.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return NoServer(path, server);
  std::string_view host = server.substr(0, colon);
  const std::string_view digits = server.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || host.empty())
    return NoServer(path, server);
  return ServerAddress{std::string(host), port};
}

std::string Written(const ServerAddress& server) {
  if (server.host.find(':') == std::string::npos) return server.ToString();
  return "[" + server.host + "]:" + std::to_string(server.port);
}

}  // namespace

bool IsCluster(std::string_view store) { return store.starts_with(kScheme); }

std::string ClusterPath::store() const {
  std::string text(kScheme);
  for (const ServerAddress& server : servers)
    text += (text.size() > kScheme.size() ? "," : "") + Written(server);
  return text + "/";
}

StatusOr<ClusterPath> ParseCluster(std::string_view path) {
  ClusterPath cluster;
  std::string_view rest = path.substr(std::min(path.size(), kScheme.size()));
  std::string_view servers = rest.substr(0, rest.find('/'));
  rest.remove_prefix(servers.size());
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = servers.find(',');
    CELLFS_ASSIGN_OR_RETURN(ServerAddress server,
                            ParseServer(path, servers.substr(0, comma)));
    cluster.servers.push_back(std::move(server));
    if (comma != std::string_view::npos) servers.remove_prefix(comma + 1);
  }
  std::istringstream names{std::string(rest)};
  for (std::string name; std::getline(names, name, '/');) {
    if (!name.empty()) cluster.names.push_back(name);
  }
  return cluster;
}

std::string CanonicalStore(const std::string& store) {
  if (!IsCluster(store)) return CanonicalPath(store);
  const auto cluster = ParseCluster(store);
  return cluster.ok() ? cluster->store() : store;
}

}  // namespace cellfs
