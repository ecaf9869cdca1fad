// SPDX-License-Identifier: MIT
#include "engine/local/key_ranges.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace cellfs {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

class KeyRangesTest : public testing::Test {
 protected:
  struct Age {
    SequenceId lowest, highest;
  };
  // By age.
  void Add(const std::string& first, const std::string& last, Age age,
           uint64_t bytes = kMegabyte, int64_t cells = 0) {
    FileFacts facts{.number = files_.size() + 1,
                    .family = "f",
                    .first_row = first,
                    .last_row = last,
                    .lowest = age.lowest,
                    .highest = age.highest};
    facts.bytes = bytes;
    facts.cells = cells;
    files_.push_back(std::make_shared<StoreFile>(folder_, facts, cache_));
  }
  static std::string Numbers(const StoreFiles& files) {
    std::string text;
    for (const auto& file : files) text += std::to_string(file->facts().number) + " ";
    return text;
  }
  static std::string Units(const std::vector<FileUnit>& units) {
    std::string text;
    for (const FileUnit& unit : units) text += "[" + Numbers(unit.files) + "]";
    return text;
  }
  // Each piece's units, and the young ones.
  std::string Divided(const std::vector<std::string>& cuts) const {
    const KeyRanges ranges(files_, cuts);
    std::string text;
    for (const KeyPiece& piece : ranges.pieces())
      text += piece.begin + ":" + Units(piece.units) + " ";
    return text + "young:" + Units(ranges.young().units);
  }
  std::string Runs(const std::vector<std::string>& cuts) const {
    std::string text;
    for (const FileRun& run : KeyRanges(files_, cuts).Runs())
      text += "[" + Numbers(run.files) + "]";
    return text;
  }
  std::string Recut(const std::vector<std::string>& cuts, uint64_t bytes) const {
    std::string text;
    for (const std::string& cut : KeyRanges(files_, cuts).Recut(bytes)) text += cut + " ";
    return text;
  }

  const std::shared_ptr<TableFolder> folder_ = std::make_shared<TableFolder>();
  FileCache cache_{1 << 20, 2};
  StoreFiles files_;
};

TEST_F(KeyRangesTest, AFileIsOfThePieceThatHasAllItsRows) {
  Add("a", "c", {1, 10});
  Add("m", "p", {1, 10});
  Add("n", "z", {11, 20});
  EXPECT_EQ(Divided({}), ":[1 2 ][3 ] young:");
  EXPECT_EQ(Divided({"m"}), ":[1 ] m:[2 ][3 ] young:") << "a cut is the first row of what follows";
  EXPECT_EQ(Divided({"d", "f", "m"}), ":[1 ] d: f: m:[2 ][3 ] young:");
}

TEST_F(KeyRangesTest, WhatIsNewerThanAFileOverSeveralPiecesIsYoung) {
  Add("a", "c", {1, 10});
  Add("m", "p", {1, 10});
  Add("b", "n", {11, 20});
  Add("m", "n", {21, 30});
  EXPECT_EQ(Divided({"m"}), ":[1 ] m:[2 ] young:[3 ][4 ]");
  EXPECT_EQ(Runs({"m"}), "[1 2 ][3 ][4 ]");
}

TEST_F(KeyRangesTest, FilesOfLongValuesCountAsOneUpToWhatOneReadIsWorth) {
  for (SequenceId i = 0; i < 130; ++i) Add("a", "z", {i + 1, i + 1}, 64 * kMegabyte, 64);
  std::vector<size_t> counts;
  for (const FileUnit& unit : UnitsOf(files_)) counts.push_back(unit.files.size());
  EXPECT_EQ(counts, (std::vector<size_t>{64, 64, 2})) << "of a megabyte each";
  EXPECT_TRUE(HaveLongValues(files_));
}

TEST_F(KeyRangesTest, TheShortestCellsOfThemSayHowMany) {
  for (SequenceId i = 0; i < 12; ++i) Add("a", "z", {i + 1, i + 1}, 64 * kMegabyte, 8192);
  EXPECT_EQ(Divided({}), ":[1 2 3 4 ][5 6 7 8 ][9 10 11 12 ] young:") << "of 8 KiB";
  EXPECT_FALSE(HaveLongValues(files_));
  files_.clear();
  Add("a", "z", {1, 1}, 64 * kMegabyte, 64);
  Add("a", "z", {2, 2}, 64 * kMegabyte, 1000000);
  Add("a", "z", {3, 3}, kMegabyte, 1);
  EXPECT_EQ(Divided({}), ":[1 ][2 ][3 ] young:") << "short cells, and a small file";
}

