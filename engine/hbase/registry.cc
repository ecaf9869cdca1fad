// SPDX-License-Identifier: MIT
#include "engine/hbase/registry.h"

#include <hbase.pb.h>

#include <algorithm>

namespace cellfs::hbase {
namespace {

using google::protobuf::MessageLite;

// The registry is asked where something was lost, which is when servers come and go.
constexpr SteadyClock::duration kLearnEvery = std::chrono::seconds(1);

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
  const ServerAddress master = AddressOf(response.server_name());
  const std::lock_guard lock(mutex_);
  master_ = master;
  return master;
}

StatusOr<ServerAddress> Registry::ServerOfMeta(const Patience& patience) {
  pb::GetMetaRegionLocationsResponse response;
  CELLFS_RETURN_IF_ERROR(
      Ask("GetMetaRegionLocations", pb::GetMetaRegionLocationsRequest(), response, patience));
  for (const pb::RegionLocation& location : response.meta_locations()) {
    if (location.region_info().replica_id() == 0 && location.has_server_name()) {
      const ServerAddress server = AddressOf(location.server_name());
      const std::lock_guard lock(mutex_);
      server_of_meta_ = server;
      return server;
    }
  }
  return NotKnown("where hbase:meta is");
}

std::vector<ServerAddress> Registry::Candidates() const {
  const std::lock_guard lock(mutex_);
  std::vector<ServerAddress> candidates;
  const auto add = [&](const ServerAddress& server) {
    if (std::ranges::find(candidates, server) == candidates.end()) candidates.push_back(server);
  };
  if (answered_) add(*answered_);
  std::ranges::for_each(servers_, add);
  std::ranges::for_each(learned_, add);
  if (master_) add(*master_);
  if (server_of_meta_) add(*server_of_meta_);
  return candidates;
}

// Releases before 2.5 do not tell: what was named has to do then.
void Registry::Learn(const ServerAddress& answered, const Patience& patience) {
  {
    const std::lock_guard lock(mutex_);
    answered_ = answered;
    if (SteadyClock::now() < learn_again_) return;
    learn_again_ = SteadyClock::now() + kLearnEvery;
  }
  const pb::GetBootstrapNodesRequest request;
  const Call call{.method = "GetBootstrapNodes", .parameter = &request, .is_urgent = true};
  pb::GetBootstrapNodesResponse response;
  if (!Ask(answered, call, response, patience).ok() || response.server_name().empty()) return;
  const std::lock_guard lock(mutex_);
  learned_.clear();
  for (const pb::ServerName& name : response.server_name()) learned_.push_back(AddressOf(name));
}

Status Registry::Ask(std::string_view method, const MessageLite& request, MessageLite& response,
                     const Patience& patience) {
  const Call call{.method = method, .parameter = &request, .is_urgent = true};
  const std::vector<ServerAddress> candidates = Candidates();
  Status why;
  for (size_t i = 0; i < candidates.size() && !patience.IsOver(); ++i) {
    // Each of those that are left gets its part of the time.
    const auto left = static_cast<int>(candidates.size() - i);
    Patience share = patience;
    share.deadline = std::min(patience.deadline, SteadyClock::now() + patience.Left() / left);
    why = Ask(candidates[i], call, response, share);
    if (why.ok()) {
      Learn(candidates[i], patience);
      return why;
    }
  }
  return why.ok() ? Status(StatusCode::kTimedOut, "no time was left to ask the cluster") : why;
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
