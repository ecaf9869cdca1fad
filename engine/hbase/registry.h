// SPDX-License-Identifier: MIT
//
// The servers by which a cluster is found: any of its masters or region servers says where the rest
// is (ClientMetaService, HBase 2.3 and later). One that does not answer is passed over for the next.
// Servers that are not named by the caller are learned from those that answer: in the end none of
// the first ones need be left. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_REGISTRY_H_
#define CELLFS_ENGINE_HBASE_REGISTRY_H_

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/hbase/connection_pool.h"

namespace google::protobuf {
class MessageLite;
}

namespace cellfs::hbase {

class Registry {
 public:
  // REQUIRES: at least one server.
  Registry(std::vector<ServerAddress> servers, ConnectionPool& pool)
      : servers_(std::move(servers)), pool_(pool) {}

  // kUnavailable where no server can say it.
  StatusOr<std::string> ClusterId(const Patience& patience);
  StatusOr<ServerAddress> ActiveMaster(const Patience& patience);
  StatusOr<ServerAddress> ServerOfMeta(const Patience& patience);

 private:
  Status Ask(std::string_view method, const google::protobuf::MessageLite& request,
             google::protobuf::MessageLite& response, const Patience& patience);
  Status Ask(const ServerAddress& server, const Call& call,
             google::protobuf::MessageLite& response, const Patience& patience);

  // In the order in which they are asked.
  std::vector<ServerAddress> Candidates() const;
  void Learn(const ServerAddress& answered, const Patience& patience);

  const std::vector<ServerAddress> servers_;
  ConnectionPool& pool_;
  mutable std::mutex mutex_;
  std::optional<ServerAddress> answered_;  // last
  std::vector<ServerAddress> learned_;     // HBase's bootstrap nodes
  // As they were told last: what answers each of them answers this too.
  std::optional<ServerAddress> master_;
  std::optional<ServerAddress> server_of_meta_;
  SteadyClock::time_point learn_again_{};
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REGISTRY_H_
