// SPDX-License-Identifier: MIT
#include "engine/big_endian.h"
#include "engine/hbase/frame.h"

#include <gtest/gtest.h>
#include <hbase.pb.h>

#include <random>

#include "tests/engine/hbase/scripted_server.h"

namespace cellfs::hbase {
namespace {

// Of a frame with its length, as it comes from the wire.
StatusOr<Answer> Decode(const std::string& frame) { return Answer::Decode(frame.substr(4)); }

TEST(Opening, SaysWhoCallsWhat) {
  const std::string opening = OpeningOf(Service::kClient, "ada");
  ASSERT_GT(opening.size(), 10u);
  EXPECT_EQ(opening.substr(0, 6), std::string("HBas\0\x50", 6));
  EXPECT_EQ(ReadBigEndian<uint32_t>(opening.substr(6, 4)), opening.size() - 10);
  pb::ConnectionHeader header;
  ASSERT_TRUE(header.ParseFromString(opening.substr(10)));
  EXPECT_EQ(header.user_info().effective_user(), "ada");
  EXPECT_EQ(header.service_name(), "ClientService");
  EXPECT_EQ(header.version_info().version_major(), 2u);
}

TEST(Call, LiesAsTheProtocolSays) {
  pb::GetClusterIdRequest parameter;
  const std::string frame =
      EncodeCall(7, {.method = "GetClusterId", .parameter = &parameter, .cells = "cells"},
                 std::chrono::seconds(2));
  EXPECT_EQ(ReadBigEndian<uint32_t>(frame), frame.size() - 4);
  const auto header_length = static_cast<size_t>(frame[4]);
  pb::RequestHeader header;
  ASSERT_TRUE(header.ParseFromString(frame.substr(5, header_length)));
  EXPECT_EQ(header.call_id(), 7u);
  EXPECT_EQ(header.method_name(), "GetClusterId");
  EXPECT_TRUE(header.request_param());
  EXPECT_EQ(header.timeout(), 2000u);
  EXPECT_EQ(header.cell_block_meta().length(), 5u);
  EXPECT_EQ(frame.substr(5 + header_length), std::string("\0cells", 6));
}

TEST(Answer, HasResultAndCells) {
  pb::GetClusterIdResponse result;
  result.set_cluster_id("an id");
  const auto answer = Decode(AnswerFrame(9, result, "a block"));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->call_id(), 9u);
  EXPECT_FALSE(answer->exception());
  EXPECT_EQ(answer->cells(), "a block");
  pb::GetClusterIdResponse parsed;
  ASSERT_TRUE(answer->ParseResult(parsed).ok());
  EXPECT_EQ(parsed.cluster_id(), "an id");
}

TEST(Answer, HasAnException) {
  const auto answer = Decode(ExceptionFrame(
      9, {"org.apache.hadoop.hbase.NotServingRegionException", "t,,1. is not online"}));
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  ASSERT_TRUE(answer->exception());
  EXPECT_EQ(answer->exception()->class_name, "org.apache.hadoop.hbase.NotServingRegionException");
  EXPECT_EQ(answer->exception()->message, "t,,1. is not online");
}

TEST(Answer, IsRefusedWhereItIsCutOff) {
  pb::GetClusterIdResponse result;
  result.set_cluster_id("an id");
  const std::string whole = AnswerFrame(9, result, "a block").substr(4);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Answer::Decode(whole.substr(0, length)).ok()) << length;
  }
}

TEST(Answer, SurvivesWrongBytes) {
  pb::GetClusterIdResponse result;
  result.set_cluster_id("an id");
  const std::string good = AnswerFrame(9, result, "a block").substr(4);
  std::mt19937 random(3);
  for (int i = 0; i < 50'000; ++i) {
    std::string bad = good;
    for (size_t n = 1 + random() % 4; n-- > 0;) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    const auto answer = Answer::Decode(bad);
    if (!answer.ok()) continue;
    pb::GetClusterIdResponse parsed;
    const Status status = answer->ParseResult(parsed);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kIoError);
    EXPECT_LE(answer->cells().size(), bad.size());
  }
}

}  // namespace
}  // namespace cellfs::hbase
