// SPDX-License-Identifier: MIT
#include "engine/hbase/server_clock.h"

#include <gtest/gtest.h>

#include <hbase.pb.h>

#include "tests/engine/hbase/fake_cluster.h"

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kMuch{30'000};

// Servers that have reported so long before now.
FakeCluster::Obstacle ReportedBefore(std::vector<milliseconds> times) {
  return [times = std::move(times)](const ReceivedCall& call) -> std::optional<Reaction> {
    const auto now = std::chrono::duration_cast<milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    pb::GetClusterStatusResponse response;
    response.mutable_cluster_status();
    for (const milliseconds time : times) {
      pb::LiveServerInfo& server = *response.mutable_cluster_status()->add_live_servers();
      server.mutable_server()->set_host_name("localhost");
      server.mutable_server_load()->set_report_end_time(
          static_cast<uint64_t>((now - time).count()));
    }
    return Reaction{AnswerFrame(call.id, response)};
  };
}

TEST(ServerClock, IsAtLeastSoFarAwayAsTheNewestReportTells) {
  const auto of = [](int sought, int found, int report) {
    return DifferenceAtLeast(milliseconds(sought), milliseconds(found), milliseconds(report))
        .count();
  };
  EXPECT_EQ(of(10'000, 10'010, 10'005), 0);
  EXPECT_EQ(of(10'000, 10'010, 7'500), 0);
  EXPECT_EQ(of(10'000, 10'010, 5'000), 2'000);
  EXPECT_EQ(of(10'000, 10'010, 12'010), -2'000);
}

TEST(ServerClock, IsMeasuredOnceAndAgainSoonWhereItIsMuch) {
  FakeCluster cluster({}, kRows);
  ServerClock clock(cluster.master());
  cluster.PutInTheWay(ReportedBefore({seconds(100), seconds(1)}));
  for (int i = 0; i < 3; ++i) {
    const auto difference = clock.Difference(kMuch);
    ASSERT_TRUE(difference.ok()) << difference.status().ToString();
    EXPECT_EQ(difference->count(), 0);
  }
  EXPECT_TRUE(cluster.procedures().empty()) << "asked for again, past the obstacle";
}

TEST(ServerClock, TellsWhichIsAhead) {
  for (const seconds apart : {seconds(60), seconds(-60)}) {
    FakeCluster cluster({}, kRows);
    ServerClock clock(cluster.master());
    cluster.PutInTheWay(ReportedBefore({apart}));
    const auto difference = clock.Difference(kMuch);
    ASSERT_TRUE(difference.ok()) << difference.status().ToString();
    EXPECT_EQ(difference->count() > 0, apart.count() > 0);
    EXPECT_GE(std::chrono::abs(*difference), seconds(55));
    EXPECT_LE(std::chrono::abs(*difference), seconds(60));
  }
}

TEST(ServerClock, IsNotKnownWhereNoServerHasReported) {
  FakeCluster cluster({}, kRows);
  ServerClock clock(cluster.master());
  cluster.PutInTheWay(ReportedBefore({}));
  EXPECT_EQ(clock.Difference(kMuch).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(clock.Difference(kMuch).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(cluster.procedures().empty());
}

}  // namespace
}  // namespace cellfs::hbase
