// SPDX-License-Identifier: MIT
#include "engine/hbase/connection.h"

#include <gtest/gtest.h>
#include <hbase.pb.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/engine/hbase/scripted_server.h"

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = Reply::End;

const pb::GetClusterIdRequest kNothing;
const Call kWhoIsIt{.method = "GetClusterId", .parameter = &kNothing};

std::string IdFrame(uint32_t call, const std::string& id) {
  pb::GetClusterIdResponse response;
  response.set_cluster_id(id);
  return AnswerFrame(call, response);
}

std::string IdIn(const Reply& reply) {
  pb::GetClusterIdResponse response;
  return reply.answer.ParseResult(response).ok() ? response.cluster_id() : "no result";
}

std::unique_ptr<Connection> ConnectionTo(const ScriptedServer& server) {
  auto connection = Connect(server.address(), Service::kClientMeta, "ada", Patience::For(seconds(5)));
  EXPECT_TRUE(connection.ok()) << connection.status().ToString();
  return *std::move(connection);
}

TEST(Connection, CallsAndIsAnswered) {
  ScriptedServer server([](const ReceivedCall& call) -> Reaction {
    return {IdFrame(call.id, call.service + " for " + call.user)};
  });
  const auto connection = ConnectionTo(server);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
  ASSERT_EQ(reply.end, End::kAnswered) << reply.why.ToString();
  EXPECT_EQ(IdIn(reply), "ClientMetaService for ada");
}

TEST(Connection, SendsCellsAndGetsOthers) {
  ScriptedServer server([](const ReceivedCall& call) -> Reaction {
    return {AnswerFrame(call.id, pb::GetClusterIdResponse(), call.cells + call.cells)};
  });
  const auto connection = ConnectionTo(server);
  const std::string cells(3'000'000, 'c');
  Call call = kWhoIsIt;
  call.cells = cells;
  const Reply reply = connection->Make(call, Patience::For(seconds(20)));
  ASSERT_EQ(reply.end, End::kAnswered) << reply.why.ToString();
  EXPECT_EQ(reply.answer.cells(), cells + cells);
}

// The server keeps the first call back until the others have been answered.
TEST(Connection, CallsOverlap) {
  std::mutex mutex;
  std::string kept_back;
  ScriptedServer server([&](const ReceivedCall& call) -> Reaction {
    const std::lock_guard lock(mutex);
    const std::string answer = IdFrame(call.id, std::to_string(call.id));
    if (kept_back.empty()) {
      kept_back = answer;
      return {};
    }
    return {answer + std::exchange(kept_back, answer)};
  });
  const auto connection = ConnectionTo(server);
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
      if (reply.end == End::kAnswered &&
          IdIn(reply) == std::to_string(reply.answer.call_id())) {
        ++answered;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, 8);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Connection, WhereNobodyListensThereIsNone) {
  ServerAddress nobody;
  {
    const ScriptedServer server([](const ReceivedCall&) -> Reaction { return {}; });
    nobody = server.address();
  }
  const auto connection = Connect(nobody, Service::kClient, "ada", Patience::For(seconds(5)));
  ASSERT_FALSE(connection.ok());
  EXPECT_EQ(connection.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(connection.status().message(),
            "cannot connect to " + nobody.ToString() + ": Connection refused");
}

TEST(Connection, ACallEndsAtItsDeadline) {
  ScriptedServer server([](const ReceivedCall&) -> Reaction { return {}; });
  const auto connection = ConnectionTo(server);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(milliseconds(50)));
  EXPECT_EQ(reply.end, End::kUnanswered);
  EXPECT_EQ(reply.why.message(), server.address().ToString() + " does not answer in time");
}

// A server that answers nothing at all for as long as a caller waits is given up.
TEST(Connection, OneThatStandsStillIsBroken) {
  ScriptedServer server([](const ReceivedCall&) -> Reaction { return {}; });
  const auto connection = ConnectionTo(server);
  connection->Make(kWhoIsIt, Patience::For(milliseconds(50)));
  EXPECT_FALSE(connection->is_open());
  EXPECT_EQ(connection->Make(kWhoIsIt, Patience::For(seconds(5))).end, End::kNotSent);
}

