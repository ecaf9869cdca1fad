// SPDX-License-Identifier: MIT
#include "tests/support/remote_store.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace cellfs {
namespace {

constexpr std::chrono::microseconds kLatency{5};

// Not asleep: a busy machine would wake it late, and thousands of calls are made.
void Travel() {
  const auto arrival = std::chrono::steady_clock::now() + kLatency;
  while (std::chrono::steady_clock::now() < arrival) {
  }
}

Status Unsupported(const std::string& what) {
  return {StatusCode::kUnsupportedOperation, "a cluster has no " + what};
}

Status CheckOffered(Stamping stamping) {
  return stamping == Stamping::kAsGiven ? Status() : Unsupported("stamping of ours");
}
Status CheckOffered(const Put& put) { return CheckOffered(put.stamping); }
Status CheckOffered(const Delete& deletion) { return CheckOffered(deletion.stamping); }
Status CheckOffered(const Append& append) { return CheckOffered(append.stamping); }
Status CheckOffered(const Increment&) { return {}; }
Status CheckOffered(const Withdraw&) { return Unsupported("withdrawal"); }

Status CheckOffered(const RowMutations& mutations) {
  for (const Mutation& mutation : mutations.mutations) {
    CELLFS_RETURN_IF_ERROR(std::visit([](const auto& one) { return CheckOffered(one); }, mutation));
  }
  return {};
}

Status CheckHasFamilies(const TableSchema& schema) {
  if (!schema.families.empty()) return {};
  return {StatusCode::kDoNotRetry, "a table needs a family"};
}

Status CheckOffered(const Query& query) {
  return query.moment == nullptr ? Status() : Unsupported("pinned moments");
}

}  // namespace

void RemoteStore::BeforeNextMutation(std::function<void(Store& elsewhere)> act) {
  const std::lock_guard lock(mutex_);
  before_next_ = std::move(act);
}

void RemoteStore::LoseOutcome(int nth, Effect effect) {
  const std::lock_guard lock(mutex_);
  lost_ = mutations_ + nth;
  effect_ = effect;
}

template <typename Result, typename Send>
Result RemoteStore::Change(const RowMutations& mutations, Send&& send) {
  Travel();
  std::function<void(Store&)> act;
  bool is_lost = false;
  Effect effect = Effect::kNone;
  {
    const std::lock_guard lock(mutex_);
    act = std::exchange(before_next_, nullptr);
    is_lost = ++mutations_ == lost_;
    effect = effect_;
  }
  if (act) act(inner());
  if (const Status offered = CheckOffered(mutations); !offered.ok()) return offered;
  if (!is_lost) return send();
  if (effect == Effect::kDone) static_cast<void>(send());
  return Status(StatusCode::kOutcomeUnknown, "the region server did not answer");
}

StatusOr<RowCells> RemoteStore::Read(const Caller& caller, const TableName& table, const Get& get) {
  Travel();
  ++reads_;
  CELLFS_RETURN_IF_ERROR(CheckOffered(get));
  return ForwardingStore::Read(caller, table, get);
}

StatusOr<std::unique_ptr<Scanner>> RemoteStore::OpenScanner(const Caller& caller,
                                                            const TableName& table,
                                                            const Scan& scan) {
  Travel();
  ++reads_;
  CELLFS_RETURN_IF_ERROR(CheckOffered(scan));
  return ForwardingStore::OpenScanner(caller, table, scan);
}

StatusOr<MutationResult> RemoteStore::Mutate(const Caller& caller, const TableName& table,
                                             const RowMutations& mutations) {
  return Change<StatusOr<MutationResult>>(
      mutations, [&] { return ForwardingStore::Mutate(caller, table, mutations); });
}

StatusOr<CheckAndMutateResult> RemoteStore::CheckAndMutate(const Caller& caller,
                                                           const TableName& table,
                                                           const cellfs::CheckAndMutate& check) {
  return Change<StatusOr<CheckAndMutateResult>>(
      check.action, [&] { return ForwardingStore::CheckAndMutate(caller, table, check); });
}

Status RemoteStore::CreateTable(const Caller& caller, const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckHasFamilies(schema));
  if (const auto act = std::exchange(before_next_table_, nullptr)) act(elsewhere());
  return ForwardingStore::CreateTable(caller, schema);
}

Status RemoteStore::AlterTable(const Caller& caller, const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckHasFamilies(schema));
  return ForwardingStore::AlterTable(caller, schema);
}

Status RemoteStore::RecreateTable(const Caller& caller, const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(ForwardingStore::RecreateTable(caller, schema));
  Restamp(schema.name(), {.regions = true, .state = true});
  return {};
}

Status RemoteStore::TruncateTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(ForwardingStore::TruncateTable(caller, table));
  Restamp(table, {.regions = true, .state = true});
  return {};
}

Status RemoteStore::EnableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(ForwardingStore::EnableTable(caller, table));
  Restamp(table, {.state = true});
  return {};
}

Status RemoteStore::DisableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(ForwardingStore::DisableTable(caller, table));
  Restamp(table, {.state = true});
  return {};
}

void RemoteStore::Restamp(const TableName& table, const Stamps& changed) {
  const auto schema = inner().DescribeTable(table);
  if (!schema.ok()) return;
  const std::lock_guard lock(mutex_);
  TableIncarnation& added = restamped_[(*schema)->id()];
  if (added.regions.empty()) added.regions.push_back(0);
  added.regions.front() += changed.regions ? 1 : 0;
  added.state += changed.state ? 1 : 0;
}

StatusOr<std::shared_ptr<const TableSchema>> RemoteStore::DescribeTable(const TableName& table) {
  ++descriptions_;
  CELLFS_ASSIGN_OR_RETURN(const auto schema, ForwardingStore::DescribeTable(table));
  auto named = std::make_shared<TableSchema>(*schema);
  constexpr int64_t kPerTable = 1'000'000;
  const auto made = static_cast<int64_t>(schema->id()) * kPerTable;
  TableIncarnation incarnation{.regions = {made}, .state = made};
  {
    const std::lock_guard lock(mutex_);
    if (const auto added = restamped_.find(schema->id()); added != restamped_.end()) {
      incarnation.regions.front() += added->second.regions.front();
      incarnation.state += added->second.state;
    }
  }
  named->set_id(0);
  named->set_incarnation(std::move(incarnation));
  return std::shared_ptr<const TableSchema>(std::move(named));
}

Status RemoteStore::CheckMayPut(const Caller&, const TableName& table, const PutToCome& put) {
  return inner().CheckMayPut(Caller::Superuser(), table, {put.row, put.family, put.qualifier});
}

std::vector<StatusOr<MutationResult>> RemoteStore::Batch(const Caller& caller,
                                                         const TableName& table,
                                                         const std::vector<RowMutations>& rows) {
  std::vector<StatusOr<MutationResult>> results;
  for (const RowMutations& row : rows) results.push_back(Mutate(caller, table, row));
  return results;
}

}  // namespace cellfs
