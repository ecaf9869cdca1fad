// SPDX-License-Identifier: MIT
#include "engine/obkv/connection_pool.h"

#include <utility>

#include "engine/waiting.h"

namespace cellfs::obkv {

StatusOr<std::unique_ptr<Connection>> ConnectionPool::TakeIdle(const Patience& patience) {
  std::unique_lock lock(mutex_);
  while (idle_.empty() && lent_ >= options_.connections) {
    const Waiting waiting(Wait::kIsLong);
    if (patience.IsCancelled()) return Status(StatusCode::kCancelled, "nobody waits any more");
    if (patience.IsOver())
      return Status(StatusCode::kTimedOut, "all connections to the database are in use");
    came_back_.wait_until(lock, patience.NextLook());
  }
  std::unique_ptr<Connection> connection;
  while (!idle_.empty() && connection == nullptr) {
    if (idle_.back()->IsOpen()) connection = std::move(idle_.back());
    idle_.pop_back();
  }
  ++lent_;
  return connection;
}

StatusOr<ConnectionPool::Lent> ConnectionPool::Lend(const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(auto connection, TakeIdle(patience));
  if (connection == nullptr) {
    auto opened = Connection::Open(options_, patience);
    if (!opened.ok()) {
      TakeBack(nullptr);
      return opened.status();
    }
    connection = *std::move(opened);
  }
  return Lent(connection.release(), GiveBack{this});
}

void ConnectionPool::TakeBack(Connection* connection) {
  std::unique_ptr<Connection> back(connection);
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (back != nullptr && !back->is_lost()) idle_.push_back(std::move(back));
  }
  came_back_.notify_one();
}

}  // namespace cellfs::obkv
