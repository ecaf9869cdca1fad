// SPDX-License-Identifier: MIT
//
// Whose the old versions of a name are that somebody else has made anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "fs/requests/running_request.h"
#include "tests/fs/hooked_store.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

class VersionOwnersTest : public WritingTest {
 protected:
  VersionOwnersTest() {
    MountOptions options;
    options.allow_other = true;
    tree.Remount(options);
  }
  // Its version. A while passes.
  Timestamp SaveAs(uid_t uid, const std::string& value) {
    tree.request.uid = uid;
    EXPECT_EQ(tree.Save(kQ, value), 0);
    tree.request.uid = 0;
    tree.clock->Advance(1000);
    return tree.clock->Now() - 1000;
  }
  void Remove() {
    EXPECT_EQ(tree.Unlink(kQ), 0);
    tree.clock->Advance(1000);
  }
  // Its row, `default/t/new`, too. A while passes.
  void MakeFamily(uid_t uid, mode_t mode) {
    tree.request.uid = uid;
    ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
    ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
    ASSERT_EQ(tree.Change("default/t/new/f", AttributeChange{.mode = mode}), 0);
    tree.clock->Advance(1000);
  }
  // With the file in it.
  void RemoveFamily(const std::string& file) {
    ASSERT_EQ(tree.Unlink("default/t/new/f/" + file), 0);
    ASSERT_EQ(tree.Rmdir("default/t/new/f"), 0);
    ASSERT_EQ(tree.Rmdir("default/t/new"), 0);
    tree.clock->Advance(1000);
  }
  uid_t OwnerOf(Timestamp version) {
    const std::string time = std::to_string(version);
    const uid_t uid = tree.Stat(kQ + ("@" + time)).st_uid;
    EXPECT_EQ(tree.Stat("default/t/r/f/.versions/q/" + time).st_uid, uid);
    return uid;
  }
  int OpenAs(uid_t uid, Timestamp version) {
    return OpenAs(uid, kQ + ("@" + std::to_string(version)));
  }
  int OpenAs(uid_t uid, const std::string& path) {
    const auto entry = tree.LookUp(path);
    Request request;
    request.uid = request.gid = uid;
    auto opened = tree.filesystem->Open(request, *entry->node, {.read = true, .write = false});
    if (opened.ok()) tree.filesystem->Release(*entry->node, opened->handle);
    return opened.error();
  }
};

TEST_F(VersionOwnersTest, WhatWasDeletedBeforeStaysWhoseItWas) {
  const Timestamp first = SaveAs(kOwner, "first");
  Remove();
  const Timestamp second = SaveAs(kStranger, "second");
  Remove();
  const Timestamp third = SaveAs(kOwner, "third");
  EXPECT_EQ(OwnerOf(first), kOwner);
  EXPECT_EQ(OwnerOf(second), kStranger);
  EXPECT_EQ(OwnerOf(third), kOwner);
}

TEST_F(VersionOwnersTest, AFileThatIsGivenAwayGoesWithItsHistory) {
  const Timestamp first = SaveAs(kOwner, "first");
  AttributeChange change;
  change.uid = kStranger;
  ASSERT_EQ(tree.Change(kQ, change), 0);
  SaveAs(kStranger, "second");
  EXPECT_EQ(OwnerOf(first), kStranger);
}

TEST_F(VersionOwnersTest, WhatWasRemovedIsNotOpenedByWhatItsOwnerMakesAnew) {
  const Timestamp first = SaveAs(kOwner, "first");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  Remove();
  SaveAs(kOwner, "second");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0644}), 0);
  EXPECT_EQ(OwnerOf(first), kOwner);
  EXPECT_EQ(tree.Stat(kQ + ("@" + std::to_string(first))).st_mode & 0777u, 0600u);
}

