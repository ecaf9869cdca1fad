// SPDX-License-Identifier: MIT
#include "engine/obkv/transaction.h"

#include <utility>

#include "engine/obkv/sql_error.h"

namespace cellfs::obkv {
namespace {

// Where it takes longer the session is given up, with which the server rolls back.
constexpr std::chrono::seconds kLongestRollback{2};

}  // namespace

Transaction::~Transaction() {
  if (!is_open_ || connection_.is_lost()) return;
  if (!connection_.Command("ROLLBACK", {SteadyClock::now() + kLongestRollback}).ok())
    connection_.Abandon();
}

Status Transaction::Begin(Kind kind) {
  kind_ = kind;
  if (kind == Kind::kWriting) {
    // The session's reads gaps, and locks them: who makes neighbours would wait for each other.
    CELLFS_RETURN_IF_ERROR(
        connection_.Command("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", patience_));
  }
  is_open_ = true;
  return connection_.Command(kind == Kind::kReading
                                 ? "START TRANSACTION WITH CONSISTENT SNAPSHOT"
                                 : "START TRANSACTION",
                             patience_);
}

Status Transaction::Commit(const Patience& patience) {
  is_open_ = false;
  const Status committed = connection_.Command("COMMIT", patience);
  if (committed.ok()) return committed;
  const bool is_rolled_back = !connection_.is_lost() && RollsBack(connection_.last_error());
  connection_.Abandon();
  if (kind_ == Kind::kReading) return {};
  if (is_rolled_back) return committed;
  return {StatusCode::kOutcomeUnknown,
          "a change may have been made or not: " + committed.message()};
}

}  // namespace cellfs::obkv
