// SPDX-License-Identifier: MIT
//
// The file system over a store that offers HBase's letter alone, that others write to, and that
// cannot always say what became of a mutation.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fs/operations/callers_store.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr char kVersionOfQ[] = "default/t/r/f/q@";

struct RemoteStoreTest : testing::Test {
  RemoteStoreTest() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
  }
  RemoteStore& remote() { return static_cast<RemoteStore&>(*tree.store); }

  static RowMutations PutOf(const std::string& value, Timestamp timestamp) {
    return RowMutations::Of(Put{"r", {{"f", "q", timestamp, value, {}}}});
  }
  // What another client does to q.
  void PutElsewhere(const std::string& value, Timestamp timestamp = kLatestTimestamp) {
    PutInto(remote().elsewhere(), value, timestamp);
  }
  void PutInto(Store& store, const std::string& value, Timestamp timestamp = kLatestTimestamp) {
    EXPECT_TRUE(store.Mutate(Caller::Superuser(), tree.table, PutOf(value, timestamp)).ok());
  }
  void DeleteElsewhere(Timestamp timestamp) {
    const Delete gone{"r", {{CellType::kDeleteColumn, "f", "q", timestamp}}};
    EXPECT_TRUE(
        remote().elsewhere().Mutate(Caller::Superuser(), tree.table, RowMutations::Of(gone)).ok());
  }

  WritingTree tree{{}, StoreKind::kRemote};
};

TEST_F(RemoteStoreTest, StatusSaysWhatItCannotKeep) {
  const std::string status = tree.ReadFile(".cellfs/status");
  EXPECT_NE(status.find("[[not_kept]]\nwhat = \"others write too"), std::string::npos) << status;
  for (const char* what : {"leaves a tombstone", "O_EXCL, flock", "leaves it declared",
                           "mv of it is EXDEV", "that is dropped is gone", "DELETED_TTL has no effect"}) {
    EXPECT_NE(status.find(what), std::string::npos) << what << " in " << status;
  }
  WritingTree local{{}, StoreKind::kLocal};
  EXPECT_EQ(local.ReadFile(".cellfs/status").find("not_kept"), std::string::npos);
}

// ---- Timestamps ---------------------------------------------------------------------------------

TEST_F(RemoteStoreTest, WhatIsWrittenLastIsReadNext) {
  EXPECT_EQ(tree.Save(kQ, "one"), 0);
  EXPECT_EQ(tree.Save(kQ, "two"), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@1 Put@0");
  PutElsewhere("of tomorrow", kStart + 86400000);
  EXPECT_EQ(tree.Save(kQ, "three"), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "three");
  EXPECT_EQ(tree.Stored("q"), "Put@86400001 Put@86400000 Put@1 Put@0");
}

TEST_F(RemoteStoreTest, AWriteGoesAboveTombstonesThatAreToCome) {
  DeleteElsewhere(kStart + 1000);
  EXPECT_EQ(tree.Save(kQ, "new"), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new");
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@1002 Put@1001 DeleteColumn@1000");
  const OpenFile log = tree.Create(kQ, false, ForAppending());
  EXPECT_EQ(tree.Write(log, "line"), 0);
  EXPECT_EQ(tree.Close(log), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "line");
}

TEST_F(RemoteStoreTest, WhereNoTimestampIsLeftAWriteSaysSo) {
  PutElsewhere("at the end of time", kLatestTimestamp - 1);
  EXPECT_EQ(tree.Save(kQ, "new"), EOVERFLOW);
  EXPECT_EQ(tree.ReadFile(kQ), "at the end of time");
}

// Else what another client puts, which the servers stamp, could lie beneath what it has read.
TEST_F(RemoteStoreTest, AWriteIsNotThereBeforeItsTime) {
  PutElsewhere("from a moment that is near", kStart + 8);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(tree.Save(kQ, "new"), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(9));
  EXPECT_EQ(tree.Stored("q"), "Put@9 Put@8");
}

TEST_F(RemoteStoreTest, ByAClockThatIsWrongNothingIsWritten) {
  EXPECT_EQ(tree.Save(kQ, "one"), 0);
  remote().SetClockDifference(kLongestClockDifference);
  EXPECT_EQ(tree.Save(kQ, "two"), 0);
  remote().SetClockDifference(-kLongestClockDifference - std::chrono::milliseconds(1));
  EXPECT_EQ(tree.Save(kQ, "three"), EIO);
  EXPECT_EQ(tree.Unlink(kQ), EIO);
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("clock is 30 s behind"), std::string::npos);
  EXPECT_NE(tree.ReadFile(".cellfs/status").find("clock_difference_ms = -30001"),
            std::string::npos);
  EXPECT_EQ(tree.ReadFile(kQ), "two");
  // A timestamp that the user says is his own affair.
  EXPECT_EQ(tree.Save(kVersionOfQ + std::to_string(kStart - 10), "then"), 0);
}

TEST_F(RemoteStoreTest, AnAppendGoesToWhatIsThereNow) {
  EXPECT_EQ(tree.Save(kQ, "a"), 0);
  const OpenFile log = tree.Open(kQ, ForAppending());
  EXPECT_EQ(tree.Write(log, "b", 1), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) { PutInto(elsewhere, "other "); });
  EXPECT_EQ(tree.Close(log), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "other b");
}

