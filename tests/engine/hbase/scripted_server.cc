// SPDX-License-Identifier: MIT
#include "tests/engine/hbase/scripted_server.h"

#include <arpa/inet.h>
#include <google/protobuf/io/coded_stream.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "engine/big_endian.h"


namespace cellfs::hbase {
namespace {

bool ReceiveExactly(int descriptor, size_t length, std::string& bytes) {
  bytes.resize(length);
  return length == 0 ||
         recv(descriptor, bytes.data(), length, MSG_WAITALL) == static_cast<ssize_t>(length);
}

bool ReceiveFrame(int descriptor, std::string& frame) {
  std::string head;
  return ReceiveExactly(descriptor, 4, head) &&
         ReceiveExactly(descriptor, ReadBigEndian<uint32_t>(head), frame);
}

void AppendVarint(uint32_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

void AppendDelimited(const google::protobuf::MessageLite& message, std::string& bytes) {
  AppendVarint(static_cast<uint32_t>(message.ByteSizeLong()), bytes);
  message.AppendToString(&bytes);
}

std::string FrameOf(const std::string& content) {
  std::string frame;
  AppendBigEndian(static_cast<uint32_t>(content.size()), frame);
  return frame + content;
}

std::string TakeDelimited(google::protobuf::io::CodedInputStream& in) {
  uint32_t length = 0;
  std::string bytes;
  if (in.ReadVarint32(&length)) in.ReadString(&bytes, static_cast<int>(length));
  return bytes;
}

ReceivedCall CallIn(const std::string& frame) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(frame.data()),
                                            static_cast<int>(frame.size()));
  pb::RequestHeader header;
  header.ParseFromString(TakeDelimited(in));
  ReceivedCall call;
  call.id = header.call_id();
  call.method = header.method_name();
  call.timeout = header.timeout();
  if (header.request_param()) call.parameter = TakeDelimited(in);
  call.cells = frame.substr(static_cast<size_t>(in.CurrentPosition()));
  return call;
}

}  // namespace

std::string AnswerFrame(uint32_t id, const google::protobuf::MessageLite& result,
                        std::string_view cells) {
  pb::ResponseHeader header;
  header.set_call_id(id);
  if (!cells.empty()) {
    header.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(cells.size()));
  }
  std::string content;
  AppendDelimited(header, content);
  AppendDelimited(result, content);
  content += cells;
  return FrameOf(content);
}

std::string ExceptionFrame(uint32_t id, const ThrownException& exception) {
  pb::ResponseHeader header;
  header.set_call_id(id);
  header.mutable_exception()->set_exception_class_name(exception.class_name);
  header.mutable_exception()->set_stack_trace(exception.class_name + ": " + exception.message +
                                              "\n\tat org.example.Somewhere(Somewhere.java:1)");
  header.mutable_exception()->set_do_not_retry(exception.do_not_retry);
  std::string content;
  AppendDelimited(header, content);
  return FrameOf(content);
}

ScriptedServer::ScriptedServer(Script script)
    : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 16) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  address_ = {"127.0.0.1", ntohs(address.sin_port)};
  accepting_ = std::thread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    for (const int descriptor : open_) shutdown(descriptor, SHUT_RDWR);
  }
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
}

size_t ScriptedServer::connections() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void ScriptedServer::Accept() {
  for (;;) {
    const int descriptor = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (descriptor < 0 || ends_) {
      if (descriptor >= 0) close(descriptor);
      return;
    }
    open_.insert(descriptor);
    threads_.emplace_back([this, descriptor, number = threads_.size()] {
      Serve(descriptor, number);
      const std::lock_guard end(mutex_);
      open_.erase(descriptor);
      close(descriptor);
    });
  }
}

void ScriptedServer::CutNextCall(std::string mark, size_t at) {
  const std::lock_guard lock(mutex_);
  cut_mark_ = std::move(mark);
  cut_at_ = at;
}

size_t ScriptedServer::cut_call() const {
  const std::lock_guard lock(mutex_);
  return cut_call_;
}

// False: the connection has ended, or ends here. What is left unread of a call that is cut resets
// it, as where a server dies.
bool ScriptedServer::ReceiveCall(int descriptor, std::string& frame) {
  std::string head(4, '\0');
  if (recv(descriptor, head.data(), 4, MSG_PEEK | MSG_WAITALL) != 4) return false;
  std::string whole(4 + ReadBigEndian<uint32_t>(head), '\0');
  const auto length = static_cast<ssize_t>(whole.size());
  {
    const std::lock_guard lock(mutex_);
    if (!cut_mark_.empty() &&
        recv(descriptor, whole.data(), whole.size(), MSG_PEEK | MSG_WAITALL) == length &&
        whole.find(cut_mark_) != std::string::npos) {
      cut_mark_.clear();
      cut_call_ = whole.size();
      if (cut_at_ < whole.size()) {
        recv(descriptor, whole.data(), cut_at_, MSG_WAITALL);
        return false;
      }
    }
  }
  return ReceiveFrame(descriptor, frame);
}

void ScriptedServer::Serve(int descriptor, size_t number) {
  std::string preamble;
  std::string frame;
  if (!ReceiveExactly(descriptor, 6, preamble) || !ReceiveFrame(descriptor, frame)) return;
  pb::ConnectionHeader header;
  header.ParseFromString(frame);
  while (ReceiveCall(descriptor, frame)) {
    ReceivedCall call = CallIn(frame);
    call.service = header.service_name();
    call.user = header.user_info().effective_user();
    call.connection = number;
    const Reaction reaction = script_(call);
    send(descriptor, reaction.bytes.data(), reaction.bytes.size(), MSG_NOSIGNAL);
    if (reaction.closes) return;
  }
}

}  // namespace cellfs::hbase
