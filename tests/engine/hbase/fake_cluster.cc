// SPDX-License-Identifier: MIT
#include "tests/engine/hbase/fake_cluster.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "engine/hbase/cell_block.h"
#include "engine/hbase/reads.h"

namespace cellfs::hbase {
namespace {

void AddCell(const std::string& row, const std::string& family, const std::string& qualifier,
             const std::string& value, std::string& block) {
  AppendToBlock({.row = row,
                 .family = family,
                 .qualifier = qualifier,
                 .timestamp = 1,
                 .value = value,
                 .value_length = value.size()},
             block);
}

Reaction NotServing(uint32_t call) {
  return {ExceptionFrame(call, {kNotServing, "not here"})};
}

}  // namespace

FakeCluster::FakeCluster(std::vector<std::string> split_keys, const std::vector<std::string>& rows,
                         size_t rows_a_call)
    : split_keys_(std::move(split_keys)),
      rows_(rows),
      rows_a_call_(rows_a_call),
      server_([this](const ReceivedCall& call) { return Serve(call); }),
      pool_({.user = "ada"}),
      registry_({server_.address()}, pool_),
      regions_({.attempts = {.retries = 10, .pause = std::chrono::milliseconds(1)}}, registry_,
               pool_),
      master_({.attempts = {.retries = 10, .pause = std::chrono::milliseconds(1)}}, registry_,
              pool_) {
  std::ranges::sort(rows_);
}

void FakeCluster::PutInTheWay(Obstacle obstacle) {
  const std::lock_guard lock(mutex_);
  obstacles_.push_back(std::move(obstacle));
}

FakeCluster::Obstacle FakeCluster::Throws(std::string class_name, bool do_not_retry) {
  return [=](const ReceivedCall& call) -> std::optional<Reaction> {
    return Reaction{ExceptionFrame(call.id, {class_name, "thrown", do_not_retry})};
  };
}

void FakeCluster::SplitAt(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::lower_bound(split_keys_, key);
  if (at == split_keys_.end() || *at != key) split_keys_.insert(at, key);
  ++generation_;
}

void FakeCluster::CutNextAnswer(size_t at) {
  const std::lock_guard lock(mutex_);
  cut_next_ = at;
}

size_t FakeCluster::cut_answer() const {
  const std::lock_guard lock(mutex_);
  return cut_answer_;
}

Reaction FakeCluster::Cut(Reaction reaction) {
  if (!cut_next_) return reaction;
  cut_answer_ = reaction.bytes.size();
  return {reaction.bytes.substr(0, *std::exchange(cut_next_, {})), true};
}

std::vector<std::string> FakeCluster::changed() const {
  const std::lock_guard lock(mutex_);
  return changed_;
}

std::vector<std::string> FakeCluster::procedures() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> methods;
  for (const Procedure& procedure : procedures_) methods.push_back(procedure.method);
  return methods;
}

void FakeCluster::EndProceduresWith(std::string class_name) {
  const std::lock_guard lock(mutex_);
  procedures_end_with_ = std::move(class_name);
}

void FakeCluster::ForgetProcedures() {
  const std::lock_guard lock(mutex_);
  are_procedures_forgotten_ = true;
}

void FakeCluster::LeaseScannersFor(std::chrono::milliseconds time) {
  const std::lock_guard lock(mutex_);
  lease_ = time;
}

size_t FakeCluster::closes() const {
  const std::lock_guard lock(mutex_);
  return closes_;
}

size_t FakeCluster::renewals() const {
  const std::lock_guard lock(mutex_);
  return renewals_;
}

void FakeCluster::DisableTable() {
  const std::lock_guard lock(mutex_);
  is_disabled_ = true;
}

size_t FakeCluster::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

size_t FakeCluster::calls_of_meta() const {
  const std::lock_guard lock(mutex_);
  return calls_of_meta_;
}

std::string FakeCluster::StartOf(size_t region) const {
  return region == 0 ? "" : split_keys_[region - 1];
}

std::string FakeCluster::EndOf(size_t region) const {
  return region == split_keys_.size() ? "" : split_keys_[region];
}

std::string FakeCluster::RegionName(size_t region) const {
  return "t," + StartOf(region) + "," + std::to_string(generation_) + ".";
}

std::optional<size_t> FakeCluster::RegionNamed(const std::string& name) const {
  if (is_disabled_) return std::nullopt;
  for (size_t i = 0; i <= split_keys_.size(); ++i) {
    if (RegionName(i) == name) return i;
  }
  return std::nullopt;
}

