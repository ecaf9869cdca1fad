// SPDX-License-Identifier: MIT
#include "engine/hbase/writes.h"

#include <hbase.pb.h>

#include <utility>

#include "engine/hbase/multi.h"
#include "engine/hbase/mutations.h"
#include "engine/hbase/nonces.h"
#include "engine/hbase/requests.h"
#include "engine/hbase/results.h"
#include "engine/table/request_check.h"

namespace cellfs::hbase {
namespace {

// What a server refuses is its own, and it says so: only what no schema or setting is needed for.
const SiteSettings& NoLimits() {
  static const SiteSettings settings{.client_max_cell_size = 0, .server_max_cell_size = 0};
  return settings;
}

// A call of its own; one that adds has a nonce.
StatusOr<CheckAndMutateResult> MutateOne(Regions& regions, const TableName& table,
                                         const RowMutations& mutations,
                                         const cellfs::CheckAndMutate* check,
                                         const Patience& patience) {
  const Mutation& mutation = mutations.mutations.front();
  pb::MutateRequest request;
  CELLFS_RETURN_IF_ERROR(Write(mutation, mutations.durability, *request.mutable_mutation()));
  if (check != nullptr) CELLFS_RETURN_IF_ERROR(Write(*check, *request.mutable_condition()));
  Repeat repeat = Repeat::kOnlyIfNotDone;
  if (IsRepeatable(mutation)) repeat = Repeat::kDoesTheSame;
  if (check == nullptr && TakesNonce(mutation)) {
    repeat = Repeat::kAtSameServer;
    request.set_nonce_group(NonceGroup());
    request.mutable_mutation()->set_nonce(NewNonce());
  }
  const auto call_for = [&](const Region& region) -> Call {
    Name(region, *request.mutable_region());
    return {.method = "Mutate", .parameter = &request};
  };
  bool was_silent = false;
  CELLFS_ASSIGN_OR_RETURN(
      const Answer answer,
      regions.Call(table, mutations.row, repeat, call_for, patience, &was_silent));
  pb::MutateResponse response;
  CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
  CheckAndMutateResult result{.done = check == nullptr || response.processed(), .result = {}};
  if (!result.done && was_silent) return MayHaveEndedIt();
  CELLFS_ASSIGN_OR_RETURN(result.result.results, CellsOf(response.result(), answer));
  if (result.done) AddTimestamps(mutation, result.result.timestamps);
  return result;
}

}  // namespace

StatusOr<MutationResult> Mutate(Regions& regions, const TableName& table,
                                const RowMutations& mutations, SteadyClock::duration within) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(mutations, NoLimits()));
  const Patience patience = Patience::For(within);
  if (mutations.mutations.size() > 1)
    return std::move(ChangeRows(regions, table, {&mutations}, patience).front());
  CELLFS_ASSIGN_OR_RETURN(CheckAndMutateResult done,
                          MutateOne(regions, table, mutations, nullptr, patience));
  return std::move(done.result);
}

StatusOr<CheckAndMutateResult> CheckAndMutate(Regions& regions, const TableName& table,
                                              const cellfs::CheckAndMutate& check,
                                              SteadyClock::duration within) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(check, NoLimits()));
  const Patience patience = Patience::For(within);
  if (check.action.mutations.size() > 1) return ChangeRowIf(regions, table, check, patience);
  return MutateOne(regions, table, check.action, &check, patience);
}

std::vector<StatusOr<MutationResult>> Batch(Regions& regions, const TableName& table,
                                            const std::vector<RowMutations>& rows,
                                            SteadyClock::duration within) {
  std::vector<StatusOr<MutationResult>> answers;
  std::vector<const RowMutations*> sent;
  answers.reserve(rows.size());
  for (const RowMutations& row : rows) {
    const Status right = CheckRequest(row, NoLimits());
    if (right.ok()) sent.push_back(&row);
    right.ok() ? answers.emplace_back(MutationResult()) : answers.emplace_back(right);
  }
  auto changed = ChangeRows(regions, table, std::move(sent), Patience::For(within));
  auto next = changed.begin();
  for (auto& answer : answers) {
    if (answer.ok()) answer = std::move(*next++);
  }
  return answers;
}

}  // namespace cellfs::hbase