// The put that another client makes between the look at the column and the write.
TEST_F(RemoteStoreTest, AWriteIsStampedAnewWhereAnotherCameFirst) {
  EXPECT_EQ(tree.Save(kQ, "one"), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) { PutInto(elsewhere, "two", kStart + 500); });
  EXPECT_EQ(tree.Save(kQ, "three"), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "three");
  EXPECT_EQ(tree.Stored("q"), "Put@501 Put@500 Put@0");
}

TEST_F(RemoteStoreTest, AnEditIsMadeOfWhatIsThereNow) {
  EXPECT_EQ(tree.Save(kQ, "aaaa"), 0);
  const OpenFile file = tree.Open(kQ, ForWriting());
  EXPECT_EQ(tree.Write(file, "X", 1), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) { PutInto(elsewhere, "bbbb", kStart + 500); });
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "bXbb");
}

TEST_F(RemoteStoreTest, AFileThatAnotherMadeFirstIsNotMadeExclusively) {
  const OpenFile file = tree.Create(kQ, true);
  EXPECT_EQ(tree.Write(file, "mine"), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) { PutInto(elsewhere, "theirs"); });
  EXPECT_EQ(tree.Close(file), EEXIST);
  EXPECT_EQ(tree.ReadFile(kQ), "theirs");
}

// Both between the look at the column and the put, which his tombstone hides.
TEST_F(RemoteStoreTest, AFileThatAnotherMadeAndRemovedMeanwhileIsNotMadeExclusively) {
  const OpenFile file = tree.Create(kQ, true);
  EXPECT_EQ(tree.Write(file, "mine"), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) {
    PutInto(elsewhere, "theirs", kStart + 500);
    DeleteElsewhere(kStart + 500);
  });
  EXPECT_EQ(tree.Close(file), EEXIST);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  const OpenFile again = tree.Create(kQ, true);
  EXPECT_EQ(tree.Write(again, "mine"), 0);
  EXPECT_EQ(tree.Close(again), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "mine");
}

TEST_F(RemoteStoreTest, AVersionThatCouldNotBeReadIsRefused) {
  EXPECT_EQ(tree.Save(kQ, "now"), 0);
  const std::string version = kVersionOfQ + std::to_string(kStart - 10);
  EXPECT_EQ(tree.Save(version, "then"), 0);
  EXPECT_EQ(tree.ReadFile(version), "then");
  EXPECT_EQ(tree.Unlink(version), 0);
  EXPECT_EQ(tree.Save(version, "again"), ERANGE);
  EXPECT_EQ(tree.Error(version), ENOENT);
  EXPECT_EQ(tree.ReadFile(kQ), "now");
}

TEST_F(RemoteStoreTest, ThePastIsWhatTimestampsTellOfIt) {
  const std::string asof = "default/t/.asof/";
  tree.Put("r", "old", "before", kStart - 10);
  tree.Put("r", "old", "after", kStart + 10);
  tree.clock->Advance(100);
  const std::string past = asof + std::to_string(kStart);
  EXPECT_EQ(tree.ReadFile(past + "/r/f/old"), "before");
  EXPECT_EQ(tree.LookUp(past + "/r")->name_valid_seconds, 0);
  tree.Put("r", "old", "late, with an early timestamp", kStart - 5);
  EXPECT_EQ(tree.ReadFile(past + "/r/f/old"), "late, with an early timestamp");
  EXPECT_EQ(tree.Error(asof + "now"), 0);  // a link to such a directory
  EXPECT_TRUE(tree.filesystem->asof().ListHeld().empty());
  tree.filesystem->LetGoUnused();
}

// ---- What cannot be withdrawn -------------------------------------------------------------------