Reaction FakeCluster::Serve(const ReceivedCall& call) {
  if (call.service == "ClientMetaService") return ServeRegistry(call);
  const std::lock_guard lock(mutex_);
  if (call.service == "MasterService") return ServeMaster(call);
  if (call.service == "AdminService") return ServeAdmin(call);
  if (call.method == "Scan") return ServeScan(call);
  if (call.method == "Mutate") return Cut(ServeMutate(call));
  if (call.method == "Multi") return Cut(ServeMulti(call));
  return ServeGet(call);
}

Reaction FakeCluster::ServeRegistry(const ReceivedCall& call) {
  if (call.method == "GetActiveMaster") {
    pb::GetActiveMasterResponse response;
    response.mutable_server_name()->set_host_name(server_.address().host);
    response.mutable_server_name()->set_port(server_.address().port);
    return {AnswerFrame(call.id, response)};
  }
  if (call.method == "GetBootstrapNodes") {
    return {AnswerFrame(call.id, pb::GetBootstrapNodesResponse())};
  }
  pb::GetMetaRegionLocationsResponse response;
  pb::RegionLocation& location = *response.add_meta_locations();
  location.mutable_region_info()->set_region_id(1);
  location.mutable_region_info()->mutable_table_name()->set_namespace_("hbase");
  location.mutable_region_info()->mutable_table_name()->set_qualifier("meta");
  location.mutable_server_name()->set_host_name(server_.address().host);
  location.mutable_server_name()->set_port(server_.address().port);
  location.set_seq_num(1);
  return {AnswerFrame(call.id, response)};
}

// Rows of meta, as the server orders them: by table, then start key, then id. Of a scan that is not
// reversed, all of t's.
Reaction FakeCluster::ServeMeta(const ReceivedCall& call, const pb::Scan& scan) {
  ++calls_of_meta_;
  pb::ScanResponse response;
  std::string block;
  if (!scan.reversed() && scan.start_row() == "t") {
    AddCell("t", "table", "state", "", block);
    response.add_cells_per_result(1);
  }
  for (size_t count = 0; count <= split_keys_.size(); ++count) {
    const size_t i = scan.reversed() ? split_keys_.size() - count : count;
    const std::string name = RegionName(i);
    const std::string start = "t," + StartOf(i) + ",";
    // The scan begins behind the table, behind all of a start key's ids, or before them.
    std::string from = scan.start_row();
    const bool is_before_ids = from.ends_with(",") && from != "t,,";
    if (from.ends_with(",99999999999999")) from.resize(from.size() - 14);
    if (!from.starts_with("t")) continue;
    if (scan.reversed() && from.starts_with("t,") &&
        (is_before_ids ? start >= from : start > from)) {
      continue;
    }
    pb::RegionInfo info;
    info.set_region_id(generation_);
    info.mutable_table_name()->set_namespace_("default");
    info.mutable_table_name()->set_qualifier("t");
    info.set_start_key(StartOf(i));
    info.set_end_key(EndOf(i));
    AddCell(name, "info", "regioninfo", "PBUF" + info.SerializeAsString(), block);
    AddCell(name, "info", "server", server_.address().ToString(), block);
    response.add_cells_per_result(2);
  }
  response.set_more_results(false);
  return {AnswerFrame(call.id, response, block)};
}

std::vector<std::string> FakeCluster::RowsOf(size_t region, const pb::Scan& scan) const {
  const auto is_asked_for = [&](const std::string& row) {
    if (row < StartOf(region)) return false;
    if (!EndOf(region).empty() && row >= EndOf(region)) return false;
    const auto lies_behind = [&](const std::string& bound, bool inclusive, bool reversed) {
      if (bound.empty()) return true;
      return (reversed ? row < bound : row > bound) || (inclusive && row == bound);
    };
    return lies_behind(scan.start_row(), scan.include_start_row(), scan.reversed()) &&
           lies_behind(scan.stop_row(), scan.include_stop_row(), !scan.reversed());
  };
  std::vector<std::string> rows;
  std::ranges::copy_if(rows_, std::back_inserter(rows), is_asked_for);
  if (scan.reversed()) std::ranges::reverse(rows);
  return rows;
}

// Of a call to a region of t: what was put in its way, if that does not let it through.
std::optional<Reaction> FakeCluster::MeetObstacle(const ReceivedCall& call) {
  ++calls_;
  if (obstacles_.empty()) return std::nullopt;
  const Obstacle obstacle = std::move(obstacles_.front());
  obstacles_.pop_front();
  return obstacle(call);
}

