// SPDX-License-Identifier: MIT
#include "fs/tree/directory_times.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

const Place kOfFamily = FamilyPlace({"ns", "t"}, "r", "f");

TEST(DirectoryTimesTest, ATimeIsKeptUntilItIsStoredOrSetByHand) {
  DirectoryTimes times;
  times.Settle(kOfFamily, 5);
  EXPECT_FALSE(times.Find(kOfFamily)) << "nothing came to it";
  times.Note(kOfFamily, 7);
  times.Settle(kOfFamily, 9);
  times.Settle(kOfFamily, 8);
  EXPECT_EQ(times.Find(kOfFamily), 9);
  const auto changes = times.All();
  ASSERT_EQ(changes.size(), 1u);
  times.Note(kOfFamily, 10);
  times.Stored(changes[0]);
  EXPECT_EQ(times.Find(kOfFamily), 10) << "changed again while it was stored";
  times.Stored(times.All()[0]);
  EXPECT_FALSE(times.Find(kOfFamily));
  times.Note(kOfFamily, 11);
  times.Forget(kOfFamily);
  EXPECT_FALSE(times.Find(kOfFamily));
}

TEST(DirectoryTimesTest, TheTimeOfTheFirstCellIsKeptWhereNoneIsNoted) {
  DirectoryTimes times;
  times.Keep(kOfFamily, -1);
  EXPECT_FALSE(times.Find(kOfFamily)) << "nobody has seen one";
  times.Keep(kOfFamily, 5);
  times.Keep(kOfFamily, 6);
  EXPECT_EQ(times.Find(kOfFamily), 5);
  times.Note(kOfFamily, 7);
  const auto before = times.All();
  times.Stored(before[0]);
  times.Note(kOfFamily, 7);
  const auto changes = times.All();
  times.Keep(kOfFamily, 7);
  times.Stored(changes[0]);
  EXPECT_EQ(times.Find(kOfFamily), 7) << "its first cell was put since it was taken for the same";
}

struct DirectoryTimeTest : WritingTest {
  static constexpr char kRow[] = "default/t/r";
  static constexpr char kFamily[] = "default/t/r/f";
  using Times = std::pair<Timestamp, Timestamp>;

  Times TimesOf(const std::string& path) {
    const struct stat shown = tree.Stat(path);
    return {ToMilliseconds(shown.st_mtim) - kStart, ToMilliseconds(shown.st_ctim) - kStart};
  }
  std::vector<Times> Shown() { return {TimesOf(kRow), TimesOf(kFamily)}; }

  // Neither now, nor once what is noted is stored, nor after a remount.
  void ExpectStays(const std::vector<Times>& before, const std::string& what) {
    EXPECT_EQ(Shown(), before) << what;
    tree.filesystem->LetGoUnused();
    EXPECT_EQ(Shown(), before) << what << ", once it is stored";
    tree.Remount();
    EXPECT_EQ(Shown(), before) << what << ", after a remount";
  }
  void ExpectStaysAfter(const std::function<void()>& change, const std::string& what) {
    const auto before = Shown();
    tree.clock->Advance(10);
    change();
    ExpectStays(before, what);
  }
};

TEST_F(DirectoryTimeTest, StaysWhenTheFirstFileIsOverwritten) {
  tree.clock->Advance(10);
  ASSERT_EQ(TimesOf(kFamily), Times(0, 0)) << "made by nobody: that of its first cell";
  const char first[] = "default/t/r/f/other";
  ExpectStaysAfter([&] { tree.Save(first, "y"); }, "a first put");
  ExpectStaysAfter([&] { tree.Save(first, "z"); }, "another one");
}

TEST_F(DirectoryTimeTest, IsThatOfTheClockWhereAVersionIsOfTheFuture) {
  const Times row = TimesOf(kRow);
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save("default/t/r/f/other@" + std::to_string(kStart + 1000), "v"), 0);
  EXPECT_EQ(TimesOf(kFamily), Times(10, 10));
  EXPECT_EQ(TimesOf(kRow), row);
}

TEST_F(DirectoryTimeTest, OfWhatWasMadeHereStaysWhenItsOnlyFileIsOverwritten) {
  const auto times = [&] {
    return std::vector<Times>{TimesOf("default/t/new"), TimesOf("default/t/new/f")};
  };
  ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
  ASSERT_EQ(tree.Save("default/t/new/f/q", "x"), 0);
  const auto before = times();
  tree.filesystem->LetGoUnused();
  EXPECT_EQ(times(), before);
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save("default/t/new/f/q", "y"), 0);
  EXPECT_EQ(times(), before);
  tree.Remount();
  EXPECT_EQ(times(), before);
}