TEST_F(RemoteStoreTest, ATemporaryIsInMemoryUntilItIsRenamed) {
  const std::string temporary = "default/t/r/f/.q.Xa1b2c";
  EXPECT_EQ(tree.Save(temporary, "new"), 0);
  EXPECT_EQ(tree.ReadFile(temporary), "new");
  EXPECT_EQ(tree.List("default/t/r/f"), (std::vector<std::string>{".q.Xa1b2c", "other"}));
  EXPECT_EQ(tree.Stored(".q.Xa1b2c"), "");
  EXPECT_EQ(tree.Rename(temporary, kQ), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new");
  EXPECT_EQ(tree.Error(temporary), ENOENT);
  EXPECT_EQ(tree.Stored(".q.Xa1b2c"), "");
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  EXPECT_EQ(tree.List("default/t/r/f"), (std::vector<std::string>{"other", "q"}));
  EXPECT_EQ(tree.Save("default/t/r/f/b.tmp", "x"), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/b.tmp"), 0);
  EXPECT_EQ(tree.Stored("b.tmp"), "");
}

TEST_F(RemoteStoreTest, ATemporaryHasTheTimeThatItWasGiven) {
  const std::string temporary = "default/t/r/f/.q.Xa1b2c";
  EXPECT_EQ(tree.Save(temporary, "new"), 0);
  tree.clock->Advance(100);
  AttributeChange change;
  change.mtime = ToTimespec(kStart - 5);
  EXPECT_EQ(tree.Change(temporary, change), 0);
  EXPECT_EQ(tree.Rename(temporary, kQ), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@-5");
}

TEST_F(RemoteStoreTest, WhoStillWritesARenamedTemporaryIsTold) {
  const std::string temporary = "default/t/r/f/.q.Xa1b2c";
  const OpenFile file = tree.Create(temporary);
  EXPECT_EQ(tree.Write(file, "a"), 0);
  EXPECT_EQ(tree.Rename(temporary, kQ), 0);
  EXPECT_EQ(tree.Write(file, "b", 1), ESTALE);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "a");
}

TEST_F(RemoteStoreTest, AnotherNameThatIsRenamedLeavesATombstone) {
  EXPECT_EQ(tree.Save("default/t/r/f/new", "x"), 0);
  EXPECT_EQ(tree.Rename("default/t/r/f/new", kQ), 0);
  EXPECT_EQ(tree.Stored("new"), "DeleteColumn@1 Put@0");
}

TEST_F(RemoteStoreTest, AFilePutAsideAndWrittenAnewKeepsTheTombstoneInBetween) {
  EXPECT_EQ(tree.Save(kQ, "old"), 0);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/q~"), 0);
  EXPECT_EQ(tree.Save(kQ, "new"), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q~"), "old");
  EXPECT_EQ(tree.Stored("q"), "Put@2 DeleteColumn@1 Put@0");
}

TEST_F(RemoteStoreTest, WhatIsDeletedIsNotFreed) {
  EXPECT_EQ(tree.Save(kQ, "x"), 0);
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/.deleted/q"), EOPNOTSUPP);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.deleted/q"), "x");
}

TEST_F(RemoteStoreTest, AStoredVersionIsGivenNoOtherEnd) {
  EXPECT_EQ(tree.Save(kQ, "x"), 0);
  tree.Remount({.xattr = true});
  const NodePtr q = tree.LookUp(kQ)->node;
  const int sent = remote().mutations();
  EXPECT_EQ(tree.filesystem->SetXattr(tree.request, *q, "user.cellfs.ttl", "1000", 0).error(),
            EOPNOTSUPP);
  EXPECT_EQ(remote().mutations(), sent);
}

// A table of the same name that is made later must not show the attributes of the first.
TEST_F(RemoteStoreTest, TheAttributesOfADroppedTableGo) {
  AttributeChange change;
  change.mode = 0600;
  ASSERT_EQ(tree.Save(kQ, "x"), 0);
  ASSERT_EQ(tree.Change(kQ, change), 0);
  ASSERT_EQ(tree.Unlink(kQ), 0);
  ASSERT_EQ(tree.Unlink("default/t/r/f/other"), 0);
  for (const char* directory : {"default/t/r/f", "default/t/r", "default/t"}) {
    ASSERT_EQ(tree.Rmdir(directory), 0) << directory;
  }
  tree.MakeTable();
  tree.Put("r", "q", "y");
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0644u);
  tree.Remount();
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0644u);
}

// ---- Requests -----------------------------------------------------------------------------------

