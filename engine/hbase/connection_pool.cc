// SPDX-License-Identifier: MIT
#include "engine/hbase/connection_pool.h"

#include <algorithm>
#include <vector>

namespace cellfs::hbase {

std::shared_ptr<Connection> ConnectionPool::Find(const Key& key) {
  const auto found = connections_.find(key);
  return found != connections_.end() && found->second->is_open() ? found->second : nullptr;
}

StatusOr<std::shared_ptr<Connection>> ConnectionPool::To(const ServerAddress& server,
                                                         Service service,
                                                         const Patience& patience) {
  const Key key(server, service);
  {
    const std::lock_guard lock(mutex_);
    if (auto connection = Find(key)) return connection;
  }
  // Without the lock, for a server that does not answer must not hold up the others. Two who come
  // at once make two, of which one stays.
  Patience connecting = patience;
  connecting.deadline = std::min(patience.deadline, SteadyClock::now() + options_.connect_timeout);
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<Connection> made,
                          Connect(server, service, options_.user, connecting));
  std::vector<std::shared_ptr<Connection>> gone;  // closed without the lock
  const std::lock_guard lock(mutex_);
  const auto useless_since = SteadyClock::now() - options_.longest_rest;
  for (auto it = connections_.begin(); it != connections_.end();) {
    const bool is_useless = !it->second->is_open() || it->second->last_used() < useless_since;
    if (is_useless) gone.push_back(std::move(it->second));
    it = is_useless ? connections_.erase(it) : std::next(it);
  }
  return connections_.try_emplace(key, std::move(made)).first->second;
}

}  // namespace cellfs::hbase
