// SPDX-License-Identifier: MIT
#include "engine/hbase/frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <hbase.pb.h>

#include <algorithm>

#include "engine/big_endian.h"
#include "engine/hbase/cell_block.h"

namespace cellfs::hbase {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

constexpr char kMagic[] = "HBas";
constexpr char kProtocolVersion = 0;
constexpr char kSimpleAuthentication = 0x50;
constexpr uint32_t kHighPriority = 200;  // HConstants.HIGH_QOS: a server's queue for meta

// A server takes some decisions by its client's version, as that of partial results.
constexpr char kSpokenVersion[] = "2.6.0";

void AppendDelimited(const MessageLite& message, std::string& bytes) {
  StringOutputStream stream(&bytes);
  CodedOutputStream out(&stream);
  out.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
  message.SerializeWithCachedSizes(&out);
}

// Where the message lies that begins at `at` with its length; moves `at` behind it. Nothing where
// the bytes end before it does.
std::optional<std::string_view> TakeDelimited(std::string_view bytes, size_t& at) {
  const std::string_view rest = bytes.substr(at);
  CodedInputStream in(reinterpret_cast<const uint8_t*>(rest.data()), static_cast<int>(rest.size()));
  uint32_t length = 0;
  if (!in.ReadVarint32(&length)) return std::nullopt;
  const auto begins = static_cast<size_t>(in.CurrentPosition());
  if (length > rest.size() - begins) return std::nullopt;
  at += begins + length;
  return rest.substr(begins, length);
}

bool Parse(std::string_view bytes, MessageLite& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Status NoAnswer(const std::string& what) {
  return {StatusCode::kIoError, "the server sent what is no answer: " + what};
}

RemoteException ExceptionIn(const pb::ExceptionResponse& response) {
  RemoteException exception;
  exception.class_name = response.exception_class_name();
  exception.message = MessageIn(response.stack_trace(), exception.class_name);
  exception.do_not_retry = response.do_not_retry();
  exception.is_overloaded = response.server_overloaded();
  if (response.has_hostname()) {
    exception.moved_to = ServerAddress{response.hostname(), static_cast<uint16_t>(response.port())};
  }
  return exception;
}

}  // namespace

std::string_view NameOf(Service service) {
  switch (service) {
    case Service::kClient: return "ClientService";
    case Service::kClientMeta: return "ClientMetaService";
    case Service::kMaster: return "MasterService";
    case Service::kAdmin: return "AdminService";
  }
  return "";
}

std::string OpeningOf(Service service, const std::string& user) {
  pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user(user);
  header.set_service_name(std::string(NameOf(service)));
  header.set_cell_block_codec_class(std::string(kCellBlockCodec));
  pb::VersionInfo& version = *header.mutable_version_info();
  version.set_version(kSpokenVersion);
  version.set_version_major(2);
  version.set_version_minor(6);
  version.set_url("");
  version.set_revision("");
  version.set_user(user);
  version.set_date("");
  version.set_src_checksum("");

  std::string bytes(kMagic);
  bytes += kProtocolVersion;
  bytes += kSimpleAuthentication;
  AppendBigEndian(static_cast<uint32_t>(header.ByteSizeLong()), bytes);
  header.AppendToString(&bytes);
  return bytes;
}

std::string EncodeCall(uint32_t id, const Call& call, std::chrono::milliseconds within) {
  pb::RequestHeader header;
  header.set_call_id(id);
  header.set_method_name(std::string(call.method));
  header.set_request_param(call.parameter != nullptr);
  header.set_timeout(static_cast<uint32_t>(std::min(within, call.longest).count()));
  if (call.is_urgent) header.set_priority(kHighPriority);
  if (!call.cells.empty()) {
    header.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(call.cells.size()));
  }
  std::string frame(sizeof(uint32_t), '\0');
  AppendDelimited(header, frame);
  if (call.parameter != nullptr) AppendDelimited(*call.parameter, frame);
  frame += call.cells;
  std::string length;
  AppendBigEndian(static_cast<uint32_t>(frame.size() - sizeof(uint32_t)), length);
  return frame.replace(0, length.size(), length);
}

StatusOr<Answer> Answer::Decode(std::string frame) {
  Answer answer;
  answer.frame_ = std::move(frame);
  const std::string_view bytes = answer.frame_;
  size_t at = 0;
  pb::ResponseHeader header;
  const auto header_bytes = TakeDelimited(bytes, at);
  if (!header_bytes || !Parse(*header_bytes, header)) return NoAnswer("its header is cut off");
  answer.call_id_ = header.call_id();
  if (header.has_exception()) {
    answer.exception_ = ExceptionIn(header.exception());
    answer.cells_at_ = bytes.size();
    return answer;
  }
  if (at < bytes.size()) {  // else an empty result of a server that leaves it out
    const auto result = TakeDelimited(bytes, at);
    if (!result) return NoAnswer("its result is cut off");
    answer.result_at_ = static_cast<size_t>(result->data() - bytes.data());
    answer.result_length_ = result->size();
  }
  answer.cells_at_ = at;
  if (bytes.size() - at != header.cell_block_meta().length()) {
    return NoAnswer("its cells have another length");
  }
  return answer;
}

Status Answer::ParseResult(MessageLite& result) const {
  if (Parse(std::string_view(frame_).substr(result_at_, result_length_), result)) return {};
  return NoAnswer("its result is another message than was asked for");
}

}  // namespace cellfs::hbase
