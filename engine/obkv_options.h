// SPDX-License-Identifier: MIT
//
// What a database in OBKV-HBase's layout is opened with (engine/obkv/obkv_store.h).
#ifndef CELLFS_ENGINE_OBKV_OPTIONS_H_
#define CELLFS_ENGINE_OBKV_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/server_address.h"

namespace cellfs {

struct ObkvOptions {
  ServerAddress server;
  std::string socket;    // path of its Unix socket, in place of the server's address; empty: none
  std::string user;      // OceanBase's may be USER@TENANT#CLUSTER
  std::string password;  // empty: none
  std::chrono::milliseconds operation_timeout{30'000};  // of one call
  std::chrono::milliseconds connect_timeout{10'000};
  uint32_t connections = 16;        // at most, at a time
  uint32_t partitions = 97;         // of the tables that are made
  int64_t max_cell_size = 10485760; // bytes; <= 0: what the column takes
  int64_t max_staleness_ms = 1000;  // StoreTraits::max_staleness_ms
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_OBKV_OPTIONS_H_
