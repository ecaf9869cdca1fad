// SPDX-License-Identifier: MIT
#include "engine/hbase/reads.h"

#include <hbase.pb.h>

#include <utility>

#include "engine/hbase/cluster_scanner.h"
#include "engine/hbase/filter_here.h"
#include "engine/hbase/filters.h"
#include "engine/hbase/requests.h"
#include "engine/hbase/results.h"
#include "engine/table/request_check.h"

namespace cellfs::hbase {
namespace {

bool RunsHere(const FilterPtr& filter) { return filter != nullptr && !CanBeSent(*filter); }

// Lets the rows of another scanner through a filter.
class FilteringScanner : public Scanner {
 public:
  FilteringScanner(FilterHere filter, std::unique_ptr<Scanner> scanner, int64_t limit,
                   SteadyClock::duration within)
      : filter_(std::move(filter)), scanner_(std::move(scanner)), limit_(limit), within_(within) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    const Patience patience = Patience::For(within_, batch.cancelled);
    const auto began = SteadyClock::now();
    ScanBatch whole_rows = batch;
    whole_rows.partial_rows = false;
    std::vector<RowCells> left;
    while (left.empty() && !at_end()) {
      CELLFS_ASSIGN_OR_RETURN(auto rows, scanner_->Next(whole_rows));
      for (RowCells& row : rows) {
        CELLFS_ASSIGN_OR_RETURN(RowCells cells, filter_.Take(std::move(row)));
        if (cells.empty() || rows_taken_ == limit_) continue;
        left.push_back(std::move(cells));
        ++rows_taken_;
      }
      if (SteadyClock::now() - began >= batch.max_time) break;
      if (left.empty() && patience.IsOver()) return FoundNothingInTime(patience);
    }
    return left;
  }
  bool at_end() const override {
    return filter_.is_over() || rows_taken_ == limit_ || scanner_->at_end();
  }

 private:
  FilterHere filter_;
  const std::unique_ptr<Scanner> scanner_;
  const int64_t limit_;  // rows; < 0: all
  const SteadyClock::duration within_;
  int64_t rows_taken_ = 0;
};

}  // namespace

StatusOr<RowCells> Read(Regions& regions, const TableName& table, const Get& get,
                        SteadyClock::duration within) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(get));
  if (RunsHere(get.filter)) {
    FilterHere filter(ScanOf(get));
    Get asked = get;
    static_cast<Query&>(asked) = filter.WhatToAsk();
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, Read(regions, table, asked, within));
    return filter.Take(std::move(cells));
  }
  pb::GetRequest request;
  CELLFS_RETURN_IF_ERROR(Write(get, *request.mutable_get()));
  const auto call_for = [&](const Region& region) -> Call {
    Name(region, *request.mutable_region());
    return {.method = "Get", .parameter = &request};
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                          regions.Call(table, get.row, Repeat::kReads, call_for,
                                       Patience::For(within, get.cancelled)));
  pb::GetResponse response;
  CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, CellsOf(response.result(), answer));
  if (get.lengths_only) CELLFS_RETURN_IF_ERROR(TakeLengths(ComesAsLengths(get), cells));
  return cells;
}

StatusOr<std::unique_ptr<Scanner>> OpenScanner(Regions& regions, const TableName& table,
                                               const Scan& scan, SteadyClock::duration within) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(scan));
  if (RunsHere(scan.filter)) {
    FilterHere filter(scan);
    CELLFS_ASSIGN_OR_RETURN(auto scanner, OpenScanner(regions, table, filter.WhatToAsk(), within));
    return std::unique_ptr<Scanner>(std::make_unique<FilteringScanner>(
        std::move(filter), std::move(scanner), scan.limit, within));
  }
  return OpenClusterScanner(regions, table, scan, within);
}

}  // namespace cellfs::hbase
