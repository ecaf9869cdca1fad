// SPDX-License-Identifier: MIT
//
// Owner, mode and times below .asof are those of its time, and open to nobody what is closed to him
// today.
#include <gtest/gtest.h>

#include <string>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr char kPast[] = "default/t/.asof/1700000000500/r/f/q";
constexpr char kPastRow[] = "default/t/.asof/1700000000500/r";

class PastAttributesTest : public WritingTest {
 protected:
  PastAttributesTest() {
    tree.Remount(Shared());
    EXPECT_EQ(tree.Save(kQ, "old"), 0);
  }
  static MountOptions Shared() {
    MountOptions options;
    options.allow_other = true;
    return options;
  }
  int Set(const std::string& path, std::optional<mode_t> mode, std::optional<uid_t> uid = {}) {
    AttributeChange change;
    change.mode = mode;
    change.uid = uid;
    return tree.Change(path, change);
  }
  int SetTime(const std::string& path, timespec mtime) {
    AttributeChange change;
    change.mtime = mtime;
    return tree.Change(path, change);
  }
  // What .asof shows comes before this, and what is done after it later.
  void LetTimePass() {
    tree.clock->Advance(500);
    ASSERT_EQ(tree.Error(kPastRow), 0);  // pinned
    tree.clock->Advance(500);
  }
  mode_t Mode(const std::string& path) { return tree.Stat(path).st_mode & 07777; }
  static Request RequestOf(uid_t uid) {
    Request request;
    request.uid = request.gid = uid;
    return request;
  }
  int OpenAs(uid_t uid, const std::string& path) {
    const auto entry = tree.LookUp(path);
    auto opened =
        tree.filesystem->Open(RequestOf(uid), *entry->node, {.read = true, .write = false});
    if (opened.ok()) tree.filesystem->Release(*entry->node, opened->handle);
    return opened.error();
  }
  int ListAs(uid_t uid, const std::string& path) {
    return tree.filesystem->OpenListing(RequestOf(uid), *tree.LookUp(path)->node).error();
  }
  int LookUpAs(uid_t uid, const std::string& path, const std::string& name) {
    return tree.filesystem->LookUp(RequestOf(uid), *tree.LookUp(path)->node, name).error();
  }
  double NameIsKept(const std::string& path) { return tree.LookUp(path)->name_valid_seconds; }
};

TEST_F(PastAttributesTest, AFileComesBackAsItWas) {
  ASSERT_EQ(Set(kQ, 0600, 7), 0);
  LetTimePass();
  ASSERT_EQ(Set(kQ, 0644), 0);
  EXPECT_EQ(Mode(kPast), 0600u);
  EXPECT_EQ(tree.Stat(kPast).st_uid, 7u);
  EXPECT_EQ(Mode(kQ), 0644u);
}

TEST_F(PastAttributesTest, WhatWasClosedSinceStaysClosed) {
  ASSERT_EQ(Set(kQ, 0666), 0);
  LetTimePass();
  EXPECT_EQ(OpenAs(7, kPast), 0);
  ASSERT_EQ(Set(kQ, 0400), 0);
  EXPECT_EQ(Mode(kPast), 0666u);
  EXPECT_EQ(OpenAs(7, kPast), EACCES);
  EXPECT_EQ(OpenAs(0, kPast), 0);
}

TEST_F(PastAttributesTest, WhatIsForgottenIsNoMoreOpenThanToday) {
  ASSERT_EQ(Set(kQ, 0600), 0);
  tree.clock->Advance(1000);
  for (size_t i = 0; i <= kOwnerVersions; ++i) {
    tree.clock->Advance(10);
    ASSERT_EQ(Set(kQ, i % 2 == 0 ? 0600 : 0640), 0);
  }
  ASSERT_EQ(Set(kQ, 0600), 0);
  EXPECT_EQ(Mode(kPast), 0600u) << "nobody looked at it then";
}

TEST_F(PastAttributesTest, ADirectoryThatWasClosedSinceStaysClosed) {
  LetTimePass();
  EXPECT_EQ(LookUpAs(7, kPastRow, "f"), 0);
  EXPECT_EQ(NameIsKept(std::string(kPastRow) + "/f"), 0) << "the kernel lets in whom it let in then";
  if (tree.store->traits().pins_moments) {
    EXPECT_GT(tree.LookUp(kPastRow)->attributes_valid_seconds, 0);
  }
  ASSERT_EQ(Set("default/t/r", 0700), 0);
  EXPECT_EQ(Mode(kPastRow), 0755u);
  EXPECT_EQ(LookUpAs(7, kPastRow, "f"), EACCES);
  EXPECT_EQ(ListAs(7, kPastRow), EACCES);
  EXPECT_EQ(LookUpAs(0, kPastRow, "f"), 0);
  EXPECT_EQ(ListAs(0, kPastRow), 0);
}

TEST_F(PastAttributesTest, AnOldOwnerIsShownAndReadsNoMore) {
  ASSERT_EQ(Set(kQ, 0600, 7), 0);
  LetTimePass();
  EXPECT_EQ(OpenAs(7, kPast), 0);
  ASSERT_EQ(Set(kQ, 0600, 8), 0);
  EXPECT_EQ(tree.Stat(kPast).st_uid, 7u);
  EXPECT_EQ(Mode(kPast), 0600u);
  EXPECT_EQ(OpenAs(7, kPast), EACCES);
  EXPECT_EQ(OpenAs(8, kPast), 0);
}

