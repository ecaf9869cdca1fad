// SPDX-License-Identifier: MIT
#include "engine/hbase/registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/engine/hbase/scripted_server.h"

namespace cellfs::hbase {
namespace {

// Answers with its own id, and names another server.
std::unique_ptr<ScriptedServer> ServerThatNames(const std::string& id,
                                                const ServerAddress& another) {
  return std::make_unique<ScriptedServer>([=](const ReceivedCall& call) -> Reaction {
    if (call.method == "GetBootstrapNodes") {
      pb::GetBootstrapNodesResponse response;
      pb::ServerName& name = *response.add_server_name();
      name.set_host_name(another.host);
      name.set_port(another.port);
      return {AnswerFrame(call.id, response)};
    }
    pb::GetClusterIdResponse response;
    response.set_cluster_id(id);
    return {AnswerFrame(call.id, response)};
  });
}

TEST(Registry, LearnsOfOtherServersBeforeItsOwnGo) {
  const ServerAddress nowhere{.host = "localhost", .port = 1};
  auto third = ServerThatNames("third", nowhere);
  auto second = ServerThatNames("second", third->address());
  auto first = ServerThatNames("first", second->address());
  ConnectionPool pool({.user = "ada"});
  Registry registry({nowhere, first->address()}, pool);
  EXPECT_EQ(*registry.ClusterId(Soon()), "first");
  first.reset();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // it learns no more often
  EXPECT_EQ(*registry.ClusterId(Soon()), "second");
  second.reset();
  EXPECT_EQ(*registry.ClusterId(Soon()), "third");
  third.reset();
  EXPECT_EQ(registry.ClusterId(Soon()).status().code(), StatusCode::kUnavailable);
}

// A cluster of one server of regions, which is replaced after the master was.
TEST(Registry, AsksTheMasterThatItWasToldOf) {
  ScriptedServer master([](const ReceivedCall& call) -> Reaction {
    pb::GetClusterIdResponse response;
    response.set_cluster_id("of the master");
    return {AnswerFrame(call.id, response)};
  });
  auto first = std::make_unique<ScriptedServer>([&](const ReceivedCall& call) -> Reaction {
    if (call.method == "GetBootstrapNodes") {
      return {AnswerFrame(call.id, pb::GetBootstrapNodesResponse())};
    }
    pb::GetActiveMasterResponse response;
    response.mutable_server_name()->set_host_name(master.address().host);
    response.mutable_server_name()->set_port(master.address().port);
    return {AnswerFrame(call.id, response)};
  });
  ConnectionPool pool({.user = "ada"});
  Registry registry({first->address()}, pool);
  EXPECT_EQ(*registry.ActiveMaster(Soon()), master.address());
  first.reset();
  EXPECT_EQ(*registry.ClusterId(Soon()), "of the master");
}

TEST(Registry, DoesNotNeedToLearn) {
  ScriptedServer old([](const ReceivedCall& call) -> Reaction {
    if (call.method == "GetBootstrapNodes") {
      return {ExceptionFrame(call.id, {"java.lang.UnsupportedOperationException", call.method})};
    }
    pb::GetClusterIdResponse response;
    response.set_cluster_id("old");
    return {AnswerFrame(call.id, response)};
  });
  ConnectionPool pool({.user = "ada"});
  Registry registry({old.address()}, pool);
  EXPECT_EQ(*registry.ClusterId(Soon()), "old");
}

}  // namespace
}  // namespace cellfs::hbase
