// SPDX-License-Identifier: MIT
//
// Transaction: several statements of one connection as one step. Rolled back where it is not
// committed.
#ifndef CELLFS_ENGINE_OBKV_TRANSACTION_H_
#define CELLFS_ENGINE_OBKV_TRANSACTION_H_

#include "engine/obkv/connection.h"

namespace cellfs::obkv {

// Not thread-safe. The connection outlives it.
class Transaction {
 public:
  enum class Kind { kReading, kWriting };

  Transaction(Connection& connection, const Patience& patience)
      : connection_(connection), patience_(patience) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // For reading all that is read is of one state; for writing it is what is there when it is read,
  // and only what is there is locked.
  Status Begin(Kind kind);
  // Of what was only read always OK. Else kOutcomeUnknown: not known here what has become of it
  // (RowLocksTable tells). Anything else that is not OK: it has done nothing.
  Status Commit() { return Commit(patience_); }
  Status Commit(const Patience& patience);

  Connection& connection() const { return connection_; }
  const Patience& patience() const { return patience_; }

 private:
  Connection& connection_;
  const Patience patience_;
  Kind kind_ = Kind::kReading;
  bool is_open_ = false;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_TRANSACTION_H_