// A look at what lies on the column, and the put that holds only if nothing later has come since;
// what names and attributes need is brought for many at once, and outlasts the puts to other rows.
TEST_F(RemoteStoreTest, OverwritingFilesOneAfterTheOtherTakesTwoRequestsEach) {
  constexpr int kFiles = 200;
  const auto row = [](int i) { return "row" + std::to_string(1000 + i); };
  for (int i = 0; i < kFiles; ++i) tree.Put(row(i), "q", "old");
  const int mutations = remote().mutations();
  const int reads = remote().reads();
  for (int i = 0; i < kFiles; ++i)
    ASSERT_EQ(tree.Save("default/t/" + row(i) + "/f/q", "new"), 0) << i;
  EXPECT_EQ(remote().mutations() - mutations, kFiles);
  EXPECT_LE(remote().reads() - reads, kFiles + 30);
  for (int i = 0; i < kFiles; ++i)
    ASSERT_EQ(tree.ReadFile("default/t/" + row(i) + "/f/q"), "new") << i;
}

TEST_F(RemoteStoreTest, WhoReadsAgainWhatAnotherChangedAsksSeldom) {
  constexpr int kFiles = 200;
  const auto row = [](int i) { return "row" + std::to_string(1000 + i); };
  const auto put_elsewhere = [&](const std::string& value) {
    for (int i = 0; i < kFiles; ++i) {
      const auto put =
          RowMutations::Of(Put{row(i), {{"f", "q", kLatestTimestamp, value, {}}}});
      ASSERT_TRUE(remote().elsewhere().Mutate(Caller::Superuser(), tree.table, put).ok());
    }
  };
  put_elsewhere("old");
  std::vector<NodePtr> nodes;  // the kernel remembers the names
  for (const std::string value : {"old", "newer", "newest"}) {
    tree.clock->Advance(RemoteStore::kMaxStalenessMs);
    put_elsewhere(value);
    const int reads = remote().reads();
    for (int i = 0; i < kFiles; ++i) {
      const OpenFile file = tree.Open("default/t/" + row(i) + "/f/q", {});
      ASSERT_EQ(tree.Read(file), value) << i;
      nodes.push_back(file.node);
      tree.Close(file);
    }
    EXPECT_LE(remote().reads() - reads, 30);
  }
}

// Its cell, its owner and mode; and what all looks need: the table, what is kept of directories.
TEST_F(RemoteStoreTest, WhereNothingMayBeOldALookAsksOnceForEachThing) {
  remote().SetMaxStaleness(0);
  tree.Remount();
  ASSERT_EQ(tree.Save(kQ, "mine"), 0);
  AttributeChange change;
  change.mode = 0600;
  ASSERT_EQ(tree.Change(kQ, change), 0);
  const auto entry = tree.LookUp(kQ);
  ASSERT_TRUE(entry.ok());
  const auto look = [&] { return tree.filesystem->GetAttributes(tree.request, *entry->node); };
  for (const auto size : {4, 6}) {
    ASSERT_TRUE(look().ok());  // looks twice where there is another version
    const int reads = remote().reads();
    const int descriptions = remote().descriptions();
    const auto reply = look();
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->attributes.st_size, size);
    EXPECT_EQ(reply->attributes.st_mode & 0777, 0600U);
    EXPECT_EQ(remote().reads() - reads, 3);
    EXPECT_EQ(remote().descriptions() - descriptions, 1);
    PutElsewhere("theirs", kStart + 5);
  }
}

// Each is one request of the kernel.
TEST_F(RemoteStoreTest, WhereNothingMayBeOldAChangeOfAFileDescribesTheTableOnce) {
  remote().SetMaxStaleness(0);
  tree.Remount();
  ASSERT_EQ(tree.Save(kQ, "mine"), 0);
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0600}), 0);
  const auto entry = tree.LookUp(kQ);
  const NodePtr family = tree.Directory("default/t/r/f");
  ASSERT_TRUE(entry.ok());
  FileSystem& files = *tree.filesystem;
  const Request& request = tree.request;
  OpenFile file{0, entry->node, nullptr};
  OpenFile created;
  const std::vector<std::pair<const char*, std::function<bool()>>> acts = {
      {"open", [&] {
         auto opened = files.Open(request, *file.node, Truncating());
         if (opened.ok()) file.handle = opened->handle;
         return opened.ok();
       }},
      {"flush", [&] { return tree.Write(file, "other") == 0 && tree.Flush(file) == 0; }},
      {"fsync", [&] {
         return tree.Write(file, "a third") == 0 && files.Sync(*file.node, *file.handle).ok();
       }},
      {"setattr", [&] {
         return files.SetAttributes(request, *file.node, {.mode = 0640}, nullptr).ok();
       }},
      {"rename", [&] { return files.Rename(request, *family, "q", *family, "other", 0).ok(); }},
      {"unlink", [&] { return files.Unlink(request, *family, "other").ok(); }},
      {"create", [&] {
         auto made = files.Create(request, *family, "new", 0644, ForWriting(), true);
         if (made.ok()) created = {0, made->entry.node, made->handle};
         return made.ok();
       }},
  };
  for (const auto& [name, act] : acts) {
    const int descriptions = remote().descriptions();
    EXPECT_TRUE(act()) << name;
    EXPECT_LE(remote().descriptions() - descriptions, 1) << name;
  }
  for (const OpenFile& open : {file, created}) files.Release(*open.node, open.handle);
}

