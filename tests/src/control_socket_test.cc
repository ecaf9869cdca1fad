// SPDX-License-Identifier: MIT
#include "src/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

StatusOr<std::string> Echo(const std::string& command, const Arguments& arguments) {
  if (command == "fail") return Status(StatusCode::kTableNotFound, "no table 'ä\n'");
  if (command == "long") return "\"" + std::string(1'000'000, 'x') + "\"";
  std::string text = command;
  for (const auto& [name, value] : arguments) text += " " + name + "=" + value;
  return "\"" + text + "\"";
}

// What the daemon says to a line that is sent as it is.
std::string AnswerTo(const std::string& store_directory, const std::string& line) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = store_directory + "/control.sock";
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  shutdown(fd, SHUT_WR);
  std::string answer;
  char bytes[256];
  for (ssize_t count = 0; (count = read(fd, bytes, sizeof bytes)) > 0;) {
    answer.append(bytes, static_cast<size_t>(count));
  }
  close(fd);
  return answer;
}

class ControlSocketTest : public ::testing::Test {
 protected:
  void Open(const std::string& directory) {
    auto server = ControlServer::Open(directory, Echo);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlSocketTest, CarriesCommandArgumentsAndResult) {
  Open(directory_.path());
  auto answer = CallDaemon(directory_.path(), "flush", {{"table", "ns:t"}, {"x", "ü"}});
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "\"flush table=ns:t x=ü\"");
}

TEST_F(ControlSocketTest, CarriesCodeAndMessageOfAnError) {
  Open(directory_.path());
  auto answer = CallDaemon(directory_.path(), "fail", {});
  EXPECT_EQ(answer.status().code(), StatusCode::kTableNotFound);
  EXPECT_EQ(answer.status().message(), "no table 'ä\n'");
}

TEST_F(ControlSocketTest, CarriesLongAnswers) {
  Open(directory_.path());
  auto answer = CallDaemon(directory_.path(), "long", {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->size(), 1'000'002u);
}

TEST_F(ControlSocketTest, SaysWhereNoDaemonAnswers) {
  EXPECT_EQ(CallDaemon(directory_.path(), "status", {}).status().code(), StatusCode::kUnavailable);
  Open(directory_.path());
  server_.reset();
  EXPECT_EQ(CallDaemon(directory_.path(), "status", {}).status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/control.sock"));
}

TEST_F(ControlSocketTest, TellsADaemonThatServesFromOthers) {
  EXPECT_EQ(AskDaemon(directory_.path()), DaemonState::kIsMissing);
  EXPECT_EQ(AskDaemon(directory_.path() + "/missing"), DaemonState::kIsMissing);
  Open(directory_.path());
  EXPECT_EQ(AskDaemon(directory_.path()), DaemonState::kServes);
  server_.reset();
  server_ = *ControlServer::Open(directory_.path(), [](const auto&, const auto&) {
    return Status(StatusCode::kUnavailable, "ending");
  });
  EXPECT_EQ(AskDaemon(directory_.path()), DaemonState::kEnds);
}

// A socket that is listened to and never read from.
TEST_F(ControlSocketTest, TellsADaemonThatKeepsSilent) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory_.path() + "/control.sock";
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 0), 0);
  EXPECT_EQ(AskDaemon(directory_.path()), DaemonState::kIsSilent);
  EXPECT_EQ(AskDaemon(directory_.path()), DaemonState::kIsSilent) << "the queue is full";
  close(fd);
}

TEST_F(ControlSocketTest, ReplacesWhatADeadDaemonLeft) {
  std::ofstream(directory_.path() + "/control.sock") << "left";
  Open(directory_.path());
  EXPECT_TRUE(CallDaemon(directory_.path(), "status", {}).ok());
}

TEST_F(ControlSocketTest, IsForItsOwnerOnly) {
  Open(directory_.path());
  struct stat attributes {};
  ASSERT_EQ(stat((directory_.path() + "/control.sock").c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777, 0600u);
}

TEST_F(ControlSocketTest, WorksInADirectoryWithALongName) {
  const std::string deep = directory_.path() + "/" + std::string(200, 'd');
  ASSERT_TRUE(std::filesystem::create_directory(deep));
  Open(deep);
  EXPECT_TRUE(CallDaemon(deep, "status", {}).ok());
}

TEST_F(ControlSocketTest, TakesArgumentsThatAreNoUtf8) {
  Open(directory_.path());
  EXPECT_TRUE(CallDaemon(directory_.path(), "flush", {{"table", "\xff"}}).ok());
}

TEST_F(ControlSocketTest, AnswersNonsenseWithAnErrorAndGoesOn) {
  Open(directory_.path());
  for (const char* line : {"nonsense\n", "{\"command\": 1}\n", "[]\n",
                           "{\"command\": \"x\", \"arguments\": 7}\n", "\xff\n"}) {
    EXPECT_NE(AnswerTo(directory_.path(), line).find("IllegalArgument"), std::string::npos) << line;
  }
  EXPECT_TRUE(CallDaemon(directory_.path(), "status", {}).ok());
}

TEST_F(ControlSocketTest, AnswersSeveralCallersAtATime) {
  Open(directory_.path());
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int call = 0; call < 20; ++call) {
        const std::string command = "c" + std::to_string(caller) + "-" + std::to_string(call);
        auto answer = CallDaemon(directory_.path(), command, {});
        if (answer.ok() && *answer == "\"" + command + "\"") ++right;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 160);
}

TEST_F(ControlSocketTest, EndsAlthoughACallerStaysConnected) {
  Open(directory_.path());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory_.path() + "/control.sock";
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  server_.reset();
  char byte = 0;
  EXPECT_LE(read(fd, &byte, 1), 0);  // an end, or a reset where it was not yet accepted
  close(fd);
}

}  // namespace
}  // namespace cellfs
