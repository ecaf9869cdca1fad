// SPDX-License-Identifier: MIT
#include "fs/reading/later_timestamps.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <variant>

#include "fs/requests/owner.h"

namespace cellfs::fs {
namespace {

// The latest timestamp that mutations name.
class LatestNamed {
 public:
  Timestamp latest() const { return latest_; }

  void operator()(const Put& put) { SeeCells(put); }
  void operator()(const Increment& increment) { SeeCells(increment); }
  void operator()(const Append& append) { SeeCells(append); }
  void operator()(const Delete& remove) {
    See(remove.timestamp);
    for (const DeleteMarker& marker : remove.markers) See(marker.timestamp);
  }
  void operator()(const Withdraw& /*unused*/) {}  // hides nothing

 private:
  template <typename M>
  void SeeCells(const M& mutation) {
    for (const auto& cell : mutation.cells) See(cell.timestamp);
  }
  void See(Timestamp timestamp) {
    if (timestamp != kLatestTimestamp) latest_ = std::max(latest_, timestamp);  // else the clock's
  }

  Timestamp latest_ = 0;
};

bool MayName(const Reading& reading, uid_t uid, Timestamp timestamp) {
  if (!reading.AreModesEnforced() || IsOwnerOrRoot(uid)) return true;
  return timestamp <= reading.clock().Now();
}

std::string Refusal(Timestamp timestamp) {
  return "timestamp " + std::to_string(timestamp) +
         " is later than the clock, and would hide what others write until then; name an earlier "
         "one, or none: a later one is for who mounted the store, and root";
}

}  // namespace

Status CheckNamesNoLater(const Reading& reading, uid_t uid,
                         const std::vector<Mutation>& mutations) {
  LatestNamed named;
  for (const Mutation& mutation : mutations) std::visit(named, mutation);
  if (MayName(reading, uid, named.latest())) return {};
  return {StatusCode::kAccessDenied, Refusal(named.latest())};
}

Outcome CheckIsNoLater(const Reading& reading, uid_t uid, const Place& place) {
  const bool is_version =
      place.kind == PlaceKind::kVersion || place.kind == PlaceKind::kVersionsFile;
  if (!is_version || MayName(reading, uid, place.timestamp)) return {};
  return {EPERM, Refusal(place.timestamp)};
}

}  // namespace cellfs::fs