// As another may do who may write the directory.
TEST_F(VersionOwnersTest, WhatIsClosedIsNotOpenedByAFileThatIsMovedOverIt) {
  const std::string open = "default/t/r/f/open";
  const std::string version = kQ + ("@" + std::to_string(SaveAs(kOwner, "closed")));
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  for (const bool aside : {false, true}) {
    tree.request.uid = kOwner;
    ASSERT_EQ(tree.Save(open, "open"), 0);
    ASSERT_EQ(tree.Change(open, AttributeChange{.mode = 0644}), 0);
    tree.request.uid = 0;
    tree.clock->Advance(1000);
    if (aside) {
      ASSERT_EQ(tree.Rename(kQ, "default/t/r/f/q~"), 0);
    }
    ASSERT_EQ(tree.Rename(open, kQ), 0);
    tree.clock->Advance(1000);
    EXPECT_EQ(tree.Stat(kQ).st_mode & 0777u, 0644u);
    // Where others' clocks count the tombstone lies on it, and it is not there.
    if (!tree.LookUp(version).ok()) continue;
    EXPECT_EQ(tree.Stat(version).st_mode & 0777u, 0600u) << aside;
  }
}

// No tombstone tells then that the name is another's: who owns the table sets what hides, and undoes it.
TEST_F(VersionOwnersTest, WhatATtlHidIsNotOpenedByWhatCameMeanwhile) {
  for (const bool is_renamed : {false, true}) {
    const Timestamp first = SaveAs(kOwner, "first");
    ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
    tree.clock->Advance(5000);
    ASSERT_EQ(tree.Save("default/t/r/f/keeps-the-row", "young"), 0);
    ASSERT_EQ(tree.Save("default/t/.schema.toml", "[families.f]\nTTL = 1\n"), 0);
    EXPECT_EQ(tree.Error(kQ), ENOENT);
    if (is_renamed) {
      tree.request.uid = kStranger;
      ASSERT_EQ(tree.Save("default/t/r/f/mine", "second"), 0);
      ASSERT_EQ(tree.Rename("default/t/r/f/mine", kQ), 0);
      tree.request.uid = 0;
    } else {
      SaveAs(kStranger, "second");
    }
    EXPECT_EQ(tree.Stat(kQ).st_uid, kStranger);
    ASSERT_EQ(tree.Save("default/t/.schema.toml", "[families.f]\n"), 0);
    EXPECT_EQ(OwnerOf(first), kOwner) << is_renamed;
    EXPECT_EQ(tree.Stat(kQ + ("@" + std::to_string(first))).st_mode & 0077u, 0u) << is_renamed;
    ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0666}), 0);
    EXPECT_EQ(OwnerOf(first), kOwner) << is_renamed;
    tree.clock->Advance(1000);
    Remove();
  }
}

TEST_F(VersionOwnersTest, WhoMayNotReadTheNameTodayReadsNoVersion) {
  const Timestamp first = SaveAs(kOwner, "first");
  Remove();
  SaveAs(kStranger, "second");
  AttributeChange change;
  change.mode = 0600;
  ASSERT_EQ(tree.Change(kQ, change), 0);
  EXPECT_EQ(OwnerOf(first), kOwner);
  EXPECT_EQ(OpenAs(kOwner, first), EACCES);
  EXPECT_EQ(OpenAs(kStranger, first), 0) << "the kernel asks the mode that is shown";
}

// What was opened is the version that was there to see; what is deleted later is another's secret.
class OpenedEarlierTest : public VersionOwnersTest {
 protected:
  struct Opened {
    NodePtr node;
    FileHandle* handle = nullptr;
  };
  Opened OpenAsStranger(const std::string& path) {
    const auto entry = tree.LookUp(path);
    Request request;
    request.uid = request.gid = kStranger;
    const auto opened =
        tree.filesystem->Open(request, *entry->node, {.read = true, .write = false});
    EXPECT_TRUE(opened.ok()) << path;
    EXPECT_TRUE(opened->direct_io) << "others' reads would fill the pages";
    return {entry->node, opened.ok() ? opened->handle : nullptr};
  }
  std::string ReadAndRelease(const Opened& opened) {
    const auto read = tree.filesystem->Read({}, *opened.node, opened.handle, 0, 100);
    const std::string bytes = read.ok() ? std::string(read->bytes) : "";
    tree.filesystem->Release(*opened.node, opened.handle);
    return bytes;
  }
  void SaveSecret(const std::string& path) {
    tree.request.uid = kOwner;
    ASSERT_EQ(tree.Save("default/t/r/f/secret", "SECRET"), 0);
    ASSERT_EQ(tree.Change("default/t/r/f/secret", AttributeChange{.mode = 0600}), 0);
    ASSERT_EQ(tree.Rename("default/t/r/f/secret", path), 0);
    tree.request.uid = 0;
    tree.clock->Advance(1000);
  }
};