// As rsync does: it makes a directory for itself, sets its time and opens it. Nobody else sees that
// there is one before something is in it.
TEST_F(RemoteStoreTest, WhatADirectoryIsMadeToBeIsStoredOnceBeforeItsFirstFile) {
  const auto make = [&](const std::string& path) {
    const auto [parent, name] = WritingTree::Split(path);
    ASSERT_TRUE(
        tree.filesystem->MakeDirectory(tree.request, *tree.Directory(parent), name, 0700).ok());
    EXPECT_EQ(tree.Stat(path).st_mode & 07777, 0700u);
    tree.clock->Advance(1);
    for (const mode_t mode : {0700, 0750}) {
      AttributeChange change;
      change.mode = mode;
      change.mtime = timespec{1000, 5};
      ASSERT_EQ(tree.Change(path, change), 0);
    }
  };
  const auto expect_made = [&] {
    for (const char* path : {"default/t/x", "default/t/x/f", "default/t/x/g"}) {
      EXPECT_EQ(tree.Stat(path).st_mode & 07777, 0750u) << path;
    }
    EXPECT_EQ(tree.Stat("default/t/x/g").st_mtim.tv_nsec, 5);
  };
  Store& elsewhere = remote().elsewhere();
  ASSERT_TRUE(elsewhere.AddFamily(Caller::Superuser(), tree.table, FamilySchema("g")).ok());
  const int mutations = remote().mutations();
  make("default/t/x");
  make("default/t/x/f");
  make("default/t/x/g");
  expect_made();
  EXPECT_EQ(remote().mutations(), mutations);
  ASSERT_EQ(tree.Save("default/t/x/f/q", "1"), 0);
  EXPECT_EQ(tree.Stat("default/t/x/f/q").st_mode & 07777, 0644u);
  EXPECT_LE(remote().mutations() - mutations, 3 + 1 + 3) << "the last: that something is kept";
  expect_made();
  ASSERT_EQ(tree.Save("default/t/x/g/q", "1"), 0);
  tree.Remount();
  for (const char* path : {"default/t/x", "default/t/x/f", "default/t/x/g"})
    EXPECT_EQ(tree.Stat(path).st_mode & 07777, 0750u) << path;
}

TEST_F(RemoteStoreTest, WhatADirectoryWasMadeToBeGoesWithIt) {
  AttributeChange closed;
  closed.mode = 0700;
  ASSERT_EQ(tree.Mkdir("default/t/x"), 0);
  ASSERT_EQ(tree.Change("default/t/x", closed), 0);
  ASSERT_EQ(tree.Rmdir("default/t/x"), 0);
  const Put put{"x", {{"f", "q", kLatestTimestamp, "theirs", {}}}};
  ASSERT_TRUE(remote().elsewhere().Mutate(Caller::Superuser(), tree.table,
                                          RowMutations::Of(put)).ok());
  EXPECT_EQ(tree.Stat("default/t/x").st_mode & 07777, 0755u);
  ASSERT_EQ(tree.Save("default/t/x/f/p", "ours"), 0);
  EXPECT_EQ(tree.Stat("default/t/x").st_mode & 07777, 0755u);
}

