// SPDX-License-Identifier: MIT
//
// How calls and answers lie on a connection (HBase's RPC.proto):
//
//     length of all that follows   4 bytes
//     header                       a message, its length before it as a varint
//     parameter or result          likewise; none behind the header of an exception
//     cells                        as many bytes as the header says
//
// Before the first call there are six bytes and the connection's header: who calls which service.
#ifndef CELLFS_ENGINE_HBASE_FRAME_H_
#define CELLFS_ENGINE_HBASE_FRAME_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/hbase/remote_exception.h"
#include "engine/status_or.h"

namespace google::protobuf {
class MessageLite;
}

namespace cellfs::hbase {

// The services of a server that we speak to.
enum class Service { kClient, kClientMeta, kMaster, kAdmin };
std::string_view NameOf(Service service);  // "ClientService"

// What a client sends once, before its first call. Authentication is "simple": a name, which the
// server believes.
std::string OpeningOf(Service service, const std::string& user);

// A call as somebody wants it made. Message and cells live until it is encoded.
struct Call {
  std::string_view method;  // "Get"
  const google::protobuf::MessageLite* parameter = nullptr;
  std::string_view cells = {};  // a cell block
  bool is_urgent = false;       // of meta: in a queue of its own at the server
  Service service = Service::kClient;  // of a server of regions
  // What the server is told at most of how long its caller waits: a scan comes back at half of it.
  std::chrono::milliseconds longest = std::chrono::hours(1);
};

// `within`: how long the caller will wait; the server drops the call if it comes to it later.
std::string EncodeCall(uint32_t id, const Call& call, std::chrono::milliseconds within);

// An answer. The parts lie in one string, which moves with it.
class Answer {
 public:
  // Of a frame without its length. kIoError: it is none.
  static StatusOr<Answer> Decode(std::string frame);

  uint32_t call_id() const { return call_id_; }
  const std::optional<RemoteException>& exception() const { return exception_; }
  std::string_view cells() const { return std::string_view(frame_).substr(cells_at_); }

  // kIoError where the result is not such a message.
  Status ParseResult(google::protobuf::MessageLite& result) const;

 private:
  std::string frame_;
  uint32_t call_id_ = 0;
  std::optional<RemoteException> exception_;
  size_t result_at_ = 0;
  size_t result_length_ = 0;
  size_t cells_at_ = 0;
};

// No frame may be longer: a server that says so speaks something else.
inline constexpr uint32_t kMaxFrameLength = uint32_t{1} << 30;

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_FRAME_H_
