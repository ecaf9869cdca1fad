// SPDX-License-Identifier: MIT
#include "engine/hbase/multi.h"

#include <hbase.pb.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/hbase/mutations.h"
#include "engine/hbase/requests.h"
#include "engine/hbase/results.h"

namespace cellfs::hbase {
namespace {

// What a server gets at once. More comes in further calls, so that none has to hold too much.
constexpr int kMostRows = 1000;
constexpr size_t kMostBytes = size_t{8} << 20;

using RowAnswer = StatusOr<CheckAndMutateResult>;

// What goes to one server in one call.
struct Share {
  ServerAddress server;
  pb::MultiRequest request;
  struct OfRegion {
    Region region;
    std::vector<size_t> rows;  // of each action; one where they are atomic
  };
  std::vector<OfRegion> regions;  // as the region actions of the request
  size_t bytes = 0;
  int row_count = 0;
  Reply reply;
};

class RowsCall {
 public:
  RowsCall(Regions& regions, const TableName& table, std::vector<const RowMutations*> rows,
           const cellfs::CheckAndMutate* check, const Patience& patience)
      : regions_(regions), table_(table), rows_(std::move(rows)), check_(check),
        patience_(patience), silent_(rows_.size()) {
    for (size_t row = 0; row < rows_.size(); ++row) left_.push_back(row);
    answers_.resize(rows_.size(), Status(StatusCode::kUnavailable, "it was not sent"));
  }

  std::vector<RowAnswer> Run();

 private:
  struct Failed {
    size_t row;
    Status why;
  };

  std::vector<Share> TakeShares();
  bool TakeInto(std::vector<Share>& shares, size_t row, const Region& region);
  Status AddTo(Share& share, size_t row, const Region& region);
  pb::RegionAction& ActionsOf(Share& share, const Region& region, bool is_atomic);
  Status AddCondition(Share& share, pb::RegionAction& actions) const;
  void Send(std::vector<Share>& shares);

  void Take(const Share& share);
  Status TakeResults(const Share& share);
  void TakeAtomic(size_t row, const Region& region, ActionsResult& result);
  void Fail(size_t row, const Region& region, const RemoteException& exception);
  void Judged(size_t row, const Regions::Verdict& verdict);
  void Done(size_t row, bool processed, RowCells cells);
  void End(size_t row, Status why);
  bool IsRepeatable(size_t row) const;

  Regions& regions_;
  const TableName& table_;
  const std::vector<const RowMutations*> rows_;
  const cellfs::CheckAndMutate* const check_;  // of the only row; null: there is no condition
  const Patience patience_;

