// SPDX-License-Identifier: MIT
#include "engine/visibility/compaction_matcher.h"

#include <gtest/gtest.h>

#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

// "Put3 DeleteColumn2": what is kept.
std::string Kept(const std::shared_ptr<const TableSchema>& schema, const Rewrite& rewrite,
                 std::vector<Cell> cells) {
  auto matcher = MakeCompactionMatcher(schema->families.at("f"), rewrite);
  std::string kept;
  for (const Cell& cell : Sorted(std::move(cells))) {
    if (!matcher->Keep(ViewOf(cell))) continue;
    if (!kept.empty()) kept += ' ';
    kept += std::string(TypeName(cell.type)) + std::to_string(cell.timestamp);
  }
  return kept;
}

const std::vector<Cell>& DeletedColumn() {
  static const std::vector<Cell> cells = {PutOf("r", "q", 1, 1), PutOf("r", "q", 5, 2),
                                          TombstoneOf("r", CellType::kDeleteColumn, "q", 3, 3)};
  return cells;
}

TEST(CompactionMatcherTest, MinorKeepsTheTombstoneAndDropsWhatItHides) {
  EXPECT_EQ(Kept(SchemaWith({{"VERSIONS", "5"}}), {.kind = RewriteKind::kMinor, .now = 10},
                 DeletedColumn()),
            "Put5 DeleteColumn3");
}

TEST(CompactionMatcherTest, MinorDropsATombstoneThatAWiderOneCovers) {
  const std::vector<Cell> cells = {TombstoneOf("r", CellType::kDeleteFamily, "", 4, 1),
                                   TombstoneOf("r", CellType::kDeleteColumn, "q", 6, 2),
                                   TombstoneOf("r", CellType::kDelete, "q", 5, 3),
                                   TombstoneOf("r", CellType::kDeleteColumn, "q", 4, 4),
                                   TombstoneOf("s", CellType::kDelete, "q", 5, 5)};
  const Rewrite minor{.kind = RewriteKind::kMinor, .now = 10};
  EXPECT_EQ(Kept(SchemaWith({}), minor, cells), "DeleteFamily4 DeleteColumn6 Delete5");
  EXPECT_EQ(Kept(SchemaWith({{"KEEP_DELETED_CELLS", "TRUE"}}), minor, cells),
            "DeleteFamily4 DeleteColumn6 Delete5 DeleteColumn4 Delete5");
}

TEST(CompactionMatcherTest, MajorDropsBoth) {
  EXPECT_EQ(Kept(SchemaWith({{"VERSIONS", "5"}}), {.kind = RewriteKind::kMajor, .now = 10},
                 DeletedColumn()),
            "Put5");
}

TEST(CompactionMatcherTest, TimeToPurgeDeletesKeepsAYoungTombstone) {
  EXPECT_EQ(
      Kept(SchemaWith({{"VERSIONS", "5"}}),
           {.kind = RewriteKind::kMajor, .now = 10, .time_to_purge_deletes = 7}, DeletedColumn()),
      "Put5 DeleteColumn3");
}

TEST(CompactionMatcherTest, KeepDeletedCellsKeepsTombstoneAndPutWhileAPutIsAsOld) {
  const auto schema = SchemaWith({{"VERSIONS", "5"}, {"KEEP_DELETED_CELLS", "TRUE"}});
  EXPECT_EQ(
      Kept(schema, {.kind = RewriteKind::kMajor, .now = 10, .oldest_put = 1}, DeletedColumn()),
      "Put5 DeleteColumn3 Put1");
  EXPECT_EQ(
      Kept(schema, {.kind = RewriteKind::kMajor, .now = 10, .oldest_put = 4}, DeletedColumn()),
      "Put5");
}

TEST(CompactionMatcherTest, DeletedTtlEndsTheKeeping) {
  const auto schema =
      SchemaWith({{"VERSIONS", "5"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "1"}});
  EXPECT_EQ(
      Kept(schema, {.kind = RewriteKind::kMajor, .now = 1003, .oldest_put = 1}, DeletedColumn()),
      "Put5 DeleteColumn3 Put1");
  EXPECT_EQ(
      Kept(schema, {.kind = RewriteKind::kMajor, .now = 1004, .oldest_put = 1}, DeletedColumn()),
      "Put5");
}

TEST(CompactionMatcherTest, NewVersionBehaviorDropsInAMajorOnly) {
  const auto schema =
      SchemaWith({{"VERSIONS", "1"}, {"NEW_VERSION_BEHAVIOR", "true"}, {"TTL", "1"}});
  EXPECT_EQ(Kept(schema, {.kind = RewriteKind::kMinor, .now = 10}, DeletedColumn()),
            "Put5 DeleteColumn3 Put1");
  EXPECT_EQ(Kept(schema, {.kind = RewriteKind::kMajor, .now = 10}, DeletedColumn()), "Put5");
}

}  // namespace
}  // namespace cellfs
