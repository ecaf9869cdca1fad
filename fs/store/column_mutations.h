// SPDX-License-Identifier: MIT
//
// ColumnMutations: the mutations that a write, a rename or a removal is, given what the store
// offers. A caller says its step in the words of a store that offers everything
// (engine/mutation.h): stamped above the column, readable at its timestamp, withdrawn without a
// trace.
//   - Nothing can be withdrawn: the step leaves what its caller gave instead, as a rule a
//     tombstone.
//   - The store does not stamp above a column: the timestamp is reckoned here from what lies on it,
//     and the put is made only if nothing that is later has come to the column since. Where nothing
//     at all was to be there, whether it shows is looked at afterwards.
//   - It does not check that a timestamp can be read: what lies on the column is looked at before.
//   - It cannot say what became of a step: what it writes, with its timestamps, is looked for.
#ifndef CELLFS_FS_STORE_COLUMN_MUTATIONS_H_
#define CELLFS_FS_STORE_COLUMN_MUTATIONS_H_

#include <atomic>
#include <optional>
#include <string>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/base/outcome.h"

namespace cellfs::fs {

// One atomic step on a row.
struct RowStep {
  // As a rule, the withdrawal among them: to be reserved.
  static constexpr size_t kMostMutations = 2;

  RowMutations mutations;              // in any case
  std::optional<Withdraw> withdrawal;  // what goes without a trace in the same step
  std::optional<Mutation> instead;     // where that cannot be
};

// The column's value, as a CheckAndMutate compares it; empty: it has none, or an empty one.
struct IfValueIs {
  std::string family;
  std::string qualifier;
  std::string value;
  TimeRange time_range;
};

// Thread-safe.
class ColumnMutations {
 public:
  ColumnMutations(Store& store, const Clock& clock)
      : store_(store), clock_(clock), traits_(store.traits()) {}

  // A column that is written more than once in a millisecond runs ahead of the clock. So far ahead it
  // is remembered and can be waited for.
  static constexpr int64_t kMostAhead = 2000;  // ms
  // The newest timestamp that a step was given through this; 0: none.
  Timestamp newest_stamp() const { return newest_stamp_.load(); }

  struct Done {
    MutationResult result;
    bool withdrawn = false;
  };

  // A put's bytes can be moved out of the step afterwards; its timestamps are other ones then.
  StatusOr<Done> Do(const Caller& caller, const TableName& table, RowStep& step) const;
  // Nullopt: the value is another one, and nothing is done.
  StatusOr<std::optional<Done>> DoIf(const Caller& caller, const TableName& table, IfValueIs value,
                                     RowStep& step) const;

  // The same for a step that is nothing without its withdrawal: where that cannot be, it fails with
  // EOPNOTSUPP, and nothing is done. False: the value is another one.
  OutcomeOr<bool> DoWithdrawing(const Caller& caller, const TableName& table, RowStep step,
                                std::optional<IfValueIs> value = {}) const;

 private:
  // Nullopt: the condition does not hold.
  using Result = StatusOr<std::optional<Done>>;
  struct Target {
    const Caller& caller;
    const TableName& table;
    IfValueIs* condition = nullptr;
  };

  Result DoStep(const Target& target, RowStep& step) const;
  Result Withdrawing(const Target& target, RowStep& step) const;
  Result Send(const Target& target, RowMutations& mutations) const;
  Result SendAsGiven(const Target& target, RowMutations& mutations) const;
  Result SendStamped(const Target& target, RowMutations& mutations) const;
  bool IsThere(const Target& target, const std::string& row) const;
  void Note(const MutationResult& done) const;
  Result Settled(const Target& target, const RowMutations& mutations, Result sent) const;

  Store& store_;
  const Clock& clock_;
  const StoreTraits traits_;
  mutable std::atomic<Timestamp> newest_stamp_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_COLUMN_MUTATIONS_H_