// As a command does.
TEST_F(RemoteStoreTest, ADirectoryIsWhatItWasMadeToBeWhoeverPutsItsFirstCell) {
  ASSERT_EQ(tree.Mkdir("default/t/x"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/x/f"), 0);
  AttributeChange closed;
  closed.mode = 0700;
  ASSERT_EQ(tree.Change("default/t/x/f", closed), 0);
  CallersStore store(*tree.filesystem, Credentials{}, 022);
  const Put put{"x", {{"f", "q", kLatestTimestamp, "1", {}}}};
  ASSERT_TRUE(store.Mutate(Caller::Superuser(), tree.table, RowMutations::Of(put)).ok());
  tree.Remount();
  EXPECT_EQ(tree.Stat("default/t/x/f").st_mode & 07777, 0700u);
}

// ---- Freshness ----------------------------------------------------------------------------------

constexpr double kValidSeconds = RemoteStore::kMaxStalenessMs / 2 / 1000.0;

// Counts what the kernel is told of a node.
class CountingKernel : public KernelNotifier {
 public:
  CountingKernel(WritingTree& tree, NodePtr node) : tree_(tree), node_(std::move(node)) {
    tree_.filesystem->kernel().SetNotifier(this);
  }
  ~CountingKernel() override { tree_.filesystem->kernel().SetNotifier(nullptr); }
  void InvalidateInode(const Node& node) override { told_ += &node == node_.get() ? 1 : 0; }
  void InvalidateAttributes(const Node&) override {}
  void InvalidateEntry(const Node&, const std::string&) override {}
  int told() const { return told_; }

 private:
  WritingTree& tree_;
  const NodePtr node_;
  std::atomic<int> told_{0};
};

TEST_F(RemoteStoreTest, TheKernelKeepsNamesAndAttributesForAWhileAndNothingElse) {
  ASSERT_EQ(tree.Save(kQ, "x"), 0);
  for (const char* path : {"default", "default/t", "default/t/r", "default/t/r/f", kQ}) {
    const auto entry = tree.LookUp(path);
    EXPECT_EQ(entry->name_valid_seconds, kValidSeconds) << path;
    EXPECT_EQ(entry->attributes_valid_seconds, kValidSeconds) << path;
  }
  const NodePtr q = tree.LookUp(kQ)->node;
  for (const OpenMode& mode : {OpenMode(), ForWriting()}) {
    const auto opened = tree.filesystem->Open(tree.request, *q, mode);
    EXPECT_FALSE(opened->keep_cache);
    tree.filesystem->Release(*q, opened->handle);
  }
  const auto listing = tree.filesystem->OpenListing(tree.request, *tree.Directory("default/t/r/f"));
  EXPECT_FALSE(listing->cache_listing);
}

TEST_F(RemoteStoreTest, WhatAnotherClientDoesIsSeenByTheNextLook) {
  ASSERT_EQ(tree.Save(kQ, "mine"), 0);
  EXPECT_EQ(tree.Stat(kQ).st_size, 4);
  PutElsewhere("theirs", kStart + 5);
  EXPECT_EQ(tree.Stat(kQ).st_size, 6);
  EXPECT_EQ(tree.ReadFile(kQ), "theirs");
  DeleteElsewhere(kStart + 5);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.List("default/t/r/f"), std::vector<std::string>{"other"});
  PutElsewhere("again", kStart + 6);
  EXPECT_EQ(tree.List("default/t/r/f"), (std::vector<std::string>{"other", "q"}));
}

TEST_F(RemoteStoreTest, WhoHasAFileOpenReadsOnInTheNewerVersionOnceItIsSeen) {
  ASSERT_EQ(tree.Save(kQ, "one"), 0);
  const OpenFile file = tree.Open(kQ, {});
  EXPECT_EQ(tree.Read(file), "one");
  const CountingKernel kernel(tree, file.node);
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *file.node)->attributes.st_size, 3);
  EXPECT_EQ(kernel.told(), 0);
  PutElsewhere("other", kStart + 5);
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *file.node)->attributes.st_size, 5);
  EXPECT_EQ(kernel.told(), 1);
  EXPECT_EQ(tree.Read(file), "other");
  tree.Close(file);
}

// The kernel may be filling one of them.
// Else what was written last would come back with zeros before it.
TEST_F(RemoteStoreTest, WhoWritesOnInAFileThatAnotherRemovedIsTold) {
  Timestamp gone = kStart;
  for (const OpenMode& mode : {ForWriting(), Truncating()}) {
    gone += 1000;
    ASSERT_EQ(tree.Save(kQ, "first"), 0);
    const OpenFile file = tree.Open(kQ, mode);
    EXPECT_EQ(tree.Write(file, "first"), 0);
    EXPECT_EQ(tree.Flush(file), 0);
    DeleteElsewhere(gone);
    EXPECT_EQ(tree.Write(file, "last", 5), 0);
    EXPECT_EQ(tree.Flush(file), ESTALE);
    EXPECT_EQ(tree.Write(file, "more", 9), ESTALE);
    EXPECT_EQ(tree.Close(file), ESTALE);
    EXPECT_EQ(tree.Error(kQ), ENOENT);
  }
}

