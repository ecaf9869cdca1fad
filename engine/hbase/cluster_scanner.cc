// SPDX-License-Identifier: MIT
#include "engine/hbase/cluster_scanner.h"

#include <hbase.pb.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "engine/hbase/requests.h"
#include "engine/hbase/results.h"

namespace cellfs::hbase {
namespace {

// A server that does not answer ends the scanner by itself.
constexpr SteadyClock::duration kCloseWithin = std::chrono::seconds(2);

constexpr int64_t kMostRowsOfLimit = std::numeric_limits<int32_t>::max();

// A server comes back with what it has found, if only a heartbeat, at half of the time that it is
// told. With too little it would drop calls that wait their turn.
Call CallFor(const pb::ScanRequest& request, const ScanBatch& batch) {
  constexpr std::chrono::milliseconds kLeast = std::chrono::seconds(1);
  Call call{.method = "Scan", .parameter = &request};
  if (batch.max_time < call.longest / 2) {
    call.longest = std::max(
        kLeast, 2 * std::chrono::ceil<std::chrono::milliseconds>(batch.max_time));
  }
  return call;
}

// Where a scan goes on.
struct Place {
  std::string row;  // empty: at the end that it begins at
  bool inclusive = true;
  // Of that row, this cell and all before it were returned already.
  std::optional<Cell> behind = std::nullopt;
};

class ClusterScanner : public Scanner {
 public:
  ClusterScanner(Regions& regions, TableName table, const Scan& scan, pb::Scan message,
                 SteadyClock::duration within)
      : regions_(regions),
        table_(std::move(table)),
        scan_(scan),
        message_(std::move(message)),
        within_(within),
        place_{scan.start_row, scan.include_start_row} {
    is_over_ = scan.limit == 0;
  }
  ~ClusterScanner() override { Close(); }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override;
  bool at_end() const override { return is_over_ && rows_.empty() && row_.empty(); }

 private:
  struct Open {
    Region region;
    std::optional<uint64_t> id;  // the server's; none before its first answer
    uint64_t calls = 0;
    std::unique_ptr<ScannerLeases::Lease> lease;  // once there is more to come than one answer
  };

  StatusOr<std::vector<RowCells>> NextRows(const ScanBatch& batch, const Patience& patience);
  Status Fetch(const ScanBatch& batch, const Patience& patience);
  void FetchAhead(const ScanBatch& batch);
  Status FindRegion(const Patience& patience);
  Reply Ask(const ScanBatch& batch, const Patience& patience);
  pb::ScanRequest RequestFor(const ScanBatch& batch) const;
  Status Take(const Answer& answer);
  void KeepLease(const pb::ScanResponse& response);
  Status TakePiece(RowPiece piece);
  void FinishRow();
  void LeaveRegion();
  void Close();
  bool IsLastRegion() const;

  Regions& regions_;
  const TableName table_;
  const Scan scan_;
  const pb::Scan message_;
  const SteadyClock::duration within_;

