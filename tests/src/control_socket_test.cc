// SPDX-License-Identifier: MIT
#include "src/daemon/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

namespace cellfs {
namespace {

using nlohmann::json;

StatusOr<json> Echo(const Peer& /*peer*/, const ControlRequest& request, const TakeRecord& take) {
  if (request.command == "fail") return Status(StatusCode::kTableNotFound, "no table 'ä\n'");
  if (request.command == "long") return json(std::string(1'000'000, 'x'));
  if (request.command == "records") {
    for (int i = 0; i < 3; ++i) take({{"number", i}});
  }
  return json{{"command", request.command}, {"arguments", request.arguments}};
}

// The kernel's list of sockets is not to be found by another test's name.
std::string ADevice() {
  static std::atomic<int> last = 0;
  return "test:" + std::to_string(getpid()) + ":" + std::to_string(++last);
}

// A socket of the name's beginning, and what it is called.
sockaddr_un AddressAt(const std::string& name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

class ControlSocketTest : public ::testing::Test {
 protected:
  void Open(ControlServer::Handler handler = Echo) {
    auto server = ControlServer::Open({.device = mount_.device}, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
  }
  StatusOr<json> Call(const std::string& command, const json& arguments = json::object(),
                      const TakeRecord& take = nullptr) {
    CELLFS_ASSIGN_OR_RETURN(const auto connection, ControlConnection::Open(mount_));
    return connection->Call(command, arguments, take);
  }
  std::string NameOfServer() const {
    const std::string prefix = "@cellfs/" + std::to_string(geteuid()) + "/" + mount_.device + "/";
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);) {
      if (const size_t at = line.find(prefix); at != std::string::npos) return line.substr(at + 1);
    }
    return "";
  }
  // A connection to the daemon over which the line was sent as it is.
  int Send(const std::string& line) const {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = 0;
    const sockaddr_un address = AddressAt(NameOfServer(), length);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
    EXPECT_EQ(write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    return fd;
  }
  // What it says to that.
  std::string AnswerTo(const std::string& line) const {
    const int fd = Send(line);
    shutdown(fd, SHUT_WR);
    std::string answer;
    char bytes[256];
    for (ssize_t count = 0; (count = read(fd, bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<size_t>(count));
    close(fd);
    return answer;
  }

  const MountedStore mount_{.store = "", .mountpoint = "/m", .device = ADevice(),
                            .user = geteuid()};
  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlSocketTest, CarriesBytesBothWays) {
  Open();
  const json arguments = {{"row", std::string("\0\xff\n", 3)}, {"words", {"a", "ü", ""}}};
  const auto answer = Call("get", arguments);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ((*answer)["command"], "get");
  EXPECT_EQ((*answer)["arguments"], arguments);
}

TEST_F(ControlSocketTest, CarriesRecordsBeforeTheResult) {
  Open();
  std::vector<int> numbers;
  const auto answer = Call("records", json::object(), [&](const json& record) {
    numbers.push_back(record["number"]);
    return true;
  });
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2}));
}

TEST_F(ControlSocketTest, CarriesCodeAndMessageOfAnError) {
  Open();
  const auto answer = Call("fail");
  EXPECT_EQ(answer.status().code(), StatusCode::kTableNotFound);
  EXPECT_EQ(answer.status().message(), "no table 'ä\n'");
}

TEST_F(ControlSocketTest, CarriesLongAnswersAndQuestions) {
  Open();
  const auto answer = Call("long", {{"value", std::string(3'000'000, '\xff')}});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->get<std::string>().size(), 1'000'000U);
}

TEST_F(ControlSocketTest, LongStringsFollowAndComeToTheirPlaces) {
  Open([](const Peer&, ControlRequest request, const TakeRecord& take) -> StatusOr<json> {
    take(request.arguments);
    return json{{"again", std::move(request.arguments)}};
  });
  const json arguments = {{"a/b~c", std::string(100'000, '\0')},
                          {"cells", {{{"value", std::string(70'000, '\n')}}, "short", 7}},
                          {"value", std::string(5'000'000, '\xff')}};
  json record;
  const auto answer = Call("x", arguments, [&](json taken) {
    record = std::move(taken);
    return true;
  });
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_TRUE(record == arguments);
  EXPECT_TRUE((*answer)["again"] == arguments);
}

TEST_F(ControlSocketTest, WhatFollowsNonsenseIsNotLookedAt) {
  Open();
  for (const char* line : {"{\"follow\": 1, \"command\": \"x\"}\n",
                           "{\"follow\": [[\"/command\", -1]], \"command\": \"x\"}\n",
                           "{\"follow\": [[\"/nowhere/to\", 5]], \"command\": \"x\"}\n",
                           "{\"follow\": [[\"no pointer\", 5]], \"command\": \"x\"}\n",
                           "{\"follow\": [[\"\", 5]], \"command\": \"x\"}\n",
                           "{\"follow\": [[\"/command\", 5, 6]], \"command\": \"x\"}\n"}) {
    const std::string answer = AnswerTo(line + std::string("{\"command\": \"x\"}\n"));
    EXPECT_NE(answer.find("IllegalArgument"), std::string::npos) << line << answer;
    EXPECT_EQ(answer.find("result"), std::string::npos) << line << answer;
  }
}

// What others may send is bounded, and said to be before it is in memory.
TEST_F(ControlSocketTest, LongRequestsShareTheMemoryOfOpenFiles) {
  fs::OpenFileMemory memory(8 << 20, 1 << 20);
  server_ = *ControlServer::Open({.device = mount_.device, .memory = &memory},
                                 [&](const Peer&, const ControlRequest& request,
                                     const TakeRecord&) -> StatusOr<json> {
                                   EXPECT_EQ(memory.used() > 0, request.command == "long");
                                   return json::object();
                                 });
  EXPECT_TRUE(Call("long", {{"value", std::string(3 << 20, 'x')}}).ok());
  EXPECT_TRUE(Call("short", {{"value", "x"}}).ok());
  const Status refused = Call("x", {{"value", std::string(5 << 20, 'x')}}).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable) << refused.message();
  EXPECT_NE(refused.message().find("open_file_limit"), std::string::npos) << refused.message();
  EXPECT_TRUE(Call("short").ok());
  EXPECT_EQ(memory.used(), 0U);
}

// Tells records until nobody takes them; that is a request that was cancelled.
auto TellsForEver(std::atomic<bool>& ended) {
  return [&ended](const Peer&, const ControlRequest& request,
                  const TakeRecord& take) -> StatusOr<json> {
    while (take({{"value", std::string(100'000, 'x')}})) {
    }
    EXPECT_TRUE(*request.cancelled);
    ended = true;
    return json::object();
  };
}

TEST_F(ControlSocketTest, WhoReadsNothingIsGivenUp) {
  std::atomic<bool> ended = false;
  server_ = *ControlServer::Open({.device = mount_.device, .patience = std::chrono::milliseconds(1)},
                                 TellsForEver(ended));
  const int fd = Send("{\"command\": \"x\"}\n");
  for (int i = 0; i < 6000 && !ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(ended);
  close(fd);
}

TEST_F(ControlSocketTest, WhoReadsALittleNowAndThenIsGivenUpToo) {
  std::atomic<bool> ended = false;
  server_ = *ControlServer::Open(
      {.device = mount_.device,
       .patience = std::chrono::minutes(10),
       .patience_in_all = std::chrono::milliseconds(200)},
      TellsForEver(ended));
  const int fd = Send("{\"command\": \"x\"}\n");
  for (int i = 0; i < 6000 && !ended; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    char some[64 << 10];
    EXPECT_GT(recv(fd, some, sizeof some, 0), 0);
  }
  EXPECT_TRUE(ended);
  close(fd);
}

TEST_F(ControlSocketTest, SaysWhoCalls) {
  Peer seen;
  Open([&](const Peer& peer, const ControlRequest&, const TakeRecord&) -> StatusOr<json> {
    seen = peer;
    return json::object();
  });
  ASSERT_TRUE(Call("x").ok());
  EXPECT_EQ(seen.pid, getpid());
  EXPECT_EQ(seen.uid, geteuid());
  EXPECT_EQ(seen.groups.front(), getegid());
}

TEST_F(ControlSocketTest, SaysWhereNoDaemonAnswers) {
  EXPECT_EQ(Call("status").status().code(), StatusCode::kUnavailable);
  Open();
  EXPECT_TRUE(Call("status").ok());
  server_->StopAccepting();
  EXPECT_EQ(Call("status").status().code(), StatusCode::kUnavailable);
  server_.reset();
  EXPECT_EQ(Call("status").status().code(), StatusCode::kUnavailable);
}

// The kernel has given the number of its device to another mount already.
TEST_F(ControlSocketTest, ADaemonOfAnotherStoreIsNotAsked) {
  server_ = *ControlServer::Open({.device = mount_.device, .store = "/another"}, Echo);
  EXPECT_EQ(Call("get").status().code(), StatusCode::kUnavailable);
  Open();
  EXPECT_TRUE(Call("get").ok());
}

TEST_F(ControlSocketTest, TellsADaemonThatServesFromOthers) {
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kIsMissing);
  Open();
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kServes);
  server_.reset();
  Open([](const Peer&, const ControlRequest&, const TakeRecord&) -> StatusOr<json> {
    return Status(StatusCode::kUnavailable, "ending");
  });
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kEnds);
}

// A socket that is listened to and never read from.
TEST_F(ControlSocketTest, TellsADaemonThatKeepsSilent) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t length = 0;
  const sockaddr_un address = AddressAt(
      "cellfs/" + std::to_string(geteuid()) + "/" + mount_.device + "/silent", length);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 0), 0);
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kIsSilent);
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kIsSilent) << "the queue is full";
  close(fd);
}

TEST_F(ControlSocketTest, ACommandWaitsForASilentDaemonForAWhile) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t length = 0;
  const sockaddr_un address = AddressAt(
      "cellfs/" + std::to_string(geteuid()) + "/" + mount_.device + "/silent", length);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 0), 0);
  const auto open = [&] {
    return ControlConnection::Open(mount_, std::chrono::milliseconds(50)).status();
  };
  EXPECT_EQ(open().code(), StatusCode::kIoError);
  EXPECT_NE(open().message().find("does not answer"), std::string::npos) << open().message();
  close(fd);

  Open([](const Peer&, const ControlRequest& request, const TakeRecord&) -> StatusOr<json> {
    if (request.command != "ping") std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    return json::object();
  });
  const auto connection = ControlConnection::Open(mount_, std::chrono::seconds(1));
  ASSERT_TRUE(connection.ok()) << connection.status().message();
  EXPECT_TRUE((*connection)->Call("long", json::object(), nullptr).ok())
      << "how long it takes is its own affair";
}

// Runs `act` as another user, in a process of its own; its result is the exit code.
int AsAnotherUser(const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
    _exit(act());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ControlSocketTest, NobodyElsePosesAsTheDaemon) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t impostor = fork();
  if (impostor == 0) {
    if (setuid(65534) != 0) _exit(99);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = 0;
    const sockaddr_un address = AddressAt("cellfs/0/" + mount_.device + "/0", length);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) _exit(98);
    if (listen(fd, 8) != 0 || write(ready[1], "x", 1) != 1) _exit(97);
    char byte = 0;
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(AskDaemon(mount_), DaemonState::kIsMissing);
  Open();
  EXPECT_TRUE(Call("status").ok()) << "the daemon's is found beside it";
  ASSERT_EQ(write(done[1], "x", 1), 1);
  waitpid(impostor, nullptr, 0);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_F(ControlSocketTest, IsForItsOwnerUnlessTheMountIsForAll) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  Open();
  const auto call = [&] { return static_cast<int>(Call("status").status().code()); };
  EXPECT_EQ(AsAnotherUser(call), static_cast<int>(StatusCode::kAccessDenied));
  server_ = *ControlServer::Open({.device = mount_.device, .is_for_all = true}, Echo);
  EXPECT_EQ(AsAnotherUser(call), 0);
}

