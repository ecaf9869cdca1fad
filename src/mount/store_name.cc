// SPDX-License-Identifier: MIT
#include "src/mount/store_name.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>
#include <utility>

#include "src/mount/mount_table.h"

namespace cellfs {
namespace {

constexpr std::string_view kCluster = "hbase://";
constexpr std::string_view kDatabase = "obkv://";
constexpr std::string_view kSocket = "obkv+unix://";

Status NoServer(std::string_view path, std::string_view server) {
  const std::string what = std::string(path) + ": '" + std::string(server) + "' is no ";
  if (path.starts_with(kSocket)) {
    return {StatusCode::kIllegalArgument,
            what + "socket; a database is named obkv+unix://[USER@]/PATH/OF/SOCKET"};
  }
  const char* const form =
      path.starts_with(kDatabase)
          ? "server; a database is named obkv://[USER@]HOST:PORT/ (OceanBase's port is 2881, "
            "MariaDB's 3306)"
          : "server; a cluster is named hbase://HOST:PORT[,HOST:PORT...]/, by masters "
            "(port 16000) or region servers (16020)";
  return {StatusCode::kIllegalArgument, what + form};
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
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || host.empty() ||
      host.find(',') != std::string_view::npos)
    return NoServer(path, server);
  return ServerAddress{std::string(host), port};
}

std::string Written(const ServerAddress& server) {
  if (server.host.find(':') == std::string::npos) return server.ToString();
  return "[" + server.host + "]:" + std::to_string(server.port);
}

// A user may have an @ in it (OceanBase's USER@TENANT#CLUSTER), a server has none.
std::string TakeUser(std::string_view& server) {
  const size_t at = server.rfind('@');
  if (at == std::string_view::npos) return {};
  std::string user(server.substr(0, at));
  server.remove_prefix(at + 1);
  return user;
}

Status ParseServers(std::string_view path, std::string_view servers, RemoteName& name) {
  const bool is_one = name.kind == RemoteKind::kDatabase;
  if (is_one) name.user = TakeUser(servers);
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = is_one ? std::string_view::npos : servers.find(',');
    CELLFS_ASSIGN_OR_RETURN(ServerAddress server, ParseServer(path, servers.substr(0, comma)));
    name.servers.push_back(std::move(server));
    if (comma != std::string_view::npos) servers.remove_prefix(comma + 1);
  }
  return {};
}

// The path's part that is a socket's, and what stands behind it; all of it where none is there.
std::pair<std::string_view, std::string_view> SplitAtSocket(std::string_view path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    struct stat attributes {};
    const std::string upto(path.substr(0, end));
    if (stat(upto.c_str(), &attributes) == 0 && S_ISSOCK(attributes.st_mode))
      return {path.substr(0, upto.size()), path.substr(upto.size())};
    if (end == std::string_view::npos) return {path, {}};
  }
}

std::vector<std::string> NamesIn(std::string_view path) {
  std::vector<std::string> names;
  std::istringstream words{std::string(path)};
  for (std::string name; std::getline(words, name, '/');)
    if (!name.empty()) names.push_back(name);
  return names;
}

}  // namespace

bool IsRemote(std::string_view store) {
  return store.starts_with(kCluster) || store.starts_with(kDatabase) ||
         store.starts_with(kSocket);
}

std::string RemoteName::store() const {
  std::string text(kind == RemoteKind::kCluster ? kCluster
                                                : (socket.empty() ? kDatabase : kSocket));
  if (!user.empty()) text += user + "@";
  if (!socket.empty()) return text + socket + "/";
  for (size_t i = 0; i < servers.size(); ++i) text += (i > 0 ? "," : "") + Written(servers[i]);
  return text + "/";
}

StatusOr<RemoteName> ParseRemote(std::string_view path) {
  RemoteName name;
  name.kind = path.starts_with(kCluster) ? RemoteKind::kCluster : RemoteKind::kDatabase;
  std::string_view rest = path.substr(std::min(path.size(), path.find("://") + 3));
  std::string_view server = rest.substr(0, rest.find('/'));
  rest.remove_prefix(server.size());
  if (!path.starts_with(kSocket)) {
    CELLFS_RETURN_IF_ERROR(ParseServers(path, server, name));
  } else {
    name.user = TakeUser(server);
    if (!server.empty() || rest.size() < 2) return NoServer(path, server);
    while (rest.ends_with('/')) rest.remove_suffix(1);
    std::string_view socket;
    std::tie(socket, rest) = SplitAtSocket(rest);
    name.socket = socket;
  }
  name.names = NamesIn(rest);
  return name;
}

std::string CanonicalStore(const std::string& store) {
  if (!IsRemote(store)) return CanonicalPath(store);
  const auto name = ParseRemote(store);
  return name.ok() ? name->store() : store;
}

}  // namespace cellfs