TEST_F(DirectoryTimeTest, OfARowStaysWhenFilesComeToItsFamilyAndGo) {
  const Times row = TimesOf(kRow);
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save("default/t/r/f/before", "x"), 0);
  EXPECT_EQ(TimesOf(kRow), row) << "a first cell came";
  EXPECT_EQ(TimesOf(kFamily), Times(10, 10));
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Rename("default/t/r/f/before", "default/t/r/f/after"), 0);
  EXPECT_EQ(TimesOf(kRow), row) << "the first cell moved";
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Unlink("default/t/r/f/after"), 0);
  ASSERT_EQ(tree.Unlink("default/t/r/f/other"), 0);
  EXPECT_EQ(TimesOf(kFamily), Times(30, 30));
  tree.filesystem->LetGoUnused();
  EXPECT_EQ(TimesOf(kRow), row) << "the last cell has gone, and left the family behind";
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save("default/t/r/f/again", "x"), 0);
  tree.Remount();
  EXPECT_EQ(TimesOf(kRow), row);
  EXPECT_EQ(TimesOf(kFamily), Times(40, 40));
}

TEST_F(DirectoryTimeTest, StaysWhenAFirstCounterIsIncreased) {
  tree.Put("r", "count", std::string(8, '\0'));
  ExpectStaysAfter([&] { tree.Save("default/t/r/f/.counters/count", "+1"); }, "an increment");
}

TEST_F(DirectoryTimeTest, IsOfTheLastNameThatCameWhereAnotherIsStored) {
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save(kQ, "x"), 0);
  tree.filesystem->LetGoUnused();
  EXPECT_EQ(TimesOf(kFamily), Times(10, 10));
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save("default/t/r/f/first", "x"), 0);
  EXPECT_EQ(TimesOf(kFamily), Times(20, 20));
  tree.filesystem->LetGoUnused();
  EXPECT_EQ(TimesOf(kFamily), Times(20, 20)) << "its cell said the same, but not the stored time";
}

TEST_F(DirectoryTimeTest, IsOfAMadeRowWhereOneWentBefore) {
  ASSERT_EQ(tree.Unlink("default/t/r/f/other"), 0);
  ASSERT_EQ(tree.Rmdir(kFamily), 0);
  tree.filesystem->LetGoUnused();
  ASSERT_EQ(tree.Rmdir(kRow), 0);
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Mkdir(kRow), 0);
  EXPECT_EQ(TimesOf(kRow), Times(10, 10));
}

TEST_F(DirectoryTimeTest, IsLeftAloneByAChangeOfItsMode) {
  for (const char* path : {"default/t", kRow, kFamily}) {
    AttributeChange time;
    time.mtime = ToTimespec(kStart - 1000);
    AttributeChange mode;
    mode.mode = 0700;
    ASSERT_EQ(tree.Change(path, time), 0);
    tree.clock->Advance(10);
    ASSERT_EQ(tree.Change(path, mode), 0);
    EXPECT_EQ(TimesOf(path).first, -1000) << path << ": the time that was set";
  }
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Save(kQ, "x"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
  const Timestamp came = TimesOf(kFamily).first;
  for (const bool is_stored : {false, true}) {
    for (const char* path : {"default/t", kFamily}) {
      AttributeChange mode;
      mode.mode = is_stored ? 0711 : 0755;
      tree.clock->Advance(10);
      ASSERT_EQ(tree.Change(path, mode), 0);
      EXPECT_EQ(TimesOf(path).first, came) << path;
    }
    tree.filesystem->LetGoUnused();
    for (const char* path : {"default/t", kFamily}) EXPECT_EQ(TimesOf(path).first, came) << path;
  }
}

TEST_F(DirectoryTimeTest, ThatWasSetStaysWhenTheFirstFileIsOverwritten) {
  for (const char* path : {kRow, kFamily}) {
    AttributeChange time;
    time.mtime = ToTimespec(kStart - 1000);
    ASSERT_EQ(tree.Change(path, time), 0);
  }
  ExpectStaysAfter([&] { tree.Save("default/t/r/f/other", "y"); }, "a put");
}

}  // namespace
}  // namespace cellfs::fs
