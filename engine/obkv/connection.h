// SPDX-License-Identifier: MIT
//
// Connection: one session with a server of MySQL's protocol. No call outlasts the patience it is
// given: one that would is broken off, with the session, and ends with kTimedOut or kCancelled. What
// became of its statement is unknown then (is_lost()): who was changing something says so.
//
//     CELLFS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options, patience));
//     CELLFS_ASSIGN_OR_RETURN(auto rows, connection->Query("SELECT K FROM t WHERE K > ?", {key},
//                                                          patience));
#ifndef CELLFS_ENGINE_OBKV_CONNECTION_H_
#define CELLFS_ENGINE_OBKV_CONNECTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/obkv/sql_value.h"
#include "engine/obkv_options.h"
#include "engine/remote/patience.h"
#include "engine/status_or.h"

struct st_mysql;
struct st_mysql_stmt;

namespace cellfs::obkv {

// Not thread-safe. Errors are StatusOfError's.
class Connection {
 public:
  // kUnavailable, kTimedOut, kAccessDenied.
  static StatusOr<std::unique_ptr<Connection>> Open(const ObkvOptions& options,
                                                    const Patience& patience);
  ~Connection();

  // A statement that is prepared once in a session: its text has `?` for what differs.
  StatusOr<std::vector<SqlRow>> Query(std::string_view sql, const SqlParameters& parameters,
                                      const Patience& patience);
  // The same of one that answers no rows; how many it has changed.
  StatusOr<uint64_t> Change(std::string_view sql, const SqlParameters& parameters,
                            const Patience& patience);
  // What need not, or cannot, be prepared: about transactions, schemas, the session.
  Status Command(std::string_view sql, const Patience& patience);

  // The same of what changes a schema: kOutcomeUnknown where the session was lost.
  Status Define(std::string_view sql, const Patience& patience);
  unsigned last_error() const;  // the server's number; 0: none
  uint64_t last_insert_id() const;  // of the last Change

  // Whether the server has left it open, as far as is known here. Between two calls.
  bool IsOpen() const;
  // It is of no more use, and what its last call was about may have happened.
  bool is_lost() const { return is_lost_; }
  // Nobody knows what state it is in.
  void Abandon() { is_lost_ = true; }

 private:
  struct CloseStatement {
    void operator()(st_mysql_stmt* statement) const;
  };
  using Statement = std::unique_ptr<st_mysql_stmt, CloseStatement>;

  explicit Connection(st_mysql* mysql) : mysql_(mysql) {}
  Status Connect(const ObkvOptions& options, const Patience& patience);
  StatusOr<st_mysql_stmt*> Prepared(std::string_view sql, const Patience& patience);
  StatusOr<st_mysql_stmt*> Execute(std::string_view sql, const SqlParameters& parameters,
                                   const Patience& patience);
  // Of the library's calls that come in two: one that begins, and one that goes on once what the
  // first waits for is there. False: the patience was over.
  template <typename Begin, typename GoOn>
  bool Await(const Begin& begin, const GoOn& go_on, const Patience& patience);
  int WaitFor(int events, const Patience& patience) const;
  Status Failed(bool in_time, const Patience& patience, unsigned number, const char* message);
  Status FailedStatement(st_mysql_stmt* statement, bool in_time, const Patience& patience);

  st_mysql* const mysql_;
  std::map<std::string, Statement, std::less<>> prepared_;
  bool is_lost_ = false;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_CONNECTION_H_