  std::vector<size_t> left_;   // to be sent, in order
  std::vector<Failed> again_;  // to be sent after a pause
  std::optional<std::chrono::milliseconds> pause_;
  std::vector<bool> silent_;   // a server may have done it
  std::vector<RowAnswer> answers_;
};

std::vector<RowAnswer> RowsCall::Run() {
  Attempts attempts(regions_.options().attempts, patience_);
  while (!left_.empty()) {
    std::vector<Share> shares = TakeShares();
    Send(shares);
    for (const Share& share : shares) Take(share);
    if (again_.empty()) continue;
    const bool goes_on = attempts.WaitForNext(std::exchange(pause_, std::nullopt));
    for (Failed& failed : std::exchange(again_, {})) {
      goes_on ? left_.push_back(failed.row) : End(failed.row, attempts.End(std::move(failed.why)));
    }
    std::ranges::sort(left_);
  }
  return std::move(answers_);
}

// ---- Who gets what ------------------------------------------------------------------------------

// A row that comes twice waits for the first: nobody says in which order a server does them.
std::vector<Share> RowsCall::TakeShares() {
  std::vector<Share> shares;
  std::set<std::string_view> seen;
  std::vector<size_t> later;
  for (const size_t row : std::exchange(left_, {})) {
    if (!seen.insert(rows_[row]->row).second) {
      later.push_back(row);
      continue;
    }
    const auto region = regions_.Find(table_, rows_[row]->row, patience_);
    if (!region.ok()) {
      Judged(row, {.may_try_again = MayPass(region.status()),
                   .why = region.status()});
    } else if (!TakeInto(shares, row, *region)) {
      later.push_back(row);
    }
  }
  left_ = std::move(later);
  return shares;
}

// False: the server has enough for now.
bool RowsCall::TakeInto(std::vector<Share>& shares, size_t row, const Region& region) {
  auto share = std::ranges::find(shares, region.server, &Share::server);
  if (share == shares.end()) {
    shares.push_back({.server = region.server});
    share = shares.end() - 1;
  }
  if (share->row_count >= kMostRows || share->bytes >= kMostBytes) return false;
  if (Status added = AddTo(*share, row, region); !added.ok()) End(row, std::move(added));
  return true;
}

Status RowsCall::AddTo(Share& share, size_t row, const Region& region) {
  const RowMutations& mutations = *rows_[row];
  std::vector<pb::MutationProto> messages(mutations.mutations.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    CELLFS_RETURN_IF_ERROR(Write(mutations.mutations[i], mutations.durability, messages[i]));
  }
  const bool is_atomic = messages.size() > 1 || check_ != nullptr;
  pb::RegionAction& actions = ActionsOf(share, region, is_atomic);
  if (check_ != nullptr) CELLFS_RETURN_IF_ERROR(AddCondition(share, actions));
  for (pb::MutationProto& message : messages) {
    share.bytes += message.ByteSizeLong();
    pb::Action& action = *actions.add_action();
    action.set_index(static_cast<uint32_t>(actions.action_size() - 1));
    action.mutable_mutation()->Swap(&message);
  }
  share.regions.back().rows.push_back(row);
  ++share.row_count;
  return {};
}

// Single mutations of one region that follow each other are one group.
pb::RegionAction& RowsCall::ActionsOf(Share& share, const Region& region, bool is_atomic) {
  const int count = share.request.region_action_size();
  if (count > 0 && !is_atomic && share.regions.back().region.name == region.name &&
      !share.request.region_action(count - 1).atomic())
    return *share.request.mutable_region_action(count - 1);
  pb::RegionAction& actions = *share.request.add_region_action();
  Name(region, *actions.mutable_region());
  actions.set_atomic(is_atomic);
  share.regions.push_back({region, {}});
  return actions;
}

// A server that does not know the newer form would heed no condition; none such knows either how to
// do what gives results among several mutations, and refuses that.
Status RowsCall::AddCondition(Share& share, pb::RegionAction& actions) const {
  const bool has_results = std::ranges::any_of(rows_.front()->mutations, TakesNonce);
  return Write(*check_, has_results ? *actions.mutable_condition()
                                    : *share.request.mutable_condition());
}

void RowsCall::Send(std::vector<Share>& shares) {
  const auto send = [&](Share& share) {
    if (share.row_count == 0) return;
    const Call call{.method = "Multi", .parameter = &share.request};
    share.reply = regions_.Try(share.regions.front().region, call, patience_);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < shares.size(); ++i) others.emplace_back(send, std::ref(shares[i]));
  if (!shares.empty()) send(shares.front());
  for (std::thread& other : others) other.join();
}

// ---- What became of it --------------------------------------------------------------------------

void RowsCall::Take(const Share& share) {
  const bool is_answered = share.reply.end == Reply::End::kAnswered;
  if (is_answered && !share.reply.answer.exception()) {
    const Status taken = TakeResults(share);
    if (taken.ok()) return;
    for (const auto& of_region : share.regions) {
      for (const size_t row : of_region.rows)
        End(row, Status(StatusCode::kOutcomeUnknown, taken.message()));
    }
    return;
  }
  for (const auto& [region, rows] : share.regions) {
    for (const size_t row : rows) {
      const Repeat repeat = IsRepeatable(row) ? Repeat::kDoesTheSame : Repeat::kOnlyIfNotDone;
      if (share.reply.end == Reply::End::kUnanswered) silent_[row] = true;
      Judged(row, regions_.Judge(region, share.reply, repeat, patience_));
    }
  }
}

// kIoError: the answer is not one to this request, and nothing was taken from it.
Status RowsCall::TakeResults(const Share& share) {
  const Status not_ours(StatusCode::kIoError, "the server answered something else than was asked");
  pb::MultiResponse response;
  CELLFS_RETURN_IF_ERROR(share.reply.answer.ParseResult(response));
  CELLFS_ASSIGN_OR_RETURN(auto results, ResultsOf(response, share.reply.answer));
  if (results.size() != share.regions.size()) return not_ours;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_atomic = share.request.region_action(static_cast<int>(i)).atomic();
    if (results[i].exception || is_atomic) continue;
    const size_t count = share.regions[i].rows.size();
    std::set<uint32_t> indices;
    for (const auto& action : results[i].actions) indices.insert(action.index);
    if (indices.size() != count || *indices.rbegin() >= count) return not_ours;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& [region, rows] = share.regions[i];
    if (results[i].exception) {
      for (const size_t row : rows) Fail(row, region, *results[i].exception);
    } else if (share.request.region_action(static_cast<int>(i)).atomic()) {
      TakeAtomic(rows.front(), region, results[i]);
    } else {
      for (auto& action : results[i].actions) {
        const size_t row = rows[action.index];
        action.exception ? Fail(row, region, *action.exception)
                         : Done(row, true, std::move(action.cells));
      }
    }
  }
  return {};
}

void RowsCall::TakeAtomic(size_t row, const Region& region, ActionsResult& result) {
  RowCells cells;
  for (auto& action : result.actions) {
    if (action.exception) return Fail(row, region, *action.exception);
    std::ranges::move(action.cells, std::back_inserter(cells));
  }
  Done(row, result.processed, std::move(cells));
}

void RowsCall::Fail(size_t row, const Region& region, const RemoteException& exception) {
  Judged(row, regions_.Judge(region, exception));
}

void RowsCall::Judged(size_t row, const Regions::Verdict& verdict) {
  if (!verdict.may_try_again) return End(row, verdict.why);
  again_.push_back({row, verdict.why});
  if (verdict.pause) pause_ = std::max(pause_.value_or(*verdict.pause), *verdict.pause);
}

void RowsCall::Done(size_t row, bool processed, RowCells cells) {
  if (!processed && silent_[row]) return End(row, MayHaveEndedIt());
  CheckAndMutateResult done{.done = processed, .result = {}};
  done.result.results = std::move(cells);
  if (processed) {
    for (const Mutation& mutation : rows_[row]->mutations)
      AddTimestamps(mutation, done.result.timestamps);
  }
  answers_[row] = std::move(done);
}

void RowsCall::End(size_t row, Status why) {
  if (silent_[row] && why.code() != StatusCode::kOutcomeUnknown) {
    why = Status(StatusCode::kOutcomeUnknown,
                 "a server did not answer, and may have done it or not; then: " + why.message());
  }
  answers_[row] = std::move(why);
}

bool RowsCall::IsRepeatable(size_t row) const {
  return std::ranges::all_of(rows_[row]->mutations, hbase::IsRepeatable);
}

}  // namespace

std::vector<StatusOr<MutationResult>> ChangeRows(Regions& regions, const TableName& table,
                                                 std::vector<const RowMutations*> rows,
                                                 const Patience& patience) {
  std::vector<StatusOr<MutationResult>> results;
  results.reserve(rows.size());
  for (RowAnswer& answer : RowsCall(regions, table, std::move(rows), nullptr, patience).Run()) {
    answer.ok() ? results.emplace_back(std::move(answer->result))
                : results.emplace_back(answer.status());
  }
  return results;
}

StatusOr<CheckAndMutateResult> ChangeRowIf(Regions& regions, const TableName& table,
                                           const cellfs::CheckAndMutate& check,
                                           const Patience& patience) {
  return std::move(RowsCall(regions, table, {&check.action}, &check, patience).Run().front());
}

}  // namespace cellfs::hbase
