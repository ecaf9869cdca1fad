// SPDX-License-Identifier: MIT
#include "engine/hbase/registry.h"

#include <hbase.pb.h>

#include <algorithm>

namespace cellfs::hbase {
namespace {

using google::protobuf::MessageLite;

ServerAddress AddressOf(const pb::ServerName& name) {
  return {name.host_name(), static_cast<uint16_t>(name.port())};
}

Status NotKnown(const std::string& what) {
  return {StatusCode::kUnavailable, "the cluster does not know " + what + " now"};
}

}  // namespace

StatusOr<std::string> Registry::ClusterId(const Patience& patience) {
  pb::GetClusterIdResponse response;
  CELLFS_RETURN_IF_ERROR(Ask("GetClusterId", pb::GetClusterIdRequest(), response, patience));
  if (response.cluster_id().empty()) return NotKnown("its id");
  return response.cluster_id();
}

StatusOr<ServerAddress> Registry::ActiveMaster(const Patience& patience) {
  pb::GetActiveMasterResponse response;
  CELLFS_RETURN_IF_ERROR(Ask("GetActiveMaster", pb::GetActiveMasterRequest(), response, patience));
  if (!response.has_server_name()) return NotKnown("its active master");
  return AddressOf(response.server_name());
}

StatusOr<ServerAddress> Registry::ServerOfMeta(const Patience& patience) {
  pb::GetMetaRegionLocationsResponse response;
  CELLFS_RETURN_IF_ERROR(
      Ask("GetMetaRegionLocations", pb::GetMetaRegionLocationsRequest(), response, patience));
  for (const pb::RegionLocation& location : response.meta_locations()) {
    if (location.region_info().replica_id() == 0 && location.has_server_name()) {
      return AddressOf(location.server_name());
    }
  }
  return NotKnown("where hbase:meta is");
}

Status Registry::Ask(std::string_view method, const MessageLite& request, MessageLite& response,
                     const Patience& patience) {
  const Call call{.method = method, .parameter = &request, .is_urgent = true};
  const size_t first = answered_;
  Status why;
  for (size_t i = 0; i < servers_.size() && !patience.IsOver(); ++i) {
    const size_t at = (first + i) % servers_.size();
    // Each of those that are left gets its part of the time.
    Patience share = patience;
    share.deadline = std::min(patience.deadline,
                              Clock::now() + patience.Left() / static_cast<int>(servers_.size() - i));
    why = Ask(servers_[at], call, response, share);
    if (why.ok()) {
      answered_ = at;
      return why;
    }
  }
  return why.ok() ? Status(StatusCode::kUnavailable, "no time was left to ask the cluster") : why;
}

Status Registry::Ask(const ServerAddress& server, const Call& call, MessageLite& response,
                     const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto connection,
                          pool_.To(server, Service::kClientMeta, patience));
  const Reply reply = connection->Make(call, patience);
  if (reply.end != Reply::End::kAnswered) return reply.why;
  if (reply.answer.exception()) return StatusOf(*reply.answer.exception());
  return reply.answer.ParseResult(response);
}

}  // namespace cellfs::hbase
