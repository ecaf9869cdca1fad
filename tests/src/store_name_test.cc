// SPDX-License-Identifier: MIT
#include "src/mount/store_name.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace cellfs {
namespace {

TEST(StoreName, ClusterIsItsServers) {
  const auto cluster = ParseCluster("hbase://m1:16000,10.0.0.2:16020,[fe80::1]:16000/");
  ASSERT_TRUE(cluster.ok());
  const std::vector<ServerAddress> servers = {
      {"m1", 16000}, {"10.0.0.2", 16020}, {"fe80::1", 16000}};
  EXPECT_EQ(cluster->servers, servers);
  EXPECT_TRUE(cluster->names.empty());
  EXPECT_EQ(cluster->store(), "hbase://m1:16000,10.0.0.2:16020,[fe80::1]:16000/");
}

TEST(StoreName, PathGoesOnBehindTheServers) {
  const auto cluster = ParseCluster("hbase://m1:16000/default//notes/monday/");
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster->names, (std::vector<std::string>{"default", "notes", "monday"}));
  EXPECT_EQ(cluster->store(), "hbase://m1:16000/");
}

TEST(StoreName, WhatIsNoServerIsRefusedWithTheFormThatIsMeant) {
  for (const char* const name :
       {"hbase://", "hbase:///default", "hbase://m1", "hbase://m1:", "hbase://:16000",
        "hbase://m1:0", "hbase://m1:65536", "hbase://m1:x", "hbase://m1:16000,",
        "hbase://m1:1,,m2:2", "hbase://[]:1"}) {
    const auto cluster = ParseCluster(name);
    EXPECT_EQ(cluster.status().code(), StatusCode::kIllegalArgument) << name;
    EXPECT_NE(cluster.status().message().find("hbase://HOST:PORT"), std::string::npos) << name;
  }
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