TEST_F(ControlSocketTest, AUserHasAFewConnectionsAndLeavesTheOthersTheirs) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  server_ = *ControlServer::Open(
      {.device = mount_.device, .is_for_all = true, .connections_of_a_user = 2}, Echo);
  EXPECT_EQ(AsAnotherUser([&] {
              std::vector<std::unique_ptr<ControlConnection>> held;
              for (int i = 0; i < 2; ++i) {
                held.push_back(*ControlConnection::Open(mount_));
                if (!held.back()->Call("x", json::object(), nullptr).ok()) return 1;
              }
              return Call("x").status().code() == StatusCode::kUnavailable ? 0 : 2;
            }),
            0);
  EXPECT_TRUE(Call("x").ok());
}

TEST_F(ControlSocketTest, ACommandHearsThatItsCallerHasGone) {
  std::atomic<bool> heard = false;
  Open([&](const Peer&, const ControlRequest& request, const TakeRecord&) -> StatusOr<json> {
    for (int i = 0; i < 1000 && !*request.cancelled; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    heard = request.cancelled->load();
    return json::object();
  });
  const int fd = Send("{\"command\": \"x\"}\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  close(fd);
  for (int i = 0; i < 1000 && !heard; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(heard);
}

TEST_F(ControlSocketTest, AnswersNonsenseWithAnErrorAndGoesOn) {
  Open();
  for (const char* line : {"nonsense\n", "{\"command\": 1}\n", "[]\n",
                           "{\"command\": \"x\", \"arguments\": 7}\n", "\xff\n",
                           "[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"}) {
    EXPECT_NE(AnswerTo(line).find("IllegalArgument"), std::string::npos) << line;
  }
  EXPECT_TRUE(Call("status").ok());
}

TEST_F(ControlSocketTest, AnswersSeveralCallersAtATime) {
  Open();
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int call = 0; call < 20; ++call) {
        const std::string command = "c" + std::to_string(caller) + "-" + std::to_string(call);
        const auto answer = Call(command);
        if (answer.ok() && (*answer)["command"] == command) ++right;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 160);
}

TEST_F(ControlSocketTest, EndsAlthoughACallerStaysConnected) {
  Open();
  const auto connection = ControlConnection::Open(mount_);
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE((*connection)->Call("x", json::object(), nullptr).ok());
  server_.reset();
  EXPECT_FALSE((*connection)->Call("x", json::object(), nullptr).ok());
}

}  // namespace
}  // namespace cellfs