// A call that is answered late is nobody's, and the connection serves others.
TEST(Connection, AnAnswerThatComesTooLateIsDropped) {
  std::latch came(1);
  std::string late;
  ScriptedServer server([&](const ReceivedCall& call) -> Reaction {
    if (call.method != "Late") return {late + IdFrame(call.id, "in time")};
    late = IdFrame(call.id, "late");
    came.count_down();
    return {};
  });
  const auto connection = ConnectionTo(server);
  std::atomic<bool> cancelled = false;
  std::thread gives_up([&] {
    came.wait();
    cancelled = true;
  });
  const Reply unanswered =
      connection->Make({.method = "Late"}, Patience::For(seconds(20), &cancelled));
  gives_up.join();
  EXPECT_EQ(unanswered.end, End::kUnanswered);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(20)));
  ASSERT_EQ(reply.end, End::kAnswered) << reply.why.ToString();
  EXPECT_EQ(IdIn(reply), "in time");
}

TEST(Connection, ACallIsCancelled) {
  std::latch came(1);
  ScriptedServer server([&](const ReceivedCall&) -> Reaction {
    came.count_down();
    return {};
  });
  const auto connection = ConnectionTo(server);
  std::atomic<bool> cancelled = false;
  std::thread cancels([&] {
    came.wait();
    cancelled = true;
  });
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(std::chrono::hours(1), &cancelled));
  cancels.join();
  EXPECT_EQ(reply.end, End::kUnanswered);
}

// An answer that is cut off at any byte is none, and all callers hear of it.
TEST(Connection, AnAnswerThatIsCutOffIsNone) {
  const size_t length = IdFrame(1, "the whole id").size();
  for (size_t sent = 0; sent < length; ++sent) {
    ScriptedServer server([&](const ReceivedCall& call) -> Reaction {
      return {IdFrame(call.id, "the whole id").substr(0, sent), true};
    });
    const auto connection = ConnectionTo(server);
    const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
    ASSERT_EQ(reply.end, End::kUnanswered) << sent;
    EXPECT_EQ(reply.why.code(), StatusCode::kUnavailable);
    EXPECT_FALSE(connection->is_open());
  }
}

TEST(Connection, AnotherProtocolIsTold) {
  ScriptedServer server(
      [](const ReceivedCall&) -> Reaction { return {"HTTP/1.1 400 Bad Request\r\n\r\n"}; });
  const auto connection = ConnectionTo(server);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
  EXPECT_EQ(reply.end, End::kUnanswered);
  EXPECT_EQ(reply.why.message(), "lost the connection to " + server.address().ToString() +
                                     ": the server speaks another protocol");
}

TEST(Connection, AnExceptionIsAnAnswer) {
  ScriptedServer server([](const ReceivedCall& call) -> Reaction {
    return {ExceptionFrame(call.id, {"a.b.TableNotFoundException", "t"})};
  });
  const auto connection = ConnectionTo(server);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
  ASSERT_EQ(reply.end, End::kAnswered);
  ASSERT_TRUE(reply.answer.exception());
  EXPECT_EQ(reply.answer.exception()->message, "t");
  EXPECT_TRUE(connection->is_open());
}

// What the server says of the connection as a whole has the number of no call.
TEST(Connection, ARefusalOfTheWholeIsTold) {
  ScriptedServer server([](const ReceivedCall&) -> Reaction {
    return {ExceptionFrame(0xffffffff, {"a.b.AccessDeniedException", "no such user"})};
  });
  const auto connection = ConnectionTo(server);
  const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(5)));
  EXPECT_EQ(reply.end, End::kUnanswered);
  EXPECT_EQ(reply.why.ToString(), "AccessDenied: no such user");
}

// While the server does not read, a call that nothing was sent of has not happened.
TEST(Connection, WhatWasNotSentHasNotHappened) {
  std::latch came(1);
  std::latch may_read(1);
  ScriptedServer server([&](const ReceivedCall& call) -> Reaction {
    came.count_down();
    may_read.wait();
    return {IdFrame(call.id, "read at last")};
  });
  const auto connection = ConnectionTo(server);
  std::thread first([&] {
    const Reply reply = connection->Make(kWhoIsIt, Patience::For(seconds(20)));
    EXPECT_EQ(reply.end, End::kAnswered);
  });
  came.wait();
  // More than the buffers between take: begun, and so it may happen.
  const std::string large(64'000'000, 'c');
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(connection
                ->Make({.method = "GetClusterId", .parameter = &kNothing, .cells = large},
                       Patience::For(seconds(20), &cancelled))
                .end,
            End::kUnanswered);
  EXPECT_EQ(connection->Make(kWhoIsIt, Patience::For(milliseconds(100))).end, End::kNotSent);
  may_read.count_down();
  first.join();
}

}  // namespace
}  // namespace cellfs::hbase
