// SPDX-License-Identifier: MIT
//
// What a server answers where it does not do what it was asked for: a Java exception by its class.
// RemedyFor says what a client is to do about it before it asks again, StatusOf what its caller is
// told where there is nothing to do.
#ifndef CELLFS_ENGINE_HBASE_REMOTE_EXCEPTION_H_
#define CELLFS_ENGINE_HBASE_REMOTE_EXCEPTION_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/server_address.h"
#include "engine/status.h"

namespace cellfs::hbase {

struct RemoteException {
  std::string class_name;  // "org.apache.hadoop.hbase.NotServingRegionException"
  std::string message;     // its first line, without the class
  bool do_not_retry = false;
  bool is_overloaded = false;
  std::optional<ServerAddress> moved_to;  // the region's new server, where it knows it
};

// The first line of a stack trace without the class that it begins with.
std::string MessageIn(std::string_view stack_trace, std::string_view class_name);

// None of these exceptions comes after a change has been made, so that all but kNone allow to ask
// again, whatever it was.
enum class Remedy {
  kNone,       // it is the answer
  kWait,       // the same server, after a pause: starting, busy, throttled, region opening
  kRelocate,   // the region is elsewhere: look it up
  kReconnect,  // the server ends: another connection, after looking up the region
  kRescan,     // the scanner is lost: open one after the last row that came
  kFindMaster  // it is not the active master: ask which one is
};
Remedy RemedyFor(const RemoteException& exception);

// How long the server asks to wait before the next try (RpcThrottlingException); nothing where it
// does not say.
std::optional<std::chrono::milliseconds> PauseIn(const RemoteException& exception);

// As what an engine's caller sees it: the code that StatusCode names for the exception, kDoNotRetry
// for those that it does not know and that are final, kUnavailable for what may work later.
Status StatusOf(const RemoteException& exception);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REMOTE_EXCEPTION_H_
