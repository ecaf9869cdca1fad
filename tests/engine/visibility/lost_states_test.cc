// SPDX-License-Identifier: MIT
#include "engine/visibility/lost_states.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/visibility/compaction_matcher.h"
#include "tests/engine/visibility/cells.h"
#include "tests/support/family_of.h"

namespace cellfs {
namespace {

struct Rewritten {
  std::vector<Cell> left;
  Timestamp complete_since = 0;
};

Rewritten RewriteOf(const FamilySchema& family, const Rewrite& rules, std::vector<Cell> cells) {
  const auto matcher = MakeCompactionMatcher(family, rules);
  LostStates states(family, rules.now);
  Rewritten rewritten;
  for (Cell& cell : Sorted(std::move(cells))) {
    const bool stays = matcher->Keep(ViewOf(cell));
    states.See(ViewOf(cell), stays);
    if (stays) rewritten.left.push_back(std::move(cell));
  }
  rewritten.complete_since = states.complete_since();
  return rewritten;
}

Timestamp CompleteSince(const FamilyAttributes& attributes, std::vector<Cell> cells) {
  const Rewrite rules{.kind = RewriteKind::kMinor, .now = 5000};
  return RewriteOf(FamilyOf("f", attributes), rules, std::move(cells)).complete_since;
}

TEST(LostStatesTest, NothingIsLostWhereNothingGoes) {
  EXPECT_EQ(CompleteSince({{"VERSIONS", "2"}}, {PutOf("r", "q", 1, 1), PutOf("r", "q", 2, 2)}), 0);
}

TEST(LostStatesTest, AVersionThatVersionsPushesOutWasSeenUntilTheNextOne) {
  const std::vector<Cell> cells = {PutOf("r", "q", 10, 1), PutOf("r", "q", 20, 2),
                                   PutOf("r", "q", 30, 3), PutOf("s", "q", 99, 4)};
  EXPECT_EQ(CompleteSince({{"VERSIONS", "2"}}, cells), 20);
  EXPECT_EQ(CompleteSince({{"VERSIONS", "1"}}, cells), 30);
}

TEST(LostStatesTest, WhatADeleteHidesWasSeenUntilThen) {
  EXPECT_EQ(CompleteSince({}, {PutOf("r", "q", 10, 1),
                               TombstoneOf("r", CellType::kDeleteColumn, "q", 40, 2)}),
            40);
  EXPECT_EQ(CompleteSince({}, {PutOf("r", "q", 10, 1),
                               TombstoneOf("r", CellType::kDeleteFamily, "", 50, 2)}),
            50);
  EXPECT_EQ(CompleteSince({{"KEEP_DELETED_CELLS", "TRUE"}},
                          {PutOf("r", "q", 10, 1),
                           TombstoneOf("r", CellType::kDeleteColumn, "q", 40, 2)}),
            0);
}

TEST(LostStatesTest, AVersionThatIsDeletedWasNeverSeenNorHidesItOthers) {
  const std::vector<Cell> cells = {PutOf("r", "q", 10, 1), PutOf("r", "q", 20, 2),
                                   TombstoneOf("r", CellType::kDelete, "q", 20, 3)};
  EXPECT_EQ(CompleteSince({{"VERSIONS", "2"}}, cells), 0);
}

TEST(LostStatesTest, WhatATtlHasEndedIsNoLoss) {
  EXPECT_EQ(CompleteSince({{"TTL", "2"}}, {PutOf("r", "q", 100, 1), PutOf("r", "q", 4500, 2)}), 0);
}

// What a reader sees of each column who takes no notice of what has a later timestamp.
std::map<std::string, Timestamp> SeenAt(Timestamp time, const std::vector<Cell>& cells) {
  std::map<std::string, Timestamp> seen;
  for (const Cell& put : cells) {
    if (put.type != CellType::kPut || put.timestamp > time) continue;
    const auto hides = [&](const Cell& cell) {
      if (!IsTombstone(cell.type) || cell.row != put.row || cell.timestamp > time) return false;
      if (!IsFamilyTombstone(cell.type) && cell.qualifier != put.qualifier) return false;
      const bool is_exact =
          cell.type == CellType::kDelete || cell.type == CellType::kDeleteFamilyVersion;
      return is_exact ? cell.timestamp == put.timestamp : cell.timestamp >= put.timestamp;
    };
    if (std::any_of(cells.begin(), cells.end(), hides)) continue;
    Timestamp& newest = seen[put.row + "/" + put.qualifier];
    newest = std::max(newest, put.timestamp);
  }
  return seen;
}

std::string Shown(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells)
    text += cell.row + ":" + cell.qualifier + "/" + std::to_string(cell.timestamp) + "/" +
            std::string(TypeName(cell.type)) + " ";
  return text;
}

TEST(LostStatesTest, EachStateSinceThenIsWhatItWas) {
  std::mt19937 random(3);
  const auto below = [&](int limit) { return std::uniform_int_distribution(0, limit - 1)(random); };
  constexpr CellType kTypes[] = {CellType::kPut,          CellType::kPut,
                                 CellType::kPut,          CellType::kDelete,
                                 CellType::kDeleteColumn, CellType::kDeleteFamily,
                                 CellType::kDeleteFamilyVersion};
  int losses = 0;
  for (int round = 0; round < 3000; ++round) {
    std::map<std::tuple<std::string, std::string, Timestamp, CellType>, Cell> distinct;
    for (int i = 2 + below(12); i > 0; --i) {
      const CellType type = kTypes[below(7)];
      const std::string row = below(3) == 0 ? "s" : "r";
      const std::string qualifier = IsFamilyTombstone(type) ? "" : below(3) == 0 ? "p" : "q";
      const Timestamp timestamp = 1 + below(12);
      const auto sequence = static_cast<SequenceId>(i);
      distinct[{row, qualifier, timestamp, type}] =
          type == CellType::kPut ? PutOf(row, qualifier, timestamp, sequence)
                                 : TombstoneOf(row, type, qualifier, timestamp, sequence);
    }
    std::vector<Cell> cells;
    for (const auto& [_, cell] : distinct) cells.push_back(cell);
    Rewrite rules{.kind = below(2) == 0 ? RewriteKind::kMinor : RewriteKind::kMajor, .now = 100};
    for (const Cell& cell : cells)
      if (cell.type == CellType::kPut)
        rules.oldest_put = std::min(rules.oldest_put, cell.timestamp);
    const FamilySchema family =
        FamilyOf("f", {{"VERSIONS", std::to_string(1 + below(3))},
                       {"KEEP_DELETED_CELLS", below(3) == 0 ? "TRUE" : "FALSE"}});
    const Rewritten rewritten = RewriteOf(family, rules, cells);
    losses += rewritten.complete_since > 0 ? 1 : 0;
    for (Timestamp time = rewritten.complete_since; time < 14; ++time)
      ASSERT_EQ(SeenAt(time, rewritten.left), SeenAt(time, cells))
          << "at " << time << " of " << Shown(cells) << "is left " << Shown(rewritten.left);
  }
  EXPECT_GT(losses, 500);
}

}  // namespace
}  // namespace cellfs