TEST_F(RemoteStoreTest, WhoAppendsToAFileThatAnotherRemovedMakesItAnew) {
  ASSERT_EQ(tree.Save(kQ, "before\n"), 0);
  const OpenFile log = tree.Open(kQ, ForAppending());
  DeleteElsewhere(kStart + 1000);
  EXPECT_EQ(tree.Write(log, "after\n", 7), 0);
  EXPECT_EQ(tree.Close(log), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "after\n");
}

TEST_F(RemoteStoreTest, AFileThatIsJustBeingMadeMayHaveHoles) {
  const OpenFile file = tree.Create(kQ);
  const OpenFile other = tree.Open(kQ, ForWriting());
  EXPECT_EQ(tree.Write(other, "end", 2), 0);
  EXPECT_EQ(tree.Read(other), std::string("\0\0end", 5));
  EXPECT_EQ(tree.Close(other), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), std::string("\0\0end", 5));
}

TEST_F(RemoteStoreTest, WhoReadsOnInAFileThatAnotherRemovedReadsWhatHeHasRead) {
  ASSERT_EQ(tree.Save(kQ, "before"), 0);
  const OpenFile read = tree.Open(kQ, {});
  EXPECT_EQ(tree.Read(read), "before");
  const OpenFile unread = tree.Open(kQ, {});
  const OpenFile writer = tree.Open(kQ, ForWriting());
  DeleteElsewhere(kStart + 1000);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.Read(read), "before");
  for (const OpenFile& file : {unread, writer}) {
    EXPECT_EQ(tree.filesystem->Read(tree.request, *file.node, file.handle, 0, 10).error(), ESTALE);
  }
  for (const OpenFile& file : {read, unread, writer}) EXPECT_EQ(tree.Close(file), 0);
}

TEST_F(RemoteStoreTest, NoPagesAreDroppedWhileTheFileIsWrittenHere) {
  ASSERT_EQ(tree.Save(kQ, "one"), 0);
  const OpenFile file = tree.Open(kQ, ForAppending());
  const CountingKernel kernel(tree, file.node);
  PutElsewhere("other", kStart + 5);
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *file.node)->attributes.st_size, 5);
  EXPECT_EQ(kernel.told(), 0);
  EXPECT_NE(file.node->stale_pages(kStart), 0u);  // the next open does
  tree.Close(file);
}

TEST_F(RemoteStoreTest, OnesOwnPutDropsNoPages) {
  ASSERT_EQ(tree.Save(kQ, "one"), 0);
  const NodePtr q = tree.LookUp(kQ)->node;
  const CountingKernel kernel(tree, q);
  ASSERT_EQ(tree.Save(kQ, "two"), 0);
  EXPECT_EQ(tree.Stat(kQ).st_size, 3);
  EXPECT_EQ(kernel.told(), 0);
}

// What another mount of the same store changes.
TEST_F(RemoteStoreTest, AttributesOfOthersShowAfterAWhile) {
  const auto mode = [&](const std::string& path) { return tree.Stat(path).st_mode & 07777; };
  ASSERT_EQ(tree.Save(kQ, "x"), 0);
  AttributeChange change;
  change.mode = 0600;
  ASSERT_EQ(tree.Change(kQ, change), 0);  // the row's attributes are at hand now
  EXPECT_EQ(mode("default/t"), 0755u);
  tree.clock->Advance(1);
  FileSystem other(remote(), {}, tree.clock, nullptr);
  const auto change_elsewhere = [&](std::vector<std::string> names, mode_t wanted) {
    NodePtr node = other.root().shared_from_this();
    for (const std::string& name : names) node = other.LookUp(tree.request, *node, name)->node;
    AttributeChange elsewhere;
    elsewhere.mode = wanted;
    EXPECT_TRUE(other.SetAttributes(tree.request, *node, elsewhere, nullptr).ok());
  };
  change_elsewhere({"default", "t", "r", "f", "q"}, 0640);
  change_elsewhere({"default", "t"}, 0700);
  EXPECT_EQ(mode(kQ), 0600u);
  tree.clock->Advance(RemoteStore::kMaxStalenessMs / 2 + 1);
  EXPECT_EQ(mode(kQ), 0640u);
  EXPECT_EQ(mode("default/t"), 0700u);
}

// ---- Outcomes that are unknown ------------------------------------------------------------------

struct UnknownOutcomeTest : RemoteStoreTest, testing::WithParamInterface<RemoteStore::Effect> {
  bool IsDone() const { return GetParam() == RemoteStore::Effect::kDone; }
};

