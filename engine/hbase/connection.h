// SPDX-License-Identifier: MIT
//
// A connection to one service of one server. Calls overlap: each has a number, and answers come in
// any order. Each call has a deadline; how it ended says whether the server may have done it:
//
//     kAnswered    the server answered, with a result or with an exception
//     kNotSent     it did not get the whole call, so nothing has happened
//     kUnanswered  it got it, or may have, and there is no answer: done or not, nobody knows
//
// One thread a connection reads and writes. A connection that breaks ends all its calls; a new one
// is made by who holds them (ConnectionPool). Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_CONNECTION_H_
#define CELLFS_ENGINE_HBASE_CONNECTION_H_

#include <chrono>
#include <memory>
#include <string>

#include "engine/hbase/frame.h"
#include "engine/remote/patience.h"
#include "engine/server_address.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

struct Reply {
  enum class End { kAnswered, kNotSent, kUnanswered };
  End end = End::kNotSent;
  Answer answer;  // where kAnswered
  Status why;     // else: what kept the answer back, with the server's name
};

// A call that has been made. Dropped, its answer is not waited for.
class PendingCall {
 public:
  virtual ~PendingCall() = default;  // before its connection

  // Waits for the end. Once only.
  virtual Reply Wait(const Patience& patience) = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;  // not while a call is under way

  // Makes the call. `within`: how long its caller will wait, as the server is told.
  virtual std::unique_ptr<PendingCall> Begin(const Call& call,
                                             std::chrono::milliseconds within) = 0;
  // Makes the call and waits for its answer.
  Reply Make(const Call& call, const Patience& patience) {
    return Begin(call, patience.Left())->Wait(patience);
  }

  // Whether calls can be made: false from when it broke.
  virtual bool is_open() const = 0;
  // When a call was made last.
  virtual SteadyClock::time_point last_used() const = 0;
};

// Connects and introduces itself. Where nobody listens: kUnavailable, with the server's name; where
// nobody answers until the deadline: kTimedOut.
StatusOr<std::unique_ptr<Connection>> Connect(const ServerAddress& server, Service service,
                                              const std::string& user, const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_CONNECTION_H_
