// SPDX-License-Identifier: MIT
#include "engine/obkv/transaction.h"

#include <utility>

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
  is_open_ = true;
  return connection_.Command(kind == Kind::kReading
                                 ? "START TRANSACTION WITH CONSISTENT SNAPSHOT"
                                 : "START TRANSACTION",
                             patience_);
}

Status Transaction::Commit() {
  is_open_ = false;
  const Status committed = connection_.Command("COMMIT", patience_);
  if (committed.ok() || !connection_.is_lost()) return committed;
  return {StatusCode::kOutcomeUnknown,
          "a change may have been made or not: " + committed.message()};
}

}  // namespace cellfs::obkv
