// SPDX-License-Identifier: MIT
#include "engine/local/compaction_picker.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/family_of.h"

namespace cellfs {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;
constexpr Timestamp kNow = 1'800'000'000'000;
constexpr int64_t kDay = 86'400'000;

class CompactionPickerTest : public testing::Test {
 protected:
  CompactionPickerTest() {
    TableSchema schema({"default", "t"});
    schema.families["f"] = family_;
    version_.schema = std::make_shared<const TableSchema>(std::move(schema));
  }
  // The next file, newer than those before.
  void Add(const std::string& first, const std::string& last, uint64_t bytes) {
    const uint64_t number = files_.size() + 1;
    FileFacts facts{.number = number, .family = "f", .first_row = first, .last_row = last};
    facts.lowest = facts.highest = number;
    facts.bytes = bytes;
    facts.written = kNow;
    files_.push_back(std::make_shared<StoreFile>(folder_, facts, cache_));
    Cut({});
  }
  // Of the next files half the cells are tombstones, the last of which is so old.
  void AddDeletes(int64_t days_ago) {
    FileFacts facts{.number = files_.size() + 1, .family = "f", .first_row = "a", .last_row = "z"};
    facts.lowest = facts.highest = facts.number;
    facts.cells = 40000;
    facts.tombstones = 20000;
    facts.oldest = facts.oldest_put = kNow - 900 * kDay;
    facts.newest = kNow - days_ago * kDay;
    facts.written = kNow;
    files_.push_back(std::make_shared<StoreFile>(folder_, facts, cache_));
    Cut({});
  }
  void Cut(const std::vector<std::string>& cuts) {
    TableRanges ranges;
    if (!cuts.empty()) ranges["f"] = {.cuts = cuts, .major = 7};
    version_.files = std::make_shared<const TableFiles>(files_, ranges);
  }
  size_t Count() const { return CountFiles(version_, family_); }
  // The numbers of the files, and whether all that they hide goes.
  std::string Picked(const TakenFiles& taken = {}, uint64_t most_bytes = UINT64_MAX) const {
    const auto picked = PickCompaction(version_, family_, site_, kNow, taken, most_bytes);
    if (!picked) return "nothing";
    std::string text;
    for (const auto& file : picked->files) text += std::to_string(file->facts().number) + " ";
    return text + (picked->kind == CompactionKind::kMajor ? "major" : "minor");
  }
  static std::string Row(int number) { return std::to_string(100 + number); }

