// SPDX-License-Identifier: MIT
#include "engine/obkv/connection.h"

#include <mysql.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/obkv/sql_error.h"
#include "engine/waiting.h"

namespace cellfs::obkv {
namespace {

// OceanBase lets a session have 50 (open_cursors). A table has some twenty; who goes through many
// tables prepares anew.
constexpr size_t kMostPrepared = 40;

MYSQL* NewSession() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
  return mysql_init(nullptr);
}

// What is too long is an error and not cut, whatever the server's default; a transaction reads one
// state of all tables.
constexpr const char* kSessionCommands[] = {
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
    "SET SESSION autocommit = 1",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
};

// The parameters of one call, in the library's form.
class Bindings {
 public:
  explicit Bindings(const SqlParameters& parameters)
      : binds_(parameters.size()), lengths_(parameters.size()), numbers_(parameters.size()) {
    for (size_t i = 0; i < parameters.size(); ++i) Bind(parameters[i], i);
  }
  MYSQL_BIND* data() { return binds_.data(); }

 private:
  void Bind(const SqlParameter& parameter, size_t i) {
    MYSQL_BIND& bind = binds_[i];
    bind.buffer_type = MYSQL_TYPE_NULL;
    if (const auto* number = std::get_if<int64_t>(&parameter)) {
      numbers_[i] = *number;
      bind.buffer_type = MYSQL_TYPE_LONGLONG;
      bind.buffer = &numbers_[i];
    } else if (const auto* bytes = std::get_if<std::string_view>(&parameter)) {
      lengths_[i] = bytes->size();
      bind.buffer_type = MYSQL_TYPE_BLOB;
      // The library reads it only; an empty one may have no address.
      bind.buffer = const_cast<char*>(bytes->empty() ? "" : bytes->data());
      bind.buffer_length = bytes->size();
      bind.length = &lengths_[i];
    }
  }

  std::vector<MYSQL_BIND> binds_;
  std::vector<unsigned long> lengths_;
  std::vector<int64_t> numbers_;
};

bool IsNumber(const MYSQL_FIELD& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return true;
    default:
      return false;
  }
}

// The rows of a statement whose result is here.
class Results {
 public:
  explicit Results(MYSQL_STMT* statement)
      : statement_(statement), metadata_(mysql_stmt_result_metadata(statement)) {
    const size_t columns = metadata_ != nullptr ? mysql_num_fields(metadata_.get()) : 0;
    binds_.resize(columns);
    numbers_.resize(columns);
    lengths_.resize(columns);
    nulls_.resize(columns);
    for (size_t i = 0; i < columns; ++i) {
      const bool is_number = IsNumber(mysql_fetch_fields(metadata_.get())[i]);
      binds_[i].buffer_type = is_number ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_BLOB;
      if (is_number) binds_[i].buffer = &numbers_[i];
      binds_[i].length = &lengths_[i];
      binds_[i].is_null = &nulls_[i];
    }
  }

  // Nullopt: an error of the statement.
  std::optional<std::vector<SqlRow>> All() {
    std::vector<SqlRow> rows;
    if (binds_.empty()) return rows;
    if (mysql_stmt_bind_result(statement_, binds_.data()) != 0) return std::nullopt;
    rows.reserve(mysql_stmt_num_rows(statement_));
    for (;;) {
      const int fetched = mysql_stmt_fetch(statement_);
      if (fetched == MYSQL_NO_DATA) return rows;
      if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED) return std::nullopt;
      SqlRow& row = rows.emplace_back(binds_.size());
      for (size_t i = 0; i < binds_.size(); ++i)
        if (nulls_[i] == 0 && !Take(i, row[i])) return std::nullopt;
    }
  }

 private:
  struct FreeMetadata {
    void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
  };

  // How long it is came with the row, without its bytes.
  bool Take(size_t i, SqlValue& value) {
    if (binds_[i].buffer_type == MYSQL_TYPE_LONGLONG) {
      value = numbers_[i];
      return true;
    }
    std::string& bytes = value.emplace<std::string>(lengths_[i], '\0');
    if (bytes.empty()) return true;
    MYSQL_BIND whole{};
    unsigned long length = 0;
    whole.buffer_type = MYSQL_TYPE_BLOB;
    whole.buffer = bytes.data();
    whole.buffer_length = bytes.size();
    whole.length = &length;
    return mysql_stmt_fetch_column(statement_, &whole, static_cast<unsigned>(i), 0) == 0;
  }

  MYSQL_STMT* const statement_;
  const std::unique_ptr<MYSQL_RES, FreeMetadata> metadata_;
  std::vector<MYSQL_BIND> binds_;
  std::vector<int64_t> numbers_;
  std::vector<unsigned long> lengths_;
  std::vector<my_bool> nulls_;
};

}  // namespace

