// SPDX-License-Identifier: MIT
//
// What a cluster is opened with.
#ifndef CELLFS_ENGINE_CLUSTER_OPTIONS_H_
#define CELLFS_ENGINE_CLUSTER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/server_address.h"

namespace cellfs {

// The names of HBase's client keys, with HBase's defaults but for operation_timeout, which is 20
// minutes there: who waits for a file does not wait so long.
struct ClusterOptions {
  // hbase.client.bootstrap.servers: masters or region servers, any of which tells the rest.
  std::vector<ServerAddress> servers;
  std::string user;
  std::chrono::milliseconds operation_timeout{30'000};  // hbase.client.operation.timeout
  std::chrono::milliseconds rpc_timeout{60'000};        // hbase.rpc.timeout: of one try
  std::chrono::milliseconds connect_timeout{10'000};    // hbase.ipc.client.socket.timeout.connect
  int32_t retries = 15;                                 // hbase.client.retries.number
  std::chrono::milliseconds pause{100};                 // hbase.client.pause
  int32_t scanner_caching = INT32_MAX;                  // hbase.client.scanner.caching, rows a call
  int64_t max_cell_size = 10485760;                     // hbase.client.keyvalue.maxsize; <= 0: off
  int64_t max_staleness_ms = 1000;  // ours: StoreTraits::max_staleness_ms
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CLUSTER_OPTIONS_H_
