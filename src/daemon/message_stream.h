// SPDX-License-Identifier: MIT
//
// MessageStream: JSON objects on their way over a socket, one a line (src/daemon/json_text.h). Long
// strings are left out of the line and follow it as they are, so that a value is in memory once on
// either side, and may be as long as a cell:
//
//     {"follow": [["/record/value", 20971520]], "record": {"row": "r", "value": ""}}
//     ... 20971520 bytes, and the next line
#ifndef CELLFS_SRC_DAEMON_MESSAGE_STREAM_H_
#define CELLFS_SRC_DAEMON_MESSAGE_STREAM_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/descriptor.h"
#include "engine/status_or.h"

namespace cellfs {

// Not thread-safe, but one may send while another receives.
class MessageStream {
 public:
  static constexpr size_t kLongString = size_t{64} << 10;  // bytes, from which on it follows
  static constexpr size_t kLongestLine = size_t{32} << 20;

  explicit MessageStream(Descriptor socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  // How long Send waits for the other side to read anything, and how long all of them together
  // do; else for ever.
  void SetPatience(std::chrono::milliseconds patience, std::chrono::milliseconds in_all);
  // How long Receive waits for the first message to begin and for more of one that has begun; for
  // the next one to begin it waits for ever.
  void SetPatienceToReceive(std::chrono::milliseconds patience) const;

  // Whether all of it was sent. After a false nothing more is.
  bool Send(nlohmann::json message);

  // Asked before there are so many bytes of one message in memory, a line as what is parsed of it
  // takes; OK, or why they may not be.
  using MayTake = std::function<Status(uint64_t bytes)>;
  static Status TakesAll(uint64_t /*bytes*/) { return {}; }
  // kOutcomeUnknown: the other side has ended. kIllegalArgument: it is no message; what MayTake says.
  StatusOr<nlohmann::json> Receive(const MayTake& may_take);
  // Whether the next message can be found behind what was received.
  bool is_broken() const { return is_broken_; }

 private:
  bool SendBytes(const std::string& bytes);
  // As many as come, kOutcomeUnknown: none will.
  StatusOr<size_t> ReceiveSome(char* bytes, size_t most);
  StatusOr<std::string> ReceiveLine(const MayTake& may_take);
  Status ReceiveFollowing(nlohmann::json& message, uint64_t bytes, const MayTake& may_take);
  Status ReceiveString(const nlohmann::json& what, nlohmann::json& message, uint64_t& bytes,
                       const MayTake& may_take);

  const Descriptor socket_;
  // For which Send may still wait.
  std::chrono::steady_clock::duration patience_left_ = std::chrono::steady_clock::duration::max();
  std::string buffer_;  // received, and not used yet
  bool is_broken_ = false;
  bool is_between_messages_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_MESSAGE_STREAM_H_