TEST_F(OpenedEarlierTest, AQueryThatIsOpenShowsNothingThatCameLater) {
  SaveAs(kOwner, "public");
  const Opened opened = OpenAsStranger("default/t/.scan/limit=3/r/f/q");
  SaveSecret(kQ);
  EXPECT_EQ(ReadAndRelease(opened), "public");
  EXPECT_EQ(OpenAs(kStranger, "default/t/.scan/limit=3/r/f/q"), EACCES);
}

TEST_F(OpenedEarlierTest, NorDoesWhatIsDeleted) {
  SaveAs(kStranger, "mine");
  Remove();
  const Opened opened = OpenAsStranger("default/t/r/f/.deleted/q");
  SaveSecret(kQ);
  Remove();
  EXPECT_EQ(ReadAndRelease(opened), "mine");
  EXPECT_EQ(OpenAs(kStranger, "default/t/r/f/.deleted/q"), EACCES);
}

TEST_F(VersionOwnersTest, WhoHasTheNameNowAddsNothingToItsPastOfAnother) {
  const Timestamp first = SaveAs(kOwner, "first");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  Remove();
  const std::string forged = kQ + ("@" + std::to_string(first + 500));
  const std::string of_versions = "default/t/r/f/.versions/q/" + std::to_string(first + 500);
  const auto save = [&](uid_t uid, const std::string& path) {
    tree.request.uid = uid;
    const int error = tree.Save(path, "forged");
    tree.request.uid = 0;
    return error;
  };
  EXPECT_EQ(save(kStranger, forged), EACCES) << "nobody has the name";
  const Timestamp second = SaveAs(kStranger, "second");
  EXPECT_EQ(save(kStranger, forged), EACCES);
  EXPECT_EQ(save(kStranger, of_versions), EACCES);
  const std::string his = kQ + ("@" + std::to_string(second + 1));
  EXPECT_EQ(save(kStranger, his), 0) << "it was his by then";
  EXPECT_EQ(tree.Rename(his, forged), 0) << "root";
}

TEST_F(VersionOwnersTest, WhatWasRemovedAndMadeAnewInOneMillisecondStaysWhoseItWas) {
  SaveAs(kOwner, "of before");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  const Timestamp now = tree.clock->Now();
  tree.request.uid = kOwner;
  ASSERT_EQ(tree.Save(kQ, "secret"), 0);
  tree.request.uid = kStranger;
  ASSERT_EQ(tree.Unlink(kQ), 0);
  ASSERT_EQ(tree.Save(kQ, "open"), 0);
  tree.request.uid = 0;
  ASSERT_EQ(tree.clock->Now(), now);
  for (const std::string& version : tree.List("default/t/r/f/.versions/q")) {
    if (version.front() == '.') continue;
    const std::string path = "default/t/r/f/.versions/q/" + version;
    const bool is_open = tree.ReadFile(path) == "open";
    EXPECT_EQ(tree.Stat(path).st_uid, is_open ? kStranger : kOwner) << version;
  }
}

