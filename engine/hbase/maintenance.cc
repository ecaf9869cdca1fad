// SPDX-License-Identifier: MIT
#include "engine/hbase/maintenance.h"

#include <hbase.pb.h>

#include <string>

#include "engine/hbase/requests.h"

namespace cellfs::hbase {
namespace {

constexpr SteadyClock::duration kPause = std::chrono::milliseconds(100);  // between two looks

// Makes the call for each region, and has its answer looked at. Regions that are split meanwhile
// are each asked: it goes on where the one ends that answered.
template <typename Request>
Status ForEachRegion(Regions& regions, const TableName& table, std::string_view method,
                     Request& request, const Patience& patience,
                     const std::function<Status(const Answer&)>& look) {
  std::string row;
  do {
    std::string end_key;
    const auto call_for = [&](const Region& region) -> Call {
      Name(region, *request.mutable_region());
      end_key = region.end_key;
      return {.method = method, .parameter = &request, .service = Service::kAdmin};
    };
    // Twice is as good as once.
    CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                            regions.Call(table, row, Repeat::kDoesTheSame, call_for, patience));
    CELLFS_RETURN_IF_ERROR(look(answer));
    row = std::move(end_key);
  } while (!row.empty());
  return {};
}

StatusOr<bool> IsCompacting(Regions& regions, const TableName& table, const Patience& patience) {
  pb::GetRegionInfoRequest request;
  request.set_compaction_state(true);
  bool is_compacting = false;
  const auto look = [&](const Answer& answer) -> Status {
    pb::GetRegionInfoResponse response;
    CELLFS_RETURN_IF_ERROR(answer.ParseResult(response));
    is_compacting |= response.compaction_state() != pb::GetRegionInfoResponse::NONE;
    return {};
  };
  CELLFS_RETURN_IF_ERROR(
      ForEachRegion(regions, table, "GetRegionInfo", request, patience, look));
  return is_compacting;
}

}  // namespace

Status Flush(Regions& regions, const TableName& table, const Patience& patience) {
  pb::FlushRegionRequest request;
  return ForEachRegion(regions, table, "FlushRegion", request, patience,
                       [](const Answer&) { return Status(); });
}

Status Compact(Regions& regions, const TableName& table, CompactionKind kind,
               const Patience& patience) {
  pb::CompactRegionRequest request;
  request.set_major(kind == CompactionKind::kMajor);
  CELLFS_RETURN_IF_ERROR(ForEachRegion(regions, table, "CompactRegion", request, patience,
                                       [](const Answer&) { return Status(); }));
  for (;;) {
    const auto is_compacting = IsCompacting(regions, table, patience);
    if (is_compacting.ok() && !*is_compacting) return {};
    if (!is_compacting.ok() || !Wait(kPause, patience)) {
      return {StatusCode::kOutcomeUnknown,
              "table '" + table.ToString() + "' is still being compacted, or it is not known"};
    }
  }
}

}  // namespace cellfs::hbase