Reaction FakeCluster::ServeScan(const ReceivedCall& call) {
  const auto request = call.As<pb::ScanRequest>();
  if (request.has_region() && request.region().value() == "hbase:meta,,1") {
    return ServeMeta(call, request.scan());
  }
  if (request.close_scanner()) {
    ++closes_;
    scanners_.erase(request.scanner_id());
    return {AnswerFrame(call.id, pb::ScanResponse())};
  }
  if (lease_.count() > 0) {
    std::erase_if(scanners_, [&](const auto& entry) {
      return SteadyClock::now() - entry.second.used > lease_;
    });
  }
  if (request.renew()) {
    ++renewals_;
    const auto kept = scanners_.find(request.scanner_id());
    if (kept != scanners_.end()) kept->second.used = SteadyClock::now();
    return {AnswerFrame(call.id, pb::ScanResponse())};
  }
  if (auto reaction = MeetObstacle(call)) return *std::move(reaction);
  uint64_t id = request.scanner_id();
  if (!request.has_scanner_id()) {
    const auto region = RegionNamed(request.region().value());
    if (!region) return NotServing(call.id);
    id = ++newest_scanner_;
    scanners_[id] = {.region = request.region().value(),
                     .scan = request.scan(),
                     .rows = RowsOf(*region, request.scan())};
  }
  const auto scanner = scanners_.find(id);
  if (scanner == scanners_.end()) {
    return {ExceptionFrame(call.id, {kUnknownScanner, "?"})};
  }
  if (!RegionNamed(scanner->second.region)) return NotServing(call.id);
  if (request.has_scanner_id() && request.next_call_seq() != scanner->second.calls++) {
    return {ExceptionFrame(call.id, {kOutOfOrder, "seq"})};
  }

  pb::ScanResponse response;
  response.set_scanner_id(id);
  response.set_ttl(static_cast<uint32_t>(lease_.count()));
  scanner->second.used = SteadyClock::now();
  std::string block;
  std::vector<std::string>& rows = scanner->second.rows;
  const size_t limit = request.limit_of_rows() > 0 ? request.limit_of_rows() : rows.size();
  const size_t count =
      std::min({rows.size(), rows_a_call_, limit, static_cast<size_t>(request.number_of_rows())});
  for (const std::string& row : rows | std::views::take(count)) {
    AddCell(row, "f", "q", row, block);
    response.add_cells_per_result(1);
    response.add_partial_flag_per_result(false);
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(count));
  const bool is_limit_reached = count > 0 && request.limit_of_rows() == count;
  response.set_more_results(!is_limit_reached);
  response.set_more_results_in_region(!rows.empty());
  if (rows.empty() || is_limit_reached) scanners_.erase(scanner);
  return {AnswerFrame(call.id, response, block)};
}

Reaction FakeCluster::ServeGet(const ReceivedCall& call) {
  const auto request = call.As<pb::GetRequest>();
  if (request.region().value() == "hbase:meta,,1") return ServeTableState(call);
  if (auto reaction = MeetObstacle(call)) return *std::move(reaction);
  if (!RegionNamed(request.region().value())) return NotServing(call.id);
  pb::GetResponse response;
  std::string block;
  if (std::ranges::find(rows_, request.get().row()) != rows_.end()) {
    AddCell(request.get().row(), "f", "q", request.get().row(), block);
    response.mutable_result()->set_associated_cell_count(1);
  }
  return {AnswerFrame(call.id, response, block)};
}

Reaction FakeCluster::ServeTableState(const ReceivedCall& call) {
  pb::GetResponse response;
  std::string block;
  if (call.As<pb::GetRequest>().get().row() == "t") {
    pb::TableState state;
    state.set_state(is_disabled_ ? pb::TableState::DISABLED : pb::TableState::ENABLED);
    AddCell("t", "table", "state", state.SerializeAsString(), block);
    response.mutable_result()->set_associated_cell_count(1);
  }
  return {AnswerFrame(call.id, response, block)};
}

// What changes nothing is for tests to answer, as an obstacle; all else is a procedure.
Reaction FakeCluster::ServeMaster(const ReceivedCall& call) {
  const auto take = [&] {
    const auto same = [&](const Procedure& known) {
      return known.method == call.method && known.parameter == call.parameter;
    };
    auto taken = std::ranges::find_if(procedures_, same);
    if (taken == procedures_.end()) {
      procedures_.push_back({.method = call.method, .parameter = call.parameter});
      taken = procedures_.end() - 1;
    }
    pb::ProcedureResponse response;
    response.set_proc_id(static_cast<uint64_t>(taken - procedures_.begin()));
    return response;
  };
  if (auto reaction = MeetObstacle(call)) {
    if (reaction->closes && call.method != "getProcedureResult") take();
    return *std::move(reaction);
  }
  if (call.method == "getProcedureResult") return ServeProcedureResult(call);
  return {AnswerFrame(call.id, take())};
}