TEST_F(KeyRangesTest, SoIsAFileInWhoseTimeItLies) {
  Add("a", "c", {1, 10});
  Add("m", "n", {8, 30});
  Add("b", "n", {31, 40});
  Add("a", "b", {41, 50});
  EXPECT_EQ(Divided({"m"}), ":[1 ] m:[2 ] young:[3 ][4 ]");
  files_.clear();
  Add("a", "c", {1, 10});
  Add("b", "n", {31, 40});
  Add("p", "q", {8, 50});
  EXPECT_EQ(Divided({"m"}), ": m: young:[1 3 2 ]") << "which of them is older cannot be said";
}

TEST_F(KeyRangesTest, FilesOfOneTimeAreTakenTogether) {
  Add("a", "c", {1, 10});
  Add("d", "f", {1, 20});
  Add("a", "c", {11, 20});
  Add("a", "f", {21, 30});
  EXPECT_EQ(Divided({}), ":[1 2 3 ][4 ] young:");
}

TEST_F(KeyRangesTest, ASeamIsWhereTheOldestFilesWillBeCut) {
  Add("a", "c", {1, 10}, 100 * kMegabyte);
  Add("d", "f", {1, 10}, 100 * kMegabyte);
  Add("m", "p", {1, 10}, 150 * kMegabyte);
  Add("a", "f", {11, 20});
  Add("m", "p", {11, 20});
  const auto seams_of = [&](uint64_t megabytes) {
    return KeyRanges(files_, {"m"}).Seams(megabytes * kMegabyte);
  };
  EXPECT_EQ(seams_of(100), (std::vector<std::string>{"d"}));
  EXPECT_EQ(seams_of(101), (std::vector<std::string>{})) << "too little lies before it";
  EXPECT_EQ(KeyRanges(files_, {"m"}).Recut(80 * kMegabyte), (std::vector<std::string>{"m"}))
      << "a newer file lies over it";
  files_.pop_back(), files_.pop_back();
  EXPECT_EQ(KeyRanges(files_, {"m"}).Recut(80 * kMegabyte), (std::vector<std::string>{"d", "m"}));
}

TEST_F(KeyRangesTest, WhatLiesBeyondSoManyUnitsIsTheNewest) {
  Add("a", "c", {1, 10}, kMegabyte);
  Add("m", "p", {1, 10}, 16 * kMegabyte);
  Add("a", "c", {11, 20}, 2 * kMegabyte);
  Add("a", "p", {21, 30}, 4 * kMegabyte);
  Add("a", "p", {31, 40}, 8 * kMegabyte);
  const KeyRanges ranges(files_, {"m"});
  ASSERT_EQ(ranges.MostUnits(), 4u);
  EXPECT_EQ(ranges.BytesBeyond(4), 0u);
  EXPECT_EQ(ranges.BytesBeyond(3), 8 * kMegabyte);
  EXPECT_EQ(ranges.BytesBeyond(2), 12 * kMegabyte) << "of the piece that has most";
  EXPECT_EQ(ranges.BytesBeyond(0), 28 * kMegabyte);
}

TEST_F(KeyRangesTest, LargeFilesWithoutACommonRowCountAsOne) {
  for (int i = 0; i < 4; ++i)
    Add(std::to_string(i), std::to_string(i), {i + 1u, i + 1u}, 64 * kMegabyte);
  Add("5", "5", {5, 5});
  Add("0", "5", {6, 6}, 64 * kMegabyte);
  EXPECT_EQ(Divided({}), ":[1 2 3 4 ][5 ][6 ] young:");
}

TEST_F(KeyRangesTest, TheRunsOfPiecesAreOneByTheirAge) {
  Add("a", "c", {1, 10});
  Add("m", "n", {1, 10});
  Add("a", "b", {11, 20});
  Add("a", "b", {21, 30});
  Add("m", "n", {21, 30});
  EXPECT_EQ(Runs({"m"}), "[1 ][3 2 ][4 5 ]");
}

TEST_F(KeyRangesTest, APieceIsCutBetweenFilesOnceItIsTwiceTooLarge) {
  for (const char* const row : {"a", "b", "c", "d", "e"}) Add(row, row, {1, 1}, 10 * kMegabyte);
  EXPECT_EQ(Recut({}, 25 * kMegabyte), "");
  EXPECT_EQ(Recut({}, 20 * kMegabyte), "c ");
  EXPECT_EQ(Recut({}, 10 * kMegabyte), "b c d ");
  Add("b", "c", {2, 2}, kMegabyte);
  EXPECT_EQ(Recut({}, 10 * kMegabyte), "b d ") << "not where a file goes on";
}

TEST_F(KeyRangesTest, APieceWithoutFilesIsNoneAnyMore) {
  Add("m", "n", {1, 10});
  Add("x", "z", {1, 10});
  EXPECT_EQ(Recut({"c", "k", "p", "r", "v"}, kMegabyte), "v ");
  files_.clear();
  EXPECT_EQ(Recut({"c", "k"}, kMegabyte), "");
}

}  // namespace
}  // namespace cellfs