// Its owner is stored behind it, and the clock goes on.
TEST(RenamedVersionTest, IsWhoseTheNameIsThen) {
  HookedTree tree;
  tree.MakeTable();
  MountOptions options;
  options.allow_other = true;
  tree.Remount(options);
  const auto save_as = [&](uid_t uid, const std::string& path, mode_t mode) {
    tree.request.uid = uid;
    ASSERT_EQ(tree.Save(path, "of " + std::to_string(uid)), 0);
    tree.request.uid = 0;
    ASSERT_EQ(tree.Change(path, AttributeChange{.mode = mode}), 0);
    tree.clock->Advance(1000);
  };
  tree.Put("r", "other", "keeps the row", kStart);
  for (const bool is_removed : {false, true}) {
    save_as(kOwner, kQ, 0600);
    save_as(kStranger, "default/t/r/f/mine", 0644);
    if (is_removed) {
      ASSERT_EQ(tree.Unlink(kQ), 0);
    }
    tree.clock->Advance(1000);
    const std::function<void()> tick = [&] {
      tree.clock->Advance(1);
      tree.hooked->after_mutation = tick;
    };
    tick();
    ASSERT_EQ(tree.Rename("default/t/r/f/mine", kQ), 0);
    tree.hooked->after_mutation = nullptr;
    const auto versions = tree.List("default/t/r/f/.versions/q");
    const auto stat =
        tree.Stat("default/t/r/f/.versions/q/" + *std::ranges::max_element(versions));
    EXPECT_EQ(stat.st_uid, kStranger) << is_removed;
    EXPECT_EQ(stat.st_mode & 0777u, 0644u) << is_removed;
    ASSERT_EQ(tree.Unlink(kQ), 0);
    tree.clock->Advance(1000);
  }
}

// What it keeps is stored of it in the same millisecond, however long that takes.
TEST(ChangedDirectoryTest, IsAtNoTimeThatOfAFileThatKeepsWhatItHad) {
  HookedTree tree;
  tree.MakeTable();
  MountOptions options;
  options.allow_other = true;
  tree.Remount(options);
  tree.Put("r", "other", "keeps the row", kStart);
  ASSERT_EQ(tree.Save(kQ, "deleted soon"), 0);
  const mode_t mode = tree.Stat(kQ).st_mode;
  tree.clock->Advance(1);
  const std::function<void()> tick = [&] {
    tree.clock->Advance(1);
    tree.hooked->before_read = tick;
  };
  tick();
  tree.hooked->before_attributes = [&] { tree.hooked->before_read = nullptr; };
  ASSERT_EQ(tree.Change("default/t/r/f", AttributeChange{.mode = 0750}), 0);
  ASSERT_EQ(tree.Unlink(kQ), 0);
  ASSERT_EQ(tree.Rename("default/t/r/f/.deleted/q", kQ), 0);
  EXPECT_EQ(tree.Stat(kQ).st_mode, mode);
}

// More often than is kept of a file's owners.
class ForgottenOwnersTest : public VersionOwnersTest {
 protected:
  void ChangeOften(const std::string& path) {
    for (size_t i = 0; i < 2 * kOwnerVersions; ++i) {
      AttributeChange change;
      change.mode = i % 2 == 0 ? 0755 : 0777;
      ASSERT_EQ(tree.Change(path, change), 0);
      tree.clock->Advance(1000);
    }
  }
};

TEST_F(ForgottenOwnersTest, WhoChangesTheModeOftenGetsNothingOfAnothers) {
  const Timestamp first = SaveAs(kOwner, "first");
  Remove();
  const Timestamp second = SaveAs(kStranger, "second");
  ChangeOften(kQ);
  EXPECT_EQ(OwnerOf(first), 0u);
  EXPECT_EQ(tree.Stat(kQ + ("@" + std::to_string(first))).st_mode & 0777u, 0u);
  EXPECT_EQ(OpenAs(kStranger, second), 0);
  if (!tree.store->traits().pins_moments) return;
  const std::string past = "default/t/.asof/" + std::to_string(first + 10) + "/r/f/q";
  EXPECT_EQ(OpenAs(kStranger, past), EACCES);
}

TEST_F(ForgottenOwnersTest, WhatWasNotDeletedStaysThePresentOwners) {
  const Timestamp first = SaveAs(kOwner, "first");
  ChangeOften(kQ);
  Remove();
  SaveAs(kOwner, "second");
  EXPECT_EQ(OwnerOf(first), kOwner);
}

