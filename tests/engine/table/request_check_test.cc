// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "engine/table/request_check.h"

namespace cellfs {
namespace {

Put PutOf(std::string value, Timestamp timestamp = kLatestTimestamp) {
  return {"r", {{"f", "q", timestamp, std::move(value)}}};
}

StatusCode Check(Mutation mutation, const SiteSettings& site = {}) {
  return CheckRequest(RowMutations::Of(std::move(mutation)), site).code();
}

TEST(RequestCheckTest, RowsHaveOneTo32767Bytes) {
  for (auto [length, code] : {std::pair{0, StatusCode::kIllegalArgument},
                              {1, StatusCode::kOk},
                              {32767, StatusCode::kOk},
                              {32768, StatusCode::kIllegalArgument}}) {
    Put put = PutOf("v");
    put.row = std::string(static_cast<size_t>(length), 'r');
    EXPECT_EQ(Check(put), code) << length;
    Get get;
    get.row = put.row;
    EXPECT_EQ(CheckRequest(get).code(), code) << length;
  }
  Scan scan;  // without bounds
  EXPECT_TRUE(CheckRequest(scan).ok());
  scan.stop_row = std::string(32768, 'r');
  EXPECT_EQ(CheckRequest(scan).code(), StatusCode::kIllegalArgument);
}

TEST(RequestCheckTest, TimestampsAndRangesAreNotNegative) {
  EXPECT_EQ(Check(PutOf("v", -1)), StatusCode::kIllegalArgument);
  EXPECT_EQ(Check(PutOf("v", 0)), StatusCode::kOk);
  EXPECT_EQ(Check(Delete{.row = "r", .timestamp = -1}), StatusCode::kIllegalArgument);
  EXPECT_EQ(Check(Delete{.row = "r", .markers = {{CellType::kDelete, "f", "q", -1}}}),
            StatusCode::kIllegalArgument);
  Get get;
  get.row = "r";
  get.time_range = {5, 5};
  EXPECT_TRUE(CheckRequest(get).ok());
  get.time_range = {5, 4};
  EXPECT_EQ(CheckRequest(get).code(), StatusCode::kIllegalArgument);
  get.time_range = {};
  get.family_time_ranges["f"] = {-1, 4};
  EXPECT_EQ(CheckRequest(get).code(), StatusCode::kIllegalArgument);
}

TEST(RequestCheckTest, OnlyAGetRefusesNoVersions) {
  Get get;
  get.row = "r";
  get.max_versions = 0;
  EXPECT_EQ(CheckRequest(get).code(), StatusCode::kInvalidVersions);
  Scan scan;
  scan.max_versions = 0;
  EXPECT_TRUE(CheckRequest(scan).ok());
}

TEST(RequestCheckTest, MutationsNeedCells) {
  EXPECT_EQ(Check(Put{"r", {}}), StatusCode::kIllegalArgument);
  EXPECT_EQ(Check(Increment{"r", {}}), StatusCode::kIllegalArgument);
  EXPECT_EQ(Check(Append{"r", {}}), StatusCode::kIllegalArgument);
  EXPECT_EQ(Check(Delete{"r", {}}), StatusCode::kOk) << "the whole row";
}

TEST(RequestCheckTest, ADeleteHasNoCellTtlAndNoPut) {
  EXPECT_EQ(Check(Delete{.row = "r", .time_to_live = 5}), StatusCode::kUnsupportedOperation);
  EXPECT_EQ(Check(Delete{.row = "r", .markers = {{CellType::kPut, "f", "q"}}}),
            StatusCode::kIllegalArgument);
}

TEST(RequestCheckTest, TheClientCounts20BytesBesidesNamesAndValueAndTheServer24) {
  SiteSettings client;
  client.client_max_cell_size = 100;
  client.server_max_cell_size = 0;
  EXPECT_EQ(Check(PutOf(std::string(77, 'v')), client), StatusCode::kOk);
  EXPECT_EQ(Check(PutOf(std::string(78, 'v')), client), StatusCode::kValueTooLarge);
  SiteSettings server;
  server.client_max_cell_size = 0;
  server.server_max_cell_size = 100;
  EXPECT_EQ(Check(PutOf(std::string(73, 'v')), server), StatusCode::kOk);
  EXPECT_EQ(Check(PutOf(std::string(74, 'v')), server), StatusCode::kValueTooLarge);
}

TEST(RequestCheckTest, ATtlCountsInWhatAnAppendMakes) {
  SiteSettings site;
  site.server_max_cell_size = 100;
  Cell cell{.family = "f", .qualifier = "q", .value = std::string(73, 'v')};
  EXPECT_TRUE(CheckNewCellSize("r", cell, site).ok());
  cell.time_to_live = 1;
  EXPECT_EQ(CheckNewCellSize("r", cell, site).code(), StatusCode::kValueTooLarge);
}

TEST(RequestCheckTest, AllMutationsNameTheRowOfTheirStep) {
  RowMutations mutations = RowMutations::Of(PutOf("v"));
  Put other = PutOf("v");
  other.row = "s";
  mutations.mutations.push_back(other);
  EXPECT_EQ(CheckRequest(mutations, {}).code(), StatusCode::kWrongRow);

  CheckAndMutate check{.row = "s", .condition = ColumnCondition{"f", "q"}};
  check.action = RowMutations::Of(PutOf("v"));
  EXPECT_EQ(CheckRequest(check, {}).code(), StatusCode::kDoNotRetry);
  check.row = "r";
  EXPECT_TRUE(CheckRequest(check, {}).ok());
  check.row = "";
  EXPECT_EQ(CheckRequest(check, {}).code(), StatusCode::kIllegalArgument);
}

TEST(RequestCheckTest, SlopBoundsPutsAfterTheClock) {
  auto slop = [](Timestamp timestamp, int64_t allowed) {
    return CheckTimestampSlop(RowMutations::Of(PutOf("v", timestamp)), allowed, 1000, 1000).code();
  };
  EXPECT_EQ(slop(1100, 100), StatusCode::kOk);
  EXPECT_EQ(slop(1101, 100), StatusCode::kFailedSanityCheck);
  EXPECT_EQ(slop(kLatestTimestamp - 1, -1), StatusCode::kOk);
  EXPECT_EQ(slop(kLatestTimestamp, 0), StatusCode::kOk);
}

}  // namespace
}  // namespace cellfs