  FamilySchema family_ = FamilyOf("f");
  SiteSettings site_;
  const std::shared_ptr<TableFolder> folder_ = std::make_shared<TableFolder>();
  FileCache cache_{1 << 20, 2};
  StoreFiles files_;
  TableVersion version_;
};

TEST_F(CompactionPickerTest, AscendingFilesAreLeftAlone) {
  for (int i = 0; i < 60; ++i) Add(Row(i), Row(i), 64 * kMegabyte);
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(Picked(), "nothing");
}

TEST_F(CompactionPickerTest, FilesOfTheSameRowsCountEach) {
  for (int i = 0; i < 3; ++i) Add("a", "z", 64 * kMegabyte);
  EXPECT_EQ(Count(), 3u);
  EXPECT_EQ(Picked(), "1 2 3 major");
}

TEST_F(CompactionPickerTest, SmallFilesCountEachOrThereWouldBeMoreAndMore) {
  for (int i = 0; i < 20; ++i) Add(Row(i), Row(i), 64 * kMegabyte);
  EXPECT_EQ(Picked(), "nothing");
  for (int i = 20; i < 23; ++i) Add(Row(i), Row(i), kMegabyte);
  EXPECT_EQ(Count(), 4u);
  EXPECT_EQ(Picked(), "21 22 23 minor");
}

TEST_F(CompactionPickerTest, ARunIsTakenWholeWhereWhatLiesOverItIsAsLarge) {
  for (int i = 0; i < 4; ++i) Add(Row(i), Row(i), 64 * kMegabyte);
  Add(Row(0), Row(9), 200 * kMegabyte);
  EXPECT_EQ(Picked(), "nothing");
  Add(Row(0), Row(9), 200 * kMegabyte);
  EXPECT_EQ(Count(), 3u);
  EXPECT_EQ(Picked(), "1 2 3 4 5 6 major");
}

TEST_F(CompactionPickerTest, APieceIsCompactedWithoutTheOthers) {
  Add("a", "c", 900 * kMegabyte);
  Add("m", "p", 900 * kMegabyte);
  for (int i = 0; i < 3; ++i) Add("m", "o", 20 * kMegabyte);
  Add("a", "b", 20 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Count(), 4u);
  EXPECT_EQ(Picked(), "3 4 5 minor");
  for (int i = 0; i < 3; ++i) Add("a", "c", 800 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Count(), 5u);
  EXPECT_EQ(Picked(), "1 6 7 8 9 major") << "the older ones of that piece are all among them";
}

TEST_F(CompactionPickerTest, YoungFilesAreMergedBeforeAPieceIsDoneWith) {
  Add("a", "c", 900 * kMegabyte);
  Add("m", "p", 900 * kMegabyte);
  Add("b", "n", 100 * kMegabyte);
  Add("b", "n", 100 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Count(), 3u);
  EXPECT_EQ(Picked(), "nothing");
  Add("m", "o", 100 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked(), "3 4 5 minor");
}

TEST_F(CompactionPickerTest, WhatOthersCompactIsLeftToThem) {
  for (int i = 0; i < 4; ++i) Add("a", "c", 10 * kMegabyte);
  for (int i = 0; i < 3; ++i) Add("m", "p", 10 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked(), "1 2 3 4 major");
  EXPECT_EQ(Picked({1, 2}), "5 6 7 major") << "neither the rest of that piece";
  EXPECT_EQ(Picked({2, 6}), "nothing");
  for (int i = 0; i < 3; ++i) Add("b", "n", 100 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked({1, 2, 3, 4, 5}), "8 9 10 minor");
  EXPECT_EQ(Picked({9}), "1 2 3 4 minor") << "under young files";
  EXPECT_EQ(Picked({1, 5, 9}), "nothing");
}

TEST_F(CompactionPickerTest, AShortOneTakesOfAPieceWhatIsShort) {
  for (int i = 0; i < 3; ++i) Add("a", "c", 900 * kMegabyte);
  for (int i = 0; i < 3; ++i) Add("a", "c", 100 * kMegabyte);
  Add("m", "p", 10 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked(), "1 2 3 4 5 6 major");
  EXPECT_EQ(Picked({}, 512 * kMegabyte), "4 5 6 minor");
  EXPECT_EQ(Picked({}, 200 * kMegabyte), "nothing");
}

// All pieces of a table that is filled at random keys come to want it at the same time, and what is
// flushed meanwhile would wait behind them.
TEST_F(CompactionPickerTest, YoungFilesComeBeforePiecesHoweverManyTheseHave) {
  for (int i = 0; i < 9; ++i) Add("a", "c", 100 * kMegabyte);
  Add("m", "p", 900 * kMegabyte);
  for (int i = 0; i < 3; ++i) Add("b", "n", 100 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked(), "11 12 13 minor");
  EXPECT_EQ(Picked({11, 12, 13}), "1 2 3 4 5 6 7 8 9 minor");
}

TEST_F(CompactionPickerTest, WhatLiesUnderYoungFilesIsNotMajor) {
  for (int i = 0; i < 3; ++i) Add("a", "c", 10 * kMegabyte);
  Add("m", "p", 900 * kMegabyte);
  Add("b", "n", 100 * kMegabyte);
  Cut({"m"});
  EXPECT_EQ(Picked(), "1 2 3 minor");
}

TEST_F(CompactionPickerTest, TheLastMajorCompactionIsKeptWithTheCuts) {
  Add("a", "c", 10 * kMegabyte);
  EXPECT_EQ(LatestMajorCompaction(*version_.files, "f", false, kNow + 1), kNow);
  Cut({"m"});
  EXPECT_EQ(LatestMajorCompaction(*version_.files, "f", false, kNow + 1), 7);
}

TEST_F(CompactionPickerTest, TombstonesAreGarbageOnceTheyWork) {
  AddDeletes(1);
  EXPECT_EQ(Picked(), "1 major");
  site_.time_to_purge_deletes = 2 * kDay;
  EXPECT_EQ(Picked(), "nothing");
  AddDeletes(3);
  AddDeletes(3);
  EXPECT_EQ(Picked(), "1 2 3 major");
}

// It would be rewritten whole for nothing.
TEST_F(CompactionPickerTest, TombstonesThatAreKeptAreNoGarbage) {
  family_ = FamilyOf("f", {{"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "2592000"}});
  AddDeletes(29);
  EXPECT_EQ(Picked(), "nothing");
  AddDeletes(31);
  EXPECT_EQ(Picked(), "1 2 major");
  family_ = FamilyOf("f", {{"KEEP_DELETED_CELLS", "TRUE"}});
  EXPECT_EQ(Picked(), "nothing") << "for ever";
  family_ = FamilyOf("f", {{"KEEP_DELETED_CELLS", "TTL"}, {"TTL", "2592000"}});
  EXPECT_EQ(Picked(), "1 2 major");
}

}  // namespace
}  // namespace cellfs
