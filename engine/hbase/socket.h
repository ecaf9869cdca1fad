// SPDX-License-Identifier: MIT
//
// Making a TCP connection, on which nobody blocks then.
#ifndef CELLFS_ENGINE_HBASE_SOCKET_H_
#define CELLFS_ENGINE_HBASE_SOCKET_H_

#include "engine/descriptor.h"
#include "engine/remote/patience.h"
#include "engine/server_address.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

// Connects to the first of the server's addresses that takes it. kUnavailable, or kTimedOut,
// with the server's name and the cause. Names are looked up as getaddrinfo does, which knows no deadline.
StatusOr<Descriptor> ConnectTo(const ServerAddress& server, const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SOCKET_H_