void Connection::CloseStatement::operator()(MYSQL_STMT* statement) const {
  mysql_stmt_close(statement);
}

Connection::~Connection() {
  prepared_.clear();
  mysql_close(mysql_);
}

// Nothing comes unasked but the end.
bool Connection::IsOpen() const {
  pollfd wanted{mysql_get_socket(mysql_), POLLIN, 0};
  return !is_lost_ && poll(&wanted, 1, 0) == 0;
}

int Connection::WaitFor(int events, const Patience& patience) const {
  pollfd wanted{};
  wanted.fd = mysql_get_socket(mysql_);
  if ((events & MYSQL_WAIT_READ) != 0) wanted.events |= POLLIN;
  if ((events & MYSQL_WAIT_WRITE) != 0) wanted.events |= POLLOUT;
  if ((events & MYSQL_WAIT_EXCEPT) != 0) wanted.events |= POLLPRI;
  const Waiting waiting(Wait::kIsLong);
  while (!patience.IsOver()) {
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(patience.NextLook() -
                                                                    SteadyClock::now());
    const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(pause.count(), 0)));
    if (ready <= 0) continue;
    int came = 0;
    if ((wanted.revents & (POLLIN | POLLHUP | POLLERR)) != 0) came |= MYSQL_WAIT_READ;
    if ((wanted.revents & (POLLOUT | POLLERR)) != 0) came |= MYSQL_WAIT_WRITE;
    if ((wanted.revents & POLLPRI) != 0) came |= MYSQL_WAIT_EXCEPT;
    return came & events;
  }
  return 0;
}

// The library cannot leave a call half done: over a connection that is shut it comes to its end at
// once.
template <typename Begin, typename GoOn>
bool Connection::Await(const Begin& begin, const GoOn& go_on, const Patience& patience) {
  bool is_in_time = true;
  for (int events = begin(); events != 0;) {
    int came = is_in_time ? WaitFor(events, patience) : 0;
    if (came == 0) {
      if (is_in_time) shutdown(mysql_get_socket(mysql_), SHUT_RDWR);
      is_in_time = false;
      came = events;
    }
    events = go_on(came);
  }
  if (!is_in_time) is_lost_ = true;
  return is_in_time;
}

Status Connection::Failed(bool in_time, const Patience& patience, unsigned number,
                          const char* message) {
  if (!in_time) {
    if (patience.IsCancelled()) return {StatusCode::kCancelled, "nobody waits for it any more"};
    return {StatusCode::kTimedOut, "the database did not answer in time"};
  }
  is_lost_ |= EndsSession(number);
  return StatusOfError(number, message);
}

Status Connection::FailedStatement(MYSQL_STMT* statement, bool in_time,
                                   const Patience& patience) {
  return Failed(in_time, patience, mysql_stmt_errno(statement), mysql_stmt_error(statement));
}

StatusOr<std::unique_ptr<Connection>> Connection::Open(const ObkvOptions& options,
                                                       const Patience& patience) {
  MYSQL* const session = NewSession();
  if (session == nullptr) return Status(StatusCode::kUnavailable, "no memory for a connection");
  std::unique_ptr<Connection> connection(new Connection(session));
  CELLFS_RETURN_IF_ERROR(connection->Connect(options, patience));
  for (const char* const command : kSessionCommands)
    CELLFS_RETURN_IF_ERROR(connection->Command(command, patience));
  return connection;
}

