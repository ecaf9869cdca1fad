// SPDX-License-Identifier: MIT
#include "src/mount/store_name.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "engine/descriptor.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

TEST(StoreName, ClusterIsItsServers) {
  const auto cluster = ParseRemote("hbase://m1:16000,10.0.0.2:16020,[fe80::1]:16000/");
  ASSERT_TRUE(cluster.ok());
  const std::vector<ServerAddress> servers = {
      {"m1", 16000}, {"10.0.0.2", 16020}, {"fe80::1", 16000}};
  EXPECT_EQ(cluster->servers, servers);
  EXPECT_TRUE(cluster->names.empty());
  EXPECT_EQ(cluster->store(), "hbase://m1:16000,10.0.0.2:16020,[fe80::1]:16000/");
}

TEST(StoreName, PathGoesOnBehindTheServers) {
  const auto cluster = ParseRemote("hbase://m1:16000/default//notes/monday/");
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster->names, (std::vector<std::string>{"default", "notes", "monday"}));
  EXPECT_EQ(cluster->store(), "hbase://m1:16000/");
}

TEST(StoreName, WhatIsNoServerIsRefusedWithTheFormThatIsMeant) {
  for (const char* const name :
       {"hbase://", "hbase:///default", "hbase://m1", "hbase://m1:", "hbase://:16000",
        "hbase://m1:0", "hbase://m1:65536", "hbase://m1:x", "hbase://m1:16000,",
        "hbase://m1:1,,m2:2", "hbase://[]:1"}) {
    const auto cluster = ParseRemote(name);
    EXPECT_EQ(cluster.status().code(), StatusCode::kIllegalArgument) << name;
    EXPECT_NE(cluster.status().message().find("hbase://HOST:PORT"), std::string::npos) << name;
  }
}

TEST(StoreName, DatabaseIsItsServerAndUser) {
  const auto name = ParseRemote("obkv://root@tenant#cluster@db1:2881/shop/htable1");
  ASSERT_TRUE(name.ok()) << name.status().ToString();
  EXPECT_EQ(name->kind, RemoteKind::kDatabase);
  EXPECT_EQ(name->user, "root@tenant#cluster");
  EXPECT_EQ(name->servers, (std::vector<ServerAddress>{{"db1", 2881}}));
  EXPECT_EQ(name->names, (std::vector<std::string>{"shop", "htable1"}));
  EXPECT_EQ(name->store(), "obkv://root@tenant#cluster@db1:2881/");
  for (const char* const wrong :
       {"obkv://", "obkv://db1", "obkv://a:1,b:2/", "obkv://u@/x", "obkv://u@:3306"}) {
    const auto refused = ParseRemote(wrong);
    EXPECT_EQ(refused.status().code(), StatusCode::kIllegalArgument) << wrong;
    EXPECT_NE(refused.status().message().find("obkv://[USER@]HOST:PORT"), std::string::npos)
        << wrong;
  }
}

TEST(StoreName, SocketEndsWhereOneLies) {
  const TemporaryDirectory directory;
  const std::string socket = directory.path() + "/s";
  const auto whole = ParseRemote("obkv+unix://" + socket + "/shop");
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  EXPECT_EQ(whole->socket, socket + "/shop") << "there is none yet";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket.size(), sizeof address.sun_path);
  socket.copy(address.sun_path, socket.size());
  const Descriptor bound(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(bound.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto name = ParseRemote("obkv+unix://me@" + socket + "/shop/htable1/");
  ASSERT_TRUE(name.ok()) << name.status().ToString();
  EXPECT_EQ(name->socket, socket);
  EXPECT_EQ(name->user, "me");
  EXPECT_EQ(name->names, (std::vector<std::string>{"shop", "htable1"}));
  EXPECT_EQ(name->store(), "obkv+unix://me@" + socket + "/");
  EXPECT_EQ(CanonicalStore("obkv+unix://" + socket + "//"), "obkv+unix://" + socket + "/");
  for (const char* const wrong : {"obkv+unix://", "obkv+unix:///", "obkv+unix://host/s"})
    EXPECT_EQ(ParseRemote(wrong).status().code(), StatusCode::kIllegalArgument) << wrong;
}

TEST(StoreName, CanonicalNameIsWrittenInOneWay) {
  EXPECT_EQ(CanonicalStore("hbase://m1:16000"), "hbase://m1:16000/");
  EXPECT_EQ(CanonicalStore("hbase://m1:016000/"), "hbase://m1:16000/");
  EXPECT_EQ(CanonicalStore("hbase://wrong"), "hbase://wrong");
  EXPECT_EQ(CanonicalStore("store/../other"),
            (std::filesystem::current_path() / "other").string());
}

}  // namespace
}  // namespace cellfs
