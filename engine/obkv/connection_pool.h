// SPDX-License-Identifier: MIT
//
// ConnectionPool: as many connections as the options allow, each for one user at a time. Who finds
// none free waits for one. One that the server has closed meanwhile is replaced.
#ifndef CELLFS_ENGINE_OBKV_CONNECTION_POOL_H_
#define CELLFS_ENGINE_OBKV_CONNECTION_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/obkv/connection.h"

namespace cellfs::obkv {

// Thread-safe. Outlives what it lends.
class ConnectionPool {
 public:
  explicit ConnectionPool(const ObkvOptions& options) : options_(options) {}

  struct GiveBack {
    ConnectionPool* pool;
    void operator()(Connection* connection) const { pool->TakeBack(connection); }
  };
  // Comes back by itself, in the state in which a session begins, unless it is lost.
  using Lent = std::unique_ptr<Connection, GiveBack>;

  // kUnavailable, kTimedOut, kCancelled, kAccessDenied.
  StatusOr<Lent> Lend(const Patience& patience);

 private:
  // Null: there is none, and one may be made.
  StatusOr<std::unique_ptr<Connection>> TakeIdle(const Patience& patience);
  void TakeBack(Connection* connection);

  const ObkvOptions options_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable came_back_;
  std::vector<std::unique_ptr<Connection>> idle_;  // the one used last at the end
  uint32_t lent_ = 0;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_CONNECTION_POOL_H_
