// SPDX-License-Identifier: MIT
//
// A server of HBase's protocol that does as it is told: answers right, wrongly, late, half or not at
// all. It listens on the loopback interface and lives as long as the object.
//
//     ScriptedServer server([](const ReceivedCall& call) -> Reaction {
//       return {.bytes = AnswerFrame(call.id, pb::GetClusterIdResponse())};
//     });
#ifndef CELLFS_TESTS_ENGINE_HBASE_SCRIPTED_SERVER_H_
#define CELLFS_TESTS_ENGINE_HBASE_SCRIPTED_SERVER_H_

#include <hbase.pb.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/descriptor.h"
#include "engine/remote/patience.h"
#include "engine/server_address.h"

namespace cellfs::hbase {

struct ReceivedCall {
  std::string service;  // "ClientService"
  std::string user;
  size_t connection = 0;  // the how-manieth
  uint32_t id = 0;
  std::string method;
  std::string parameter;
  std::string cells;
  uint32_t timeout = 0;  // milliseconds

  // The parameter as the message that the method takes.
  template <typename Message>
  Message As() const {
    Message message;
    message.ParseFromString(parameter);
    return message;
  }
};

// What the server does about a call, before it reads the next of the connection.
struct Reaction {
  std::string bytes = {};  // sends them
  bool closes = false;     // closes the connection then
};

// Frames of answers, with their length.
std::string AnswerFrame(uint32_t id, const google::protobuf::MessageLite& result,
                        std::string_view cells = {});
struct ThrownException {
  std::string class_name;  // "org.apache.hadoop.hbase.NotServingRegionException"
  std::string message = {};
  bool do_not_retry = false;
};
std::string ExceptionFrame(uint32_t id, const ThrownException& exception);

// Time for what answers at once.
inline Patience Soon() { return Patience::For(std::chrono::seconds(10)); }

class ScriptedServer {
 public:
  // Called by the threads of its connections, several at a time.
  using Script = std::function<Reaction(const ReceivedCall&)>;

  explicit ScriptedServer(Script script);
  ~ScriptedServer();  // the script has returned from every call then
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  const ServerAddress& address() const { return address_; }
  size_t connections() const;  // that have been made
  // Of the next call whose frame has these bytes in it so many are read, and then the connection
  // ends; the script does not hear of it.
  void CutNextCall(std::string mark, size_t at);
  size_t cut_call() const;  // how many the one had that was cut last

 private:
  void Accept();
  void Serve(int descriptor, size_t number);
  bool ReceiveCall(int descriptor, std::string& frame);

  const Script script_;
  Descriptor listener_;
  ServerAddress address_;
  mutable std::mutex mutex_;
  bool ends_ = false;
  std::string cut_mark_;  // empty: nothing is to be cut
  size_t cut_at_ = 0;
  size_t cut_call_ = 0;
  std::set<int> open_;
  std::vector<std::thread> threads_;  // of the connections
  std::thread accepting_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_TESTS_ENGINE_HBASE_SCRIPTED_SERVER_H_
