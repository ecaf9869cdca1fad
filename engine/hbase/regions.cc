// SPDX-License-Identifier: MIT
#include "engine/hbase/regions.h"

#include <hbase.pb.h>

#include <algorithm>

#include "engine/hbase/requests.h"
#include "engine/hbase/results.h"

namespace cellfs::hbase {
namespace {

// Rows of meta to look at: the region that is sought, and those that were split or merged into it.
constexpr uint32_t kMetaRows = 5;

Status NotFound(const TableName& table) {
  return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' does not exist"};
}

Status OutcomeUnknown(const ServerAddress& silent) {
  return {StatusCode::kOutcomeUnknown,
          silent.ToString() + " did not answer, and may have done it or not"};
}

std::chrono::milliseconds TryWithin(const Regions::Options& options) {
  return std::chrono::ceil<std::chrono::milliseconds>(options.call_timeout);
}

// Keeps the connection for as long as the call is under way.
class HeldCall : public PendingCall {
 public:
  HeldCall(std::shared_ptr<Connection> connection, std::unique_ptr<PendingCall> call)
      : connection_(std::move(connection)), call_(std::move(call)) {}
  Reply Wait(const Patience& patience) override { return call_->Wait(patience); }

 private:
  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<PendingCall> call_;  // goes first
};

}  // namespace

StatusOr<Region> Regions::Find(const TableName& table, std::string_view row,
                               const Patience& patience) {
  if (table == kMetaTable) return FindMeta(patience);
  if (auto region = cache_.Find(table, row)) return *std::move(region);
  CELLFS_RETURN_IF_ERROR(CheckMissed(table, patience));
  CELLFS_ASSIGN_OR_RETURN(
      Region region, LastAtOrBefore(table, MetaRowBefore(table, row), patience));
  if (!region.Contains(row)) {
    return Status(StatusCode::kUnavailable,
                  "no region of table '" + table.ToString() + "' holds the row now");
  }
  return region;
}

StatusOr<Region> Regions::FindBefore(const TableName& table, std::string_view row,
                                     const Patience& patience) {
  if (table == kMetaTable) return FindMeta(patience);
  CELLFS_RETURN_IF_ERROR(CheckMissed(table, patience));
  // The last region has an end key that is empty, and any start key: it lies behind every row.
  // Of a bound, the region that begins at it is one too far.
  const std::string meta_row =
      row.empty() ? EndOfMetaRows(table) : table.ToString() + "," + std::string(row) + ",";
  return LastAtOrBefore(table, meta_row, patience);
}

StatusOr<Region> Regions::FindMeta(const Patience& patience) {
  if (auto region = cache_.Find(kMetaTable, "")) return *std::move(region);
  CELLFS_ASSIGN_OR_RETURN(const ServerAddress server, registry_.ServerOfMeta(patience));
  Region region = MetaRegionAt(server);
  cache_.Remember(region);
  return region;
}

StatusOr<Region> Regions::LastAtOrBefore(const TableName& table, const std::string& meta_row,
                                         const Patience& patience) {
  pb::ScanRequest request;
  request.set_number_of_rows(kMetaRows);
  request.set_close_scanner(true);
  pb::Scan& scan = *request.mutable_scan();
  scan.add_column()->set_family("info");
  scan.set_start_row(meta_row);
  scan.set_stop_row(FirstMetaRow(table));
  scan.set_reversed(true);
  scan.set_caching(kMetaRows);
  scan.set_include_stop_row(true);

  const auto call_for = [&](const Region& meta) -> hbase::Call {
    Name(meta, *request.mutable_region());
    return {.method = "Scan", .parameter = &request, .is_urgent = true};
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                          Call(kMetaTable, "", Repeat::kReads, call_for, patience));
  pb::ScanResponse response;
  CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
  CELLFS_ASSIGN_OR_RETURN(const auto rows, RowsOf(response, answer));
  for (const RowPiece& row : rows) {
    CELLFS_ASSIGN_OR_RETURN(const auto region, RegionInMeta(row.cells));
    if (!region) continue;
    if (region->server.host.empty()) {
      NoteMissed(table);
      return Status(StatusCode::kUnavailable, "no server has region " + region->name + " now");
    }
    cache_.Remember(*region);
    return *region;
  }
  if (!rows.empty()) {
    return Status(StatusCode::kUnavailable,
                  "a region of table '" + table.ToString() + "' is being split or merged");
  }
  return NotFound(table);
}

StatusOr<bool> Regions::IsTableEnabled(const TableName& table, const Patience& patience) {
  if (table == kMetaTable) return true;
  pb::GetRequest request;
  request.mutable_get()->set_row(table.ToString());
  pb::Column& column = *request.mutable_get()->add_column();
  column.set_family("table");
  column.add_qualifier("state");
  const auto call_for = [&](const Region& meta) -> hbase::Call {
    Name(meta, *request.mutable_region());
    return {.method = "Get", .parameter = &request, .is_urgent = true};
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                          Call(kMetaTable, "", Repeat::kReads, call_for, patience));
  pb::GetResponse response;
  CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, CellsOf(response.result(), answer));
  if (cells.empty()) return NotFound(table);
  pb::TableState state;
  if (!state.ParseFromString(cells.front().value)) {
    return Status(StatusCode::kIoError, "hbase:meta has a state that cannot be read");
  }
  return state.state() == pb::TableState::ENABLED || state.state() == pb::TableState::ENABLING;
}