TEST_F(ForgottenOwnersTest, NorDoesWhoMakesTheDirectoryAnewAndChangesThat) {
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0777}), 0);
  MakeFamily(kOwner, 0700);
  ASSERT_EQ(tree.Save("default/t/new/f/s", "secret"), 0);
  tree.clock->Advance(1000);
  RemoveFamily("s");
  MakeFamily(kStranger, 0777);
  ChangeOften("default/t/new/f");
  tree.request.uid = 0;
  EXPECT_EQ(OpenAs(kStranger, "default/t/new/f/.deleted/s"), EACCES);
}

// It inherits its owner from the directory that he makes.
TEST_F(VersionOwnersTest, WhoMakesTheRowAnewGetsNothingOfThatBefore) {
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0777}), 0);
  const auto make_row = [&](uid_t uid, mode_t mode) {
    tree.request.uid = uid;
    ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
    ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
    ASSERT_EQ(tree.Save("default/t/new/f/s", "of " + std::to_string(uid)), 0);
    ASSERT_EQ(tree.Change("default/t/new/f/s", AttributeChange{.mode = mode}), 0);
    tree.clock->Advance(1000);
  };
  make_row(kOwner, 0644);
  const Timestamp then = tree.clock->Now() - 1000;
  const std::string past = "default/t/.asof/" + std::to_string(then + 10) + "/new/f/s";
  RemoveFamily("s");
  make_row(kStranger, 0644);
  tree.request.uid = 0;
  const auto version = tree.Stat("default/t/new/f/s@" + std::to_string(then));
  EXPECT_EQ(version.st_uid, kOwner);
  EXPECT_EQ(version.st_mode & 0077u, 0u) << "its directories were another's";
  if (!tree.store->traits().pins_moments) return;
  EXPECT_EQ(tree.Stat(past).st_uid, kOwner);
  EXPECT_EQ(tree.Stat(past).st_mode & 0777u, 0644u);
  EXPECT_EQ(OpenAs(kOwner, past), 0);
  EXPECT_EQ(OpenAs(kStranger, past), EACCES) << "its directories were another's";
}

TEST_F(VersionOwnersTest, NorDoesHeLearnTheNamesInADirectoryThatWasClosed) {
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0777}), 0);
  MakeFamily(kOwner, 0700);
  ASSERT_EQ(tree.Save("default/t/new/f/secret-name", "s"), 0);
  ASSERT_EQ(tree.Change("default/t/new/f/secret-name", AttributeChange{.mode = 0600}), 0);
  tree.clock->Advance(1000);
  RemoveFamily("secret-name");
  MakeFamily(kStranger, 0777);
  ASSERT_EQ(tree.Save("default/t/new/f/his", "h"), 0);
  ASSERT_EQ(tree.Unlink("default/t/new/f/his"), 0);
  const auto list_as = [&](uid_t uid) {
    const RunningRequest running(uid, nullptr);
    return tree.List("default/t/new/f/.deleted");
  };
  EXPECT_EQ(list_as(kStranger), (Names{"his"}));
  EXPECT_EQ(list_as(0), (Names{"his", "secret-name"}));
  EXPECT_EQ(list_as(kOwner), (Names{"his", "secret-name"}));
}

// A copy makes the row first, which is another's making.
class ClosedRowTest : public VersionOwnersTest {
 protected:
  // Of who has emptied it.
  void RootMakesTheRowAnew() {
    ASSERT_EQ(tree.Rmdir("default/t/new/f"), 0);
    ASSERT_EQ(tree.Rmdir("default/t/new"), 0);
    tree.clock->Advance(1000);
    tree.request.uid = 0;
    ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
    ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
  }
};

