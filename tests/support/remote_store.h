// SPDX-License-Identifier: MIT
//
// RemoteStore: a store as a client of a cluster would be, made of one in this process. It is far
// away (a small latency), offers HBase's letter and nothing of ours, others write to it without a
// word, and the outcome of a mutation may be unknown.
#ifndef CELLFS_TESTS_SUPPORT_REMOTE_STORE_H_
#define CELLFS_TESTS_SUPPORT_REMOTE_STORE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/forwarding_store.h"

namespace cellfs {

class RemoteStore : public ForwardingStore {
 public:
  static constexpr int64_t kMaxStalenessMs = 2000;

  explicit RemoteStore(std::unique_ptr<Store> store) : ForwardingStore(std::move(store)) {}

  // What another client does: nobody here is told.
  Store& elsewhere() { return inner(); }
  // `act` runs once, just before the next mutation that this client sends.
  void BeforeNextMutation(std::function<void(Store& elsewhere)> act);
  // Likewise before the next table that it makes.
  void BeforeNextTable(std::function<void(Store& elsewhere)> act) {
    before_next_table_ = std::move(act);
  }

  // What an unknown outcome was.
  enum class Effect { kNone, kDone };
  // The outcome of the nth mutation from now on, from 1, is unknown.
  void LoseOutcome(int nth, Effect effect);
  // Before anything asks for its traits.
  void SetMaxStaleness(int64_t milliseconds) { traits_.max_staleness_ms = milliseconds; }
  void SetClockDifference(std::chrono::milliseconds difference) { clock_difference_ = difference; }
  // Mutations of cells, and reads and scans, sent so far.
  int mutations() const { return mutations_; }
  int reads() const { return reads_; }
  int descriptions() const { return descriptions_; }  // of tables

  // What another client's act leaves of a table: other stamps of its regions, of its state, or of
  // both.
  struct Stamps {
    bool regions = false;
    bool state = false;
  };
  void Restamp(const TableName& table, const Stamps& changed);

  const StoreTraits& traits() const override { return traits_; }
  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override;
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override;
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override;
  std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                              const std::vector<RowMutations>& rows) override;
  // Its client has schema and state of a table at hand, neither grants nor sizes.
  Status CheckMayPut(const Caller& caller, const TableName& table, const PutToCome& put) override;
  Status CheckMayAlter(const Caller&, const GrantScope&) override { return {}; }
  Status CheckMayPutWithin(const Caller&, const GrantScope&) override { return {}; }
  Status CheckRoom(const TableName&, uint64_t) override { return {}; }
  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;
  // A cluster names no table but by its name, and tells two stamps.
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;
  StatusOr<std::chrono::milliseconds> ClockDifference() override {
    return clock_difference_.load();
  }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& /*holder*/) override {
    return Status(StatusCode::kUnsupportedOperation, "no moment is kept");
  }

 private:
  template <typename Result, typename Send>
  Result Change(const RowMutations& mutations, Send&& send);

  std::function<void(Store&)> before_next_table_;
  StoreTraits traits_{.has_other_writers = true,
                            .max_staleness_ms = kMaxStalenessMs,
                            .withdraws = false,
                            .stamps_above_column = false,
                            .checks_readable = false,
                            .syncs_apart = false,
                            .pins_moments = false,
                            .renames_tables = false,
                            .tells_past_catalog = false,
                            .keeps_dropped = false,
                            .tables_need_a_family = true};
  std::atomic<int> mutations_{0};
  std::atomic<int> reads_{0};
  std::atomic<int> descriptions_{0};
  std::atomic<std::chrono::milliseconds> clock_difference_{std::chrono::milliseconds(0)};
  std::mutex mutex_;  // guards the rest
  std::function<void(Store&)> before_next_;
  int lost_ = 0;  // the count of the mutation whose outcome is unknown
  Effect effect_ = Effect::kNone;
  // What was added to the stamps that a table with this id had when it was made.
  std::map<TableId, TableIncarnation> restamped_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_REMOTE_STORE_H_
