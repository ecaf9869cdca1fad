// SPDX-License-Identifier: MIT
#include "src/daemon/message_stream.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr char kFollow[] = "follow";
constexpr size_t kPiece = size_t{64} << 10;
constexpr uint64_t kParsed = 8;  // times its bytes a line takes, once it is parsed

void SetTimeout(int socket, int which, std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timeval time{
      .tv_sec = seconds.count(),
      .tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(patience - seconds).count()};
  setsockopt(socket, SOL_SOCKET, which, &time, sizeof time);
}

Status Ended() { return {StatusCode::kOutcomeUnknown, "the other side has ended"}; }

Status NoMessage(const std::string& what) { return {StatusCode::kIllegalArgument, what}; }

bool IsLong(const json& value) {
  if (value.is_string())
    return value.get_ref<const std::string&>().size() >= MessageStream::kLongString;
  return value.is_structured() && std::any_of(value.begin(), value.end(), IsLong);
}

struct LongString {
  json::json_pointer place;
  std::string bytes;
};

// Moves the long strings out of the value.
void TakeLong(json& value, const json::json_pointer& place, std::vector<LongString>& taken) {
  if (!IsLong(value)) return;
  if (value.is_string()) {
    taken.push_back({place, std::exchange(value.get_ref<std::string&>(), {})});
  } else if (value.is_object()) {
    for (auto& [name, member] : value.items()) TakeLong(member, place / name, taken);
  } else {
    for (size_t i = 0; i < value.size(); ++i) TakeLong(value[i], place / i, taken);
  }
}

}  // namespace

void MessageStream::SetPatience(std::chrono::milliseconds patience,
                                std::chrono::milliseconds in_all) {
  SetTimeout(socket_.get(), SO_SNDTIMEO, patience);
  patience_left_ = in_all;
}

void MessageStream::SetPatienceToReceive(std::chrono::milliseconds patience) const {
  SetTimeout(socket_.get(), SO_RCVTIMEO, patience);
}

bool MessageStream::Send(json message) {
  std::vector<LongString> follow;
  TakeLong(message, json::json_pointer(), follow);
  for (const LongString& string : follow)
    message[kFollow].push_back({string.place.to_string(), string.bytes.size()});
  return SendBytes(ToJsonText(std::move(message)) + '\n') &&
         std::all_of(follow.begin(), follow.end(),
                     [this](const LongString& string) { return SendBytes(string.bytes); });
}

bool MessageStream::SendBytes(const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const auto begin = std::chrono::steady_clock::now();
    const ssize_t count = send(socket_.get(), bytes.data() + done,
                               std::min(bytes.size() - done, kPiece), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    patience_left_ -= std::chrono::steady_clock::now() - begin;
    if (patience_left_ < std::chrono::steady_clock::duration::zero()) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

StatusOr<json> MessageStream::Receive(const MayTake& may_take) {
  is_broken_ = true;  // until it has come to its end
  CELLFS_ASSIGN_OR_RETURN(const std::string line, ReceiveLine(may_take));
  auto message = FromJsonText(line);
  if (message && message->is_object() && message->contains(kFollow))
    CELLFS_RETURN_IF_ERROR(ReceiveFollowing(*message, kParsed * line.size(), may_take));
  is_broken_ = false;
  is_between_messages_ = buffer_.empty();
  if (!message || !message->is_object()) return NoMessage("a message is a JSON object");
  return *std::move(message);
}

StatusOr<size_t> MessageStream::ReceiveSome(char* bytes, size_t most) {
  while (true) {
    const ssize_t count = recv(socket_.get(), bytes, most, 0);
    if (count > 0) {
      is_between_messages_ = false;
      return static_cast<size_t>(count);
    }
    const bool goes_on = errno == EINTR || (errno == EAGAIN && is_between_messages_);
    if (count == 0 || !goes_on) return Ended();
  }
}

StatusOr<std::string> MessageStream::ReceiveLine(const MayTake& may_take) {
  for (size_t searched = 0;;) {
    if (const size_t end = buffer_.find('\n', searched); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > kLongestLine) return NoMessage("a line of a message is too long");
    CELLFS_RETURN_IF_ERROR(may_take(kParsed * (searched + kPiece)));
    char bytes[kPiece];
    CELLFS_ASSIGN_OR_RETURN(const size_t count, ReceiveSome(bytes, sizeof bytes));
    buffer_.append(bytes, count);
  }
}

Status MessageStream::ReceiveFollowing(json& message, uint64_t bytes, const MayTake& may_take) {
  const json follow = std::move(message[kFollow]);
  message.erase(kFollow);
  if (!follow.is_array()) return NoMessage("'follow' is an array");
  for (const json& what : follow)
    CELLFS_RETURN_IF_ERROR(ReceiveString(what, message, bytes, may_take));
  return {};
}

// `what` is [place, length]. `bytes`: how many the message has.
Status MessageStream::ReceiveString(const json& what, json& message, uint64_t& bytes,
                                    const MayTake& may_take) {
  const bool is_understood = what.is_array() && what.size() == 2 && what[0].is_string() &&
                             what[1].is_number_unsigned();
  if (!is_understood) return NoMessage("'follow' says where and how long");
  std::string* string = nullptr;
  try {
    json& place = message.at(json::json_pointer(what[0].get<std::string>()));
    if (place.is_string()) string = &place.get_ref<std::string&>();
  } catch (const json::exception&) {
  }
  if (string == nullptr) return NoMessage("what follows has no place in the message");
  const auto length = what[1].get<uint64_t>();
  if (length > bytes + length) return NoMessage("what follows is too long");
  bytes += length;
  CELLFS_RETURN_IF_ERROR(may_take(bytes));
  string->resize(length);
  const size_t known = std::min<size_t>(buffer_.size(), length);
  buffer_.copy(string->data(), known);
  buffer_.erase(0, known);
  for (size_t done = known; done < length;) {
    CELLFS_ASSIGN_OR_RETURN(const size_t count,
                            ReceiveSome(string->data() + done, length - done));
    done += count;
  }
  return {};
}

}  // namespace cellfs
