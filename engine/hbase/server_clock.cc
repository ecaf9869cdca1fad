// SPDX-License-Identifier: MIT
#include "engine/hbase/server_clock.h"

#include <hbase.pb.h>

#include <algorithm>

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenReports{3000};  // hbase.regionserver.msginterval
constexpr auto kMeasureEvery = std::chrono::minutes(10);
constexpr auto kAskAgainAfter = std::chrono::minutes(1);
constexpr auto kLookAgainAfter = std::chrono::seconds(5);

milliseconds Now() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

// The report was made before it was found, and at most as long before it was sought as there is
// between two.
milliseconds DifferenceAtLeast(milliseconds sought, milliseconds found,
                               milliseconds newest_report) {
  const milliseconds ahead = sought - newest_report - kBetweenReports;
  const milliseconds behind = newest_report - found;
  if (ahead > milliseconds(0)) return ahead;
  return -std::max(behind, milliseconds(0));
}

StatusOr<milliseconds> ServerClock::Measure() {
  pb::GetClusterStatusRequest request;
  request.add_options(pb::LIVE_SERVERS);
  pb::GetClusterStatusResponse response;
  const milliseconds sought = Now();
  CELLFS_RETURN_IF_ERROR(master_.Ask("GetClusterStatus", request, response,
                                     Patience::For(std::chrono::seconds(1))));
  const milliseconds found = Now();
  // The servers see to it that they agree; one that hangs has not reported for long.
  uint64_t newest = 0;
  for (const pb::LiveServerInfo& server : response.cluster_status().live_servers()) {
    newest = std::max<uint64_t>(newest, server.server_load().report_end_time());
  }
  if (newest == 0) return Status(StatusCode::kUnavailable, "no server has reported yet");
  return DifferenceAtLeast(sought, found, milliseconds(newest));
}

// What was measured once counts until something else is.
StatusOr<milliseconds> ServerClock::Difference(milliseconds much) {
  const std::lock_guard lock(mutex_);
  const auto now = SteadyClock::now();
  if (measured_ && now < measure_again_) return *measured_;
  auto measured = Measure();
  const bool failed = !measured.ok();
  if (!measured_ || !measured_->ok() || !failed) measured_ = std::move(measured);
  const bool is_much = measured_->ok() && std::chrono::abs(**measured_) > much;
  if (is_much) {
    measure_again_ = now + kLookAgainAfter;
  } else {
    measure_again_ = now + (failed ? SteadyClock::duration(kAskAgainAfter) : kMeasureEvery);
  }
  return *measured_;
}

}  // namespace cellfs::hbase