// A server has told that the region is not there, or no server is named: the table may be disabled,
// which only its state says.
Status Regions::CheckMissed(const TableName& table, const Patience& patience) {
  {
    const std::lock_guard lock(mutex_);
    if (missed_.erase(table) == 0) return {};
  }
  CELLFS_ASSIGN_OR_RETURN(const bool is_enabled, IsTableEnabled(table, patience));
  if (is_enabled) return {};
  NoteMissed(table);
  return {StatusCode::kTableNotEnabled, "table '" + table.ToString() + "' is disabled"};
}

void Regions::NoteMissed(const TableName& table) {
  if (table == kMetaTable) return;
  const std::lock_guard lock(mutex_);
  missed_.insert(table);
}

Reply Regions::Try(const Region& region, const hbase::Call& call, const Patience& patience) {
  Patience share = patience;
  share.deadline = std::min(patience.deadline, SteadyClock::now() + options_.call_timeout);
  auto connection = pool_.To(region.server, call.service, share);
  if (!connection.ok()) return {Reply::End::kNotSent, {}, connection.status()};
  return (*connection)->Make(call, share);
}

std::unique_ptr<PendingCall> Regions::Begin(const Region& region, const hbase::Call& call,
                                            const Patience& patience) {
  auto connection = pool_.To(region.server, call.service, patience);
  if (!connection.ok()) return nullptr;
  auto pending = (*connection)->Begin(call, std::min(patience.Left(), TryWithin(options_)));
  return std::make_unique<HeldCall>(*std::move(connection), std::move(pending));
}

// Without the number of the call, so that the next one has it. What comes of it does not matter: of
// a scanner that is lost its reader will hear.
void Regions::Renew(const ScannerLeases::Scanner& scanner) {
  pb::ScanRequest request;
  request.set_scanner_id(scanner.id);
  request.set_number_of_rows(0);
  request.set_renew(true);
  Begin(scanner.region, {.method = "Scan", .parameter = &request},
        Patience::For(std::chrono::seconds(1)));
}

Regions::Verdict Regions::Judge(const Region& region, const Reply& reply, Repeat repeat,
                                const Patience& patience) {
  if (reply.end != Reply::End::kAnswered) {
    if (!patience.IsCancelled()) {
      cache_.ForgetAllAt(region.server);
      NoteMissed(region.table);
    }
    if (reply.end == Reply::End::kUnanswered && repeat == Repeat::kOnlyIfNotDone)
      return {.why = OutcomeUnknown(region.server)};
    if (patience.IsCancelled()) return {.why = Status(StatusCode::kCancelled, "it was given up")};
    return {.may_try_again = true, .why = reply.why};
  }
  return Judge(region, *reply.answer.exception());
}

Regions::Verdict Regions::Judge(const Region& region, const RemoteException& exception) {
  Verdict verdict{.pause = PauseIn(exception), .why = StatusOf(exception)};
  switch (RemedyFor(exception)) {
    case Remedy::kNone: return verdict;
    case Remedy::kFindMaster:
    case Remedy::kWait:
    case Remedy::kRescan: break;
    case Remedy::kRelocate:
      cache_.Forget(region);
      if (exception.moved_to) {
        Region moved = region;
        moved.server = *exception.moved_to;
        cache_.Remember(moved);
      } else {
        NoteMissed(region.table);
      }
      break;
    case Remedy::kReconnect: cache_.ForgetAllAt(region.server); break;
  }
  verdict.may_try_again = true;
  return verdict;
}

StatusOr<Answer> Regions::Call(const TableName& table, std::string_view row, Repeat repeat,
                               const std::function<hbase::Call(const Region&)>& call_for,
                               const Patience& patience, bool* was_silent) {
  Attempts attempts(options_.attempts, patience);
  std::optional<ServerAddress> silent;  // it may have done it
  const auto end = [&](const Status& why) {
    return silent && repeat != Repeat::kReads ? OutcomeUnknown(*silent) : why;
  };
  for (;;) {
    auto region = Find(table, row, patience);
    std::optional<std::chrono::milliseconds> pause;
    Status why = region.status();
    if (region.ok()) {
      if (repeat == Repeat::kAtSameServer && silent && *silent != region->server) return end(why);
      Reply reply = Try(*region, call_for(*region), patience);
      if (reply.end == Reply::End::kAnswered && !reply.answer.exception()) {
        if (was_silent != nullptr) *was_silent = silent.has_value();
        return std::move(reply.answer);
      }
      if (reply.end == Reply::End::kUnanswered) silent = region->server;
      const Verdict verdict = Judge(*region, reply, repeat, patience);
      if (!verdict.may_try_again) return end(verdict.why);
      pause = verdict.pause;
      why = verdict.why;
    } else if (!MayPass(why)) {
      return end(why);
    }
    if (!attempts.WaitForNext(pause)) return end(attempts.End(why));
  }
}

}  // namespace cellfs::hbase