TEST_F(ClosedRowTest, WhatWasInAClosedRowShowsTheModeThatItHad) {
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0777}), 0);
  const std::string file = "default/t/new/f/s";
  const std::string deleted = "default/t/new/f/.deleted/s";
  tree.request.uid = kOwner;
  ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
  ASSERT_EQ(tree.Save(file, "of then"), 0);
  ASSERT_EQ(tree.Change(file, AttributeChange{.mode = 0664}), 0);
  ASSERT_EQ(tree.Change("default/t/new", AttributeChange{.mode = 0700}), 0);
  tree.clock->Advance(1000);
  const std::string time = std::to_string(tree.clock->Now());
  tree.clock->Advance(1000);
  ASSERT_EQ(tree.Unlink(file), 0);
  ASSERT_NO_FATAL_FAILURE(RootMakesTheRowAnew());
  for (const std::string& path : {deleted, "default/t/.asof/" + time + "/new/f/s"}) {
    if (path != deleted && !tree.store->traits().pins_moments) continue;
    EXPECT_EQ(tree.Stat(path).st_uid, kOwner) << path;
    EXPECT_EQ(tree.Stat(path).st_mode & 0777u, 0664u) << path;
    EXPECT_EQ(OpenAs(0, path), 0) << path;
    EXPECT_EQ(OpenAs(kOwner, path), 0) << path;
    EXPECT_EQ(OpenAs(kStranger, path), EACCES) << path;
  }
  tree.request.uid = kStranger;
  ASSERT_EQ(tree.Rename(deleted, file), 0);
  tree.request.uid = 0;
  EXPECT_EQ(tree.Stat(file).st_mode & 0777u, 0600u) << "it was closed to him";
  ASSERT_EQ(tree.Unlink(file), 0);
}

TEST_F(ClosedRowTest, WhoBringsBackWhatWasInAClosedRowGivesItItsMode) {
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0777}), 0);
  tree.request.uid = kOwner;
  ASSERT_EQ(tree.Mkdir("default/t/new"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/new/f"), 0);
  ASSERT_EQ(tree.Save("default/t/new/f/s", "of then"), 0);
  ASSERT_EQ(tree.Change("default/t/new", AttributeChange{.mode = 0700}), 0);
  ASSERT_EQ(tree.Unlink("default/t/new/f/s"), 0);
  ASSERT_NO_FATAL_FAILURE(RootMakesTheRowAnew());
  ASSERT_EQ(tree.Rename("default/t/new/f/.deleted/s", "default/t/new/f/s"), 0);
  EXPECT_EQ(tree.Stat("default/t/new/f/s").st_mode & 0777u, 0644u);
  EXPECT_EQ(tree.Stat("default/t/new/f/s").st_uid, kOwner);
}

// And of those who had it before it was given away, each at his time.
TEST_F(VersionOwnersTest, BelowAsofTheOwnerIsThatOfItsTime) {
  const Timestamp first = SaveAs(kOwner, "first");
  AttributeChange given;
  given.uid = kStranger;
  given.mode = 0600;
  ASSERT_EQ(tree.Change(kQ, given), 0);
  tree.clock->Advance(1000);
  Remove();
  SaveAs(7, "second");
  const auto past = [&](int64_t after) {
    return "default/t/.asof/" + std::to_string(first + after) + "/r/f/q";
  };
  EXPECT_EQ(tree.Stat(past(10)).st_uid, kOwner);
  EXPECT_EQ(tree.Stat(past(10)).st_mode & 0777u, 0644u);
  EXPECT_EQ(OpenAs(kOwner, past(10)), EACCES) << "it was closed to him before it was removed";
  EXPECT_EQ(OpenAs(kStranger, past(10)), 0);
  EXPECT_EQ(tree.Stat(past(1010)).st_uid, kStranger);
  EXPECT_EQ(tree.Stat(past(1010)).st_mode & 0777u, 0600u);
  EXPECT_EQ(tree.Error(past(2010)), ENOENT);
  EXPECT_EQ(tree.Stat(past(3010)).st_uid, 7u);
}

// Whose name it is by now may have opened it.
TEST_F(VersionOwnersTest, BelowAsofTheRightsAreThoseOfWhenItWasDeleted) {
  const Timestamp first = SaveAs(kOwner, "first");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  Remove();
  SaveAs(kStranger, "second");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0666}), 0);
  const std::string past = "default/t/.asof/" + std::to_string(first + 10) + "/r/f/q";
  EXPECT_EQ(tree.Stat(past).st_uid, kOwner);
  EXPECT_EQ(tree.Stat(past).st_mode & 0777u, 0644u);
  EXPECT_EQ(OpenAs(kOwner, past), 0);
  EXPECT_EQ(OpenAs(kStranger, past), EACCES);
}

