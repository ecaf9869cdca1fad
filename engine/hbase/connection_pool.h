// SPDX-License-Identifier: MIT
//
// The connections to a cluster: one to each service of each server, made when it is first asked for
// and again where it broke. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_CONNECTION_POOL_H_
#define CELLFS_ENGINE_HBASE_CONNECTION_POOL_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/hbase/connection.h"

namespace cellfs::hbase {

class ConnectionPool {
 public:
  struct Options {
    std::string user;  // who calls, as the servers are told
    SteadyClock::duration connect_timeout = std::chrono::seconds(10);
    // One that nobody has used for so long is closed when another is made.
    SteadyClock::duration longest_rest = std::chrono::minutes(2);
  };
  explicit ConnectionPool(Options options) : options_(std::move(options)) {}

  // kUnavailable where there is none to be had.
  StatusOr<std::shared_ptr<Connection>> To(const ServerAddress& server, Service service,
                                           const Patience& patience);

 private:
  using Key = std::pair<ServerAddress, Service>;

  std::shared_ptr<Connection> Find(const Key& key);

  const Options options_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Connection>> connections_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_CONNECTION_POOL_H_