// Of a read-only mount nobody asks when a file is opened, so the mode must say it.
TEST_F(PastAttributesTest, AnOldOwnerOfAReadOnlyMount) {
  ASSERT_EQ(Set(kQ, 0640, 7), 0);
  LetTimePass();
  ASSERT_EQ(Set(kQ, 0640, 8), 0);
  MountOptions options = Shared();
  options.read_only = true;
  tree.Remount(options);
  EXPECT_EQ(Mode(kPast), 0200u);
}

TEST_F(PastAttributesTest, AnOldOwnerOfADirectoryEntersItNoMore) {
  ASSERT_EQ(Set("default/t/r", 0750, 7), 0);
  LetTimePass();
  ASSERT_EQ(Set("default/t/r", 0751, 8), 0);
  EXPECT_EQ(tree.Stat(kPastRow).st_uid, 7u);
  EXPECT_EQ(Mode(kPastRow), 0750u);
  EXPECT_EQ(ListAs(7, kPastRow), EACCES);
  EXPECT_EQ(LookUpAs(7, kPastRow, "f"), 0);  // all may enter it today
  ASSERT_EQ(Set("default/t/r", 0750), 0);
  EXPECT_EQ(LookUpAs(7, kPastRow, "f"), EACCES);
}

// Its tombstone is of that moment, and not of when it was put.
TEST_F(PastAttributesTest, AFileThatAnothersWasRenamedOverIsThereUntilThen) {
  const std::string other = "default/t/r/f/other";
  ASSERT_EQ(Set(kQ, 0644, 7), 0);
  tree.clock->Advance(60000);
  ASSERT_EQ(tree.Save(other, "new"), 0);
  ASSERT_EQ(tree.Rename(other, kQ), 0);
  EXPECT_EQ(tree.ReadFile(kPast), "old");
  EXPECT_EQ(tree.ReadFile(kQ), "new");
}

// The table's mode is its rows', where these have none.
TEST_F(PastAttributesTest, WhatIsInheritedIsOfThatTimeAsWell) {
  ASSERT_EQ(Set("default/t", 0700, 7), 0);
  LetTimePass();
  ASSERT_EQ(Set("default/t", 0755, 8), 0);
  EXPECT_EQ(Mode("default/t/.asof/1700000000500"), 0700u);
  EXPECT_EQ(tree.Stat(kPast).st_uid, 7u);
  EXPECT_EQ(Mode(kPast), 0600u);
  EXPECT_EQ(tree.Stat(kQ).st_uid, 8u);
}

TEST_F(PastAttributesTest, TimesAreOfThatTime) {
  ASSERT_EQ(SetTime(kQ, {1000, 5}), 0);
  LetTimePass();
  ASSERT_EQ(SetTime(kQ, {2000, 6}), 0);
  EXPECT_EQ(tree.Stat(kPast).st_mtim.tv_sec, 1000);
  EXPECT_EQ(tree.Stat(kPast).st_mtim.tv_nsec, 5);
  EXPECT_LT(tree.Stat(kPast).st_ctim.tv_sec, 1700000001);
}

// Nobody looked at them then.
TEST_F(PastAttributesTest, TimesThatWereSetSinceAreNotShown) {
  const std::string row = "default/t/r";
  const auto shows = [&](int after, const std::string& path) {
    const std::string time = std::to_string(1700000000000 + after);
    return tree.Stat("default/t/.asof/" + time + path).st_mtime;
  };
  const time_t of_version = tree.Stat(kQ).st_mtime;
  for (int seconds = 1; seconds <= 3; ++seconds) {
    tree.clock->Advance(100);
    ASSERT_EQ(SetTime(kQ, {seconds, 0}), 0);
    ASSERT_EQ(SetTime(row, {seconds * 1000, 0}), 0);
  }
  tree.clock->Advance(100);
  EXPECT_EQ(shows(50, "/r/f/q"), of_version);
  EXPECT_NE(shows(50, "/r"), 1000);
  for (int seconds = 1; seconds <= 3; ++seconds) {
    EXPECT_EQ(shows(100 * seconds + 50, "/r/f/q"), seconds);
    EXPECT_EQ(shows(100 * seconds + 50, "/r"), seconds * 1000);
  }
  EXPECT_EQ(tree.Stat(kQ).st_mtime, 3);
}

// Back to its own time, which is nothing that is remembered: it was so from then on.
TEST_F(PastAttributesTest, ATimeThatWasTakenBackIsShownUntilThen) {
  const timespec of_version = tree.Stat(kQ).st_mtim;
  ASSERT_EQ(SetTime(kQ, {1000, 0}), 0);
  tree.clock->Advance(1000);
  ASSERT_EQ(SetTime(kQ, of_version), 0);
  tree.clock->Advance(1000);
  EXPECT_EQ(tree.Stat(kPast).st_mtime, 1000);
  EXPECT_EQ(tree.Stat(kQ).st_mtime, of_version.tv_sec);
  EXPECT_EQ(tree.Stat("default/t/.asof/1700000001500/r/f/q").st_mtime, of_version.tv_sec);
}

TEST_F(PastAttributesTest, AQueryShowsThePresentMode) {
  ASSERT_EQ(Set(kQ, 0640), 0);
  EXPECT_EQ(Mode("default/t/.scan/start=r/r/f/q"), 0640u);
  EXPECT_EQ(tree.Open(kPast, ForWriting()).error, EROFS);
}

}  // namespace
}  // namespace cellfs::fs