Reaction FakeCluster::ServeProcedureResult(const ReceivedCall& call) {
  pb::GetProcedureResultResponse response;
  Procedure& procedure = procedures_.at(call.As<pb::GetProcedureResultRequest>().proc_id());
  if (are_procedures_forgotten_) {
    response.set_state(pb::GetProcedureResultResponse::NOT_FOUND);
  } else if (!std::exchange(procedure.was_asked_for, true)) {
    response.set_state(pb::GetProcedureResultResponse::RUNNING);
  } else {
    response.set_state(pb::GetProcedureResultResponse::FINISHED);
    if (!procedures_end_with_.empty()) {
      auto& exception = *response.mutable_exception()->mutable_generic_exception();
      exception.set_class_name(procedures_end_with_);
      exception.set_message("t");
    }
  }
  return {AnswerFrame(call.id, response)};
}

// Flushes and compactions are done at once.
Reaction FakeCluster::ServeAdmin(const ReceivedCall& call) {
  if (auto reaction = MeetObstacle(call)) return *std::move(reaction);
  const auto request = call.As<pb::FlushRegionRequest>();
  if (!RegionNamed(request.region().value())) return NotServing(call.id);
  pb::GetRegionInfoResponse response;
  response.mutable_region_info()->set_region_id(generation_);
  response.mutable_region_info()->mutable_table_name()->set_namespace_("default");
  response.mutable_region_info()->mutable_table_name()->set_qualifier("t");
  response.set_compaction_state(pb::GetRegionInfoResponse::NONE);
  return {AnswerFrame(call.id, response)};
}

// A condition holds of a row that is there, whatever it asks.
bool FakeCluster::Holds(const pb::Condition& condition) const {
  return std::ranges::find(rows_, condition.row()) != rows_.end();
}

// What adds answers with a cell of the row's name; the same nonce is not added twice.
pb::Result FakeCluster::Change(const pb::MutationProto& mutation) {
  if (!mutation.has_nonce() || nonces_.insert(mutation.nonce()).second)
    changed_.push_back(mutation.row());
  pb::Result result;
  if (mutation.mutate_type() == pb::MutationProto::INCREMENT) {
    pb::Cell& cell = *result.add_cell();
    cell.set_row(mutation.row());
    cell.set_cell_type(4);
    cell.set_value(mutation.row());
  }
  return result;
}

Reaction FakeCluster::ServeMutate(const ReceivedCall& call) {
  const auto request = call.As<pb::MutateRequest>();
  const auto change = [&] {
    pb::MutateResponse response;
    response.set_processed(!request.has_condition() || Holds(request.condition()));
    if (response.processed()) *response.mutable_result() = Change(request.mutation());
    return response;
  };
  if (auto reaction = MeetObstacle(call)) {
    if (reaction->closes) change();
    return *std::move(reaction);
  }
  if (!RegionNamed(request.region().value())) return NotServing(call.id);
  return {AnswerFrame(call.id, change())};
}

pb::RegionActionResult FakeCluster::Change(const pb::RegionAction& actions,
                                           const pb::Condition* condition) {
  pb::RegionActionResult result;
  if (!RegionNamed(actions.region().value())) {
    result.mutable_exception()->set_name(kNotServing);
    result.mutable_exception()->set_value(std::string(kNotServing) + ": not here");
    return result;
  }
  result.set_processed(condition == nullptr || Holds(*condition));
  if (!result.processed()) return result;
  for (const pb::Action& action : actions.action()) {
    pb::ResultOrException& one = *result.add_result_or_exception();
    one.set_index(action.index());
    if (action.mutation().row() == "refused") {
      one.mutable_exception()->set_name(kNoSuchFamily);
    } else {
      *one.mutable_result() = Change(action.mutation());
    }
  }
  return result;
}

Reaction FakeCluster::ServeMulti(const ReceivedCall& call) {
  const auto request = call.As<pb::MultiRequest>();
  const auto change = [&] {
    pb::MultiResponse response;
    for (const pb::RegionAction& actions : request.region_action()) {
      const pb::Condition* condition = actions.has_condition()   ? &actions.condition()
                                       : request.has_condition() ? &request.condition()
                                                                 : nullptr;
      *response.add_region_action_result() = Change(actions, condition);
    }
    return response;
  };
  if (auto reaction = MeetObstacle(call)) {
    if (reaction->closes) change();
    return *std::move(reaction);
  }
  return {AnswerFrame(call.id, change())};
}

StatusOr<Rows> ScanRows(FakeCluster& cluster, const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, hbase::OpenScanner(cluster.regions(), kTable, scan,
                                                                 std::chrono::seconds(10)));
  Rows rows;
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const auto batch, scanner->Next({.max_rows = 3}));
    for (const RowCells& row : batch) rows.push_back(row.front().row);
  }
  return rows;
}

}  // namespace cellfs::hbase