TEST_F(VersionOwnersTest, WhoRenamesOverAFileGetsNothingOfThatBefore) {
  const Timestamp first = SaveAs(kOwner, "first");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  tree.request.uid = kStranger;
  ASSERT_EQ(tree.Save("default/t/r/f/mine", "second"), 0);
  tree.clock->Advance(100000);  // more than clocks of a cluster are apart
  ASSERT_EQ(tree.Rename("default/t/r/f/mine", kQ), 0);
  tree.request.uid = 0;
  EXPECT_EQ(tree.ReadFile(kQ), "second");
  EXPECT_EQ(tree.Stat(kQ).st_uid, kStranger);
  EXPECT_EQ(tree.Error("default/t/r/f/mine"), ENOENT);
  EXPECT_EQ(OwnerOf(first), kOwner);
  EXPECT_EQ(tree.Stat(kQ + ("@" + std::to_string(first))).st_mode & 0777u, 0600u);
  tree.request.uid = kStranger;
  ASSERT_EQ(tree.Save("default/t/r/f/tmp", "third"), 0);
  tree.clock->Advance(1000);
  ASSERT_EQ(tree.Rename("default/t/r/f/tmp", kQ), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "third");
}

TEST_F(VersionOwnersTest, WhatIsRenamedOverAFileIsReadWhateverItsTime) {
  for (const Timestamp time : {-1, 0, 1, 2, 50}) {
    for (const Timestamp passes : {0, 1, 2, 100000}) {
      tree.request.uid = kOwner;
      ASSERT_EQ(tree.Save(kQ, "first"), 0);
      const timespec shown = tree.Stat(kQ).st_mtim;
      const Timestamp newest = shown.tv_sec * 1000 + shown.tv_nsec / 1000000;
      tree.clock->Advance(passes);
      tree.request.uid = kStranger;
      ASSERT_EQ(tree.Save("default/t/r/f/mine", "second"), 0);
      AttributeChange touch;
      touch.mtime = ToTimespec(newest + time);
      ASSERT_EQ(tree.Change("default/t/r/f/mine", touch), 0);
      ASSERT_EQ(tree.Rename("default/t/r/f/mine", kQ), 0);
      tree.request.uid = 0;
      EXPECT_EQ(tree.ReadFile(kQ), "second") << time << " " << passes;
      Remove();
    }
  }
}

// At that time the name was the other's already, and the version was not; a query shows old versions
// under the plain name.
TEST_F(VersionOwnersTest, NoViewOpensThem) {
  const Timestamp first = SaveAs(kOwner, "first");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  Remove();
  SaveAs(kStranger, "second");
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0666}), 0);
  tree.clock->Advance(1000);
  const std::string time = std::to_string(first);
  for (const std::string& path :
       {"default/t/.asof/" + std::to_string(tree.clock->Now() - 10) + "/r/f/q@" + time,
        "default/t/.scan/time_range=0.." + std::to_string(first + 1) + "/r/f/q"}) {
    EXPECT_EQ(tree.Stat(path).st_uid, kOwner) << path;
    EXPECT_EQ(tree.Stat(path).st_mode & 0077u, 0u) << path;
  }
}

TEST_F(VersionOwnersTest, ACopyThatSetsAnOwnerOfSuchAVersionChangesNothing) {
  const Timestamp first = SaveAs(kOwner, "first");
  Remove();
  const Timestamp second = SaveAs(kStranger, "second");
  AttributeChange change;
  change.uid = kOwner;
  change.mode = 0600;
  EXPECT_EQ(tree.Change("default/t/r/f/.versions/q/" + std::to_string(first), change), 0);
  EXPECT_EQ(OwnerOf(second), kStranger);
  tree.request.uid = kOwner;
  EXPECT_EQ(tree.Change("default/t/r/f/.versions/q/" + std::to_string(first), change), EPERM);
}

}  // namespace
}  // namespace cellfs::fs