INSTANTIATE_TEST_SUITE_P(, UnknownOutcomeTest,
                         testing::Values(RemoteStore::Effect::kNone, RemoteStore::Effect::kDone),
                         [](const auto& instance) {
                           return instance.param == RemoteStore::Effect::kDone ? "Done" : "NotDone";
                         });

// What a write, a removal and a rename put there has timestamps of their own, so it can be found.
TEST_P(UnknownOutcomeTest, AWriteIsLookedForAndNotRepeated) {
  ASSERT_EQ(tree.Save(kQ, "old"), 0);
  const OpenFile file = tree.Open(kQ, Truncating());
  ASSERT_EQ(tree.Write(file, "new"), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Close(file), IsDone() ? 0 : EIO);
  EXPECT_EQ(remote().mutations(), sent + 1);
  EXPECT_EQ(tree.ReadFile(kQ), IsDone() ? "new" : "old");
}

TEST_P(UnknownOutcomeTest, AnAppendFailsAndIsNotRepeated) {
  ASSERT_EQ(tree.Save(kQ, "a"), 0);
  const OpenFile file = tree.Open(kQ, ForAppending());
  ASSERT_EQ(tree.Write(file, "b", 1), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Close(file), EIO);
  EXPECT_EQ(remote().mutations(), sent + 1);
  EXPECT_EQ(tree.ReadFile(kQ), IsDone() ? "ab" : "a");
}

TEST_P(UnknownOutcomeTest, ARemovalIsLookedForAndNotRepeated) {
  ASSERT_EQ(tree.Save(kQ, "old"), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Unlink(kQ), IsDone() ? 0 : EIO);
  EXPECT_EQ(remote().mutations(), sent + 1);
  EXPECT_EQ(tree.Error(kQ), IsDone() ? ENOENT : 0);
}

TEST_P(UnknownOutcomeTest, ARenameIsLookedForAndNotRepeated) {
  const std::string target = "default/t/r/f/target";
  ASSERT_EQ(tree.Save(kQ, "new"), 0);
  ASSERT_EQ(tree.Save(target, "old"), 0);
  ASSERT_EQ(tree.Change(target, AttributeChange{.mode = 0640}), 0);  // the table's first record
  ASSERT_EQ(tree.Change(kQ, AttributeChange{.mode = 0640}), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Rename(kQ, target), IsDone() ? 0 : EIO);
  EXPECT_EQ(remote().mutations(), sent + (IsDone() ? 2 : 1));  // the file's attributes follow
  EXPECT_EQ(tree.Error(kQ), IsDone() ? ENOENT : 0);
  EXPECT_EQ(tree.ReadFile(target), IsDone() ? "new" : "old");
}

TEST_P(UnknownOutcomeTest, AnEditIsLookedForAndNotRepeated) {
  ASSERT_EQ(tree.Save(kQ, "aaaa"), 0);
  const OpenFile file = tree.Open(kQ, ForWriting());
  ASSERT_EQ(tree.Write(file, "X", 1), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Close(file), IsDone() ? 0 : EIO);
  EXPECT_EQ(remote().mutations(), sent + 1);
  EXPECT_EQ(tree.ReadFile(kQ), IsDone() ? "aXaa" : "aaaa");
}

// The put that another client made at the same time has its timestamp, and other bytes.
TEST_F(RemoteStoreTest, AnothersPutIsNotTakenForTheOneThatIsLookedFor) {
  const OpenFile file = tree.Create(kQ, false);
  EXPECT_EQ(tree.Write(file, "mine"), 0);
  remote().BeforeNextMutation([&](Store& elsewhere) { PutInto(elsewhere, "theirs", kStart); });
  remote().LoseOutcome(1, RemoteStore::Effect::kNone);
  EXPECT_EQ(tree.Close(file), EIO);
  EXPECT_EQ(tree.ReadFile(kQ), "theirs");
  EXPECT_EQ(tree.Stored("q"), "Put@0");
}

TEST_P(UnknownOutcomeTest, ACounterIsNotIncreasedTwice) {
  const std::string counter = "default/t/r/f/.counters/n";
  ASSERT_EQ(tree.Save(counter, "+1"), 0);
  const OpenFile file = tree.Open(counter, Truncating());
  ASSERT_EQ(tree.Write(file, "+2"), 0);
  const int sent = remote().mutations();
  remote().LoseOutcome(1, GetParam());
  EXPECT_EQ(tree.Close(file), EIO);
  EXPECT_EQ(remote().mutations(), sent + 1);
  EXPECT_EQ(tree.ReadFile(counter), IsDone() ? "3\n" : "1\n");
}

}  // namespace
}  // namespace cellfs::fs