Status Connection::Connect(const ObkvOptions& options, const Patience& patience) {
  mysql_options(mysql_, MYSQL_OPT_NONBLOCK, nullptr);
  const unsigned no = 0;  // a server may ask for any of our files else
  mysql_options(mysql_, MYSQL_OPT_LOCAL_INFILE, &no);
  mysql_options(mysql_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  Patience within = patience;
  within.deadline = std::min(within.deadline, SteadyClock::now() + options.connect_timeout);
  const char* const host = options.socket.empty() ? options.server.host.c_str() : nullptr;
  const char* const socket = options.socket.empty() ? nullptr : options.socket.c_str();
  MYSQL* connected = nullptr;
  const bool in_time = Await(
      [&] {
        return mysql_real_connect_start(&connected, mysql_, host, options.user.c_str(),
                                        options.password.c_str(), nullptr, options.server.port,
                                        socket, 0);
      },
      [&](int came) { return mysql_real_connect_cont(&connected, mysql_, came); }, within);
  if (in_time && connected != nullptr) return {};
  const Status failed = Failed(in_time, within, mysql_errno(mysql_), mysql_error(mysql_));
  if (failed.code() != StatusCode::kTimedOut || patience.IsOver()) return failed;
  return {StatusCode::kUnavailable, failed.message()};
}

StatusOr<MYSQL_STMT*> Connection::Prepared(std::string_view sql, const Patience& patience) {
  if (const auto known = prepared_.find(sql); known != prepared_.end()) return known->second.get();
  Statement statement(mysql_stmt_init(mysql_));
  if (statement == nullptr) return Status(StatusCode::kUnavailable, "no memory for a statement");
  int failed = 0;
  const bool in_time = Await(
      [&] { return mysql_stmt_prepare_start(&failed, statement.get(), sql.data(), sql.size()); },
      [&](int came) { return mysql_stmt_prepare_cont(&failed, statement.get(), came); }, patience);
  if (!in_time || failed != 0) return FailedStatement(statement.get(), in_time, patience);
  if (prepared_.size() >= kMostPrepared) prepared_.clear();
  return prepared_.emplace(sql, std::move(statement)).first->second.get();
}

StatusOr<MYSQL_STMT*> Connection::Execute(std::string_view sql, const SqlParameters& parameters,
                                          const Patience& patience) {
  if (is_lost_) return Status(StatusCode::kUnavailable, "the connection is lost");
  CELLFS_ASSIGN_OR_RETURN(MYSQL_STMT* const statement, Prepared(sql, patience));
  Bindings bindings(parameters);
  if (mysql_stmt_bind_param(statement, bindings.data()) != 0)
    return FailedStatement(statement, true, patience);
  int failed = 0;
  const bool in_time =
      Await([&] { return mysql_stmt_execute_start(&failed, statement); },
            [&](int came) { return mysql_stmt_execute_cont(&failed, statement, came); }, patience);
  if (!in_time || failed != 0) return FailedStatement(statement, in_time, patience);
  return statement;
}

StatusOr<std::vector<SqlRow>> Connection::Query(std::string_view sql,
                                                const SqlParameters& parameters,
                                                const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(MYSQL_STMT* const statement, Execute(sql, parameters, patience));
  int failed = 0;
  const bool in_time = Await(
      [&] { return mysql_stmt_store_result_start(&failed, statement); },
      [&](int came) { return mysql_stmt_store_result_cont(&failed, statement, came); }, patience);
  if (!in_time || failed != 0) return FailedStatement(statement, in_time, patience);
  auto rows = Results(statement).All();
  const Status status = rows ? Status() : FailedStatement(statement, true, patience);
  mysql_stmt_free_result(statement);
  if (!rows) return status;
  return *std::move(rows);
}

StatusOr<uint64_t> Connection::Change(std::string_view sql, const SqlParameters& parameters,
                                      const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(MYSQL_STMT* const statement, Execute(sql, parameters, patience));
  return uint64_t{mysql_stmt_affected_rows(statement)};
}

Status Connection::Command(std::string_view sql, const Patience& patience) {
  if (is_lost_) return {StatusCode::kUnavailable, "the connection is lost"};
  int failed = 0;
  const bool in_time = Await(
      [&] { return mysql_real_query_start(&failed, mysql_, sql.data(), sql.size()); },
      [&](int came) { return mysql_real_query_cont(&failed, mysql_, came); }, patience);
  if (in_time && failed == 0) return {};
  return Failed(in_time, patience, mysql_errno(mysql_), mysql_error(mysql_));
}

Status Connection::Define(std::string_view sql, const Patience& patience) {
  const bool was_lost = is_lost_;
  const Status done = Command(sql, patience);
  if (done.ok() || was_lost || !is_lost_) return done;
  return {StatusCode::kOutcomeUnknown, "it may have been done: " + done.message()};
}

unsigned Connection::last_error() const { return mysql_errno(mysql_); }
uint64_t Connection::last_insert_id() const { return mysql_insert_id(mysql_); }

}  // namespace cellfs::obkv