  Place place_;
  std::optional<Open> open_;
  bool is_over_ = false;      // nothing more is to be asked for
  int64_t rows_taken_ = 0;    // against scan_.limit
  std::deque<RowCells> rows_;  // whole rows, and pieces where they were asked for
  bool in_row_ = false;       // a row has begun, and its end has not come
  RowCells row_;              // what has come of it and is kept until it is whole
  bool gives_pieces_ = false;
  bool is_cancelled_ = false;
  uint64_t asked_ = 0;  // how often Next was called
  // Of what comes next, from the open region.
  std::unique_ptr<PendingCall> ahead_;
};

// ---- What comes ---------------------------------------------------------------------------------

StatusOr<std::vector<RowCells>> ClusterScanner::Next(const ScanBatch& batch) {
  const Status given_up(StatusCode::kCancelled, "the scan was given up");
  if (is_cancelled_) return given_up;
  auto rows = NextRows(batch, Patience::For(within_, batch.cancelled));
  is_cancelled_ = rows.status().code() == StatusCode::kCancelled;
  if (rows.ok() && ++asked_ > 1) FetchAhead(batch);
  return rows;
}

StatusOr<std::vector<RowCells>> ClusterScanner::NextRows(const ScanBatch& batch,
                                                         const Patience& patience) {
  const auto began = SteadyClock::now();
  gives_pieces_ = batch.partial_rows;
  std::vector<RowCells> rows;
  size_t bytes = 0;
  for (;;) {
    while (!rows_.empty() && rows.size() < batch.max_rows && bytes < batch.max_bytes) {
      for (const Cell& cell : rows_.front()) bytes += HeldBytes(cell);
      rows.push_back(std::move(rows_.front()));
      rows_.pop_front();
    }
    // One call brings what a batch may hold: what has come is not kept back for more.
    if (!rows.empty() || is_over_) return rows;
    if (open_ && open_->calls > 0 && SteadyClock::now() - began >= batch.max_time) return rows;
    if (patience.IsOver()) return FoundNothingInTime(patience);
    CELLFS_RETURN_IF_ERROR(Fetch(batch, patience));
  }
}

// Of the open region, or what was asked for ahead.
Reply ClusterScanner::Ask(const ScanBatch& batch, const Patience& patience) {
  if (const auto ahead = std::exchange(ahead_, nullptr)) return ahead->Wait(patience);
  const pb::ScanRequest request = RequestFor(batch);
  return regions_.Try(open_->region, CallFor(request, batch), patience);
}

// Where the rows at hand are all that have come, and more are there.
void ClusterScanner::FetchAhead(const ScanBatch& batch) {
  if (ahead_ != nullptr || is_over_ || !rows_.empty() || !open_ || !open_->id) return;
  const pb::ScanRequest request = RequestFor(batch);
  ahead_ = regions_.Begin(open_->region, CallFor(request, batch), Patience::For(within_));
}

// One answer, from whichever server has it.
Status ClusterScanner::Fetch(const ScanBatch& batch, const Patience& patience) {
  Attempts attempts(regions_.options().attempts, patience);
  for (;;) {
    Status why = FindRegion(patience);
    std::optional<std::chrono::milliseconds> pause;
    if (why.ok()) {
      const Reply reply = Ask(batch, patience);
      if (reply.end == Reply::End::kAnswered && !reply.answer.exception()) {
        return Take(reply.answer);
      }
      const Regions::Verdict verdict =
          regions_.Judge(open_->region, reply, Repeat::kReads, patience);
      // Whether the server has moved its scanner on is not known: another one begins at our place.
      open_.reset();
      if (!verdict.may_try_again) return verdict.why;
      pause = verdict.pause;
      why = verdict.why;
    } else if (!MayPass(why)) {
      return why;
    }
    if (!attempts.WaitForNext(pause)) return attempts.End(why);
  }
}

Status ClusterScanner::FindRegion(const Patience& patience) {
  if (open_) return {};
  // Turned round, the rows behind a bound that is left out begin in the region before it.
  const bool from_behind = scan_.reversed && (place_.row.empty() || !place_.inclusive);
  CELLFS_ASSIGN_OR_RETURN(Region region,
                          from_behind ? regions_.FindBefore(table_, place_.row, patience)
                                      : regions_.Find(table_, place_.row, patience));
  open_ = Open{.region = std::move(region), .id = std::nullopt};
  return {};
}

pb::ScanRequest ClusterScanner::RequestFor(const ScanBatch& batch) const {
  pb::ScanRequest request;
  const auto left = scan_.limit < 0 ? std::numeric_limits<int64_t>::max()
                                    : scan_.limit - rows_taken_;
  const auto rows = std::min<int64_t>({left, static_cast<int64_t>(batch.max_rows),
                                       regions_.options().scanner_caching, 1 << 20});
  if (open_->id) {
    request.set_scanner_id(*open_->id);
    request.set_next_call_seq(open_->calls - 1);  // the one that opens it is not counted
  } else {
    Name(open_->region, *request.mutable_region());
    pb::Scan& scan = *request.mutable_scan();
    scan = message_;
    if (!place_.row.empty()) scan.set_start_row(place_.row);
    scan.set_include_start_row(place_.inclusive);
    scan.set_max_result_size(batch.max_bytes);
    scan.set_allow_partial_results(batch.partial_rows);
  }
  request.set_number_of_rows(static_cast<uint32_t>(rows));
  // The server closes the scanner by itself behind the last one.
  if (scan_.limit > 0 && left <= kMostRowsOfLimit)
    request.set_limit_of_rows(static_cast<uint32_t>(left));
  request.set_client_handles_partials(true);
  request.set_client_handles_heartbeats(true);
  return request;
}

Status ClusterScanner::Take(const Answer& answer) {
  pb::ScanResponse response;
  CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowPiece> pieces, RowsOf(response, answer));
  ++open_->calls;
  if (response.has_scanner_id()) open_->id = response.scanner_id();
  const bool has_more = !response.has_more_results() || response.more_results();
  const bool has_more_here =
      !response.has_more_results_in_region() || response.more_results_in_region();
  if (!has_more || !has_more_here) open_->id.reset();  // the server has closed it by itself
  for (RowPiece& piece : pieces) {
    CELLFS_RETURN_IF_ERROR(TakePiece(std::move(piece)));
    if (is_over_) return {};
  }
  if (!has_more) {
    FinishRow();
    is_over_ = true;
    Close();
  } else if (!has_more_here) {
    FinishRow();
    if (!is_over_) LeaveRegion();
  } else {
    KeepLease(response);
  }
  return {};
}

// The server tells the time of a lease in its first answer.
void ClusterScanner::KeepLease(const pb::ScanResponse& response) {
  if (open_->lease != nullptr) return open_->lease->Use();
  if (!open_->id || response.ttl() == 0) return;
  open_->lease = std::make_unique<ScannerLeases::Lease>(
      regions_.leases(), ScannerLeases::Scanner{open_->region, *open_->id},
      std::chrono::milliseconds(response.ttl()));
}

Status ClusterScanner::TakePiece(RowPiece piece) {
  RowCells& cells = piece.cells;
  if (cells.empty()) return {};
  if (scan_.lengths_only) {
    CELLFS_RETURN_IF_ERROR(TakeLengths(ComesAsLengths(scan_), cells));
  }
  if (place_.behind && place_.behind->row == cells.front().row) {
    std::erase_if(cells, [&](const Cell& cell) {
      return CompareCells(ViewOf(cell), ViewOf(*place_.behind)) <= 0;
    });
    if (cells.empty()) return {};
  }
  if (in_row_ && place_.row != cells.front().row) FinishRow();
  if (is_over_) return {};
  in_row_ = true;
  Cell last = cells.back();
  last.value.clear();
  place_ = {cells.front().row, piece.goes_on};
  if (piece.goes_on) place_.behind = std::move(last);
  if (gives_pieces_ && piece.goes_on) {
    rows_.push_back(std::move(cells));
    return {};
  }
  std::ranges::move(cells, std::back_inserter(row_));
  if (!piece.goes_on) FinishRow();
  return {};
}

void ClusterScanner::FinishRow() {
  if (!std::exchange(in_row_, false)) return;
  if (!row_.empty()) rows_.push_back(std::exchange(row_, {}));
  ++rows_taken_;
  if (scan_.limit < 0 || rows_taken_ < scan_.limit) return;
  is_over_ = true;
  Close();
}

// ---- Where it is asked for ----------------------------------------------------------------------

bool ClusterScanner::IsLastRegion() const {
  const Region& region = open_->region;
  const std::string& bound = scan_.reversed ? region.start_key : region.end_key;
  if (bound.empty()) return true;
  if (scan_.stop_row.empty()) return false;
  // The bound itself lies in the next region, turned round in this one.
  if (scan_.reversed) return scan_.stop_row >= bound;
  return scan_.stop_row < bound || (scan_.stop_row == bound && !scan_.include_stop_row);
}

// The server has closed the scanner by itself.
void ClusterScanner::LeaveRegion() {
  if (IsLastRegion()) {
    is_over_ = true;
  } else if (scan_.reversed) {
    place_ = {open_->region.start_key, false};
  } else {
    place_ = {open_->region.end_key, true};
  }
  open_.reset();
}

// So that the server need not keep it until its lease ends. What becomes of it does not matter. A
// server refuses to close a scanner that it is reading from.
void ClusterScanner::Close() {
  if (open_ && open_->id) {
    if (const auto ahead = std::exchange(ahead_, nullptr))
      ahead->Wait(Patience::For(kCloseWithin));
    pb::ScanRequest request;
    request.set_scanner_id(*open_->id);
    request.set_close_scanner(true);
    regions_.Try(open_->region, {.method = "Scan", .parameter = &request},
                 Patience::For(kCloseWithin));
  }
  open_.reset();
}

}  // namespace

Status FoundNothingInTime(const Patience& patience) {
  if (patience.IsCancelled()) return {StatusCode::kCancelled, "the scan was given up"};
  return {StatusCode::kTimedOut, "the cluster found no row in time"};
}

StatusOr<std::unique_ptr<Scanner>> OpenClusterScanner(Regions& regions, const TableName& table,
                                                      const Scan& scan,
                                                      SteadyClock::duration within) {
  pb::Scan message;
  CELLFS_RETURN_IF_ERROR(Write(scan, message));
  return std::unique_ptr<Scanner>(
      std::make_unique<ClusterScanner>(regions, table, scan, std::move(message), within));
}

}  // namespace cellfs::hbase
