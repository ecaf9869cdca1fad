// SPDX-License-Identifier: MIT
//
// Where the store fails: what cannot be read is not taken for absent, a change that failed has
// changed nothing, and one that may have been made is never made twice.
#include <gtest/gtest.h>

#include "tests/fs/changing_operations.h"

namespace cellfs::fs {
namespace {

using Failure = FailingStore::Failure;

constexpr int kMostCalls = 400;
// ---- Reading ------------------------------------------------------------------------------------

struct Question {
  std::string name;
  // What is asked before the store fails, and then the question: the answer, or an errno's name.
  std::function<std::function<std::string()>(FailingTree&)> prepare;
};

std::string Show(const OutcomeOr<Entry>& entry) {
  if (!entry.ok()) return ErrorName(entry.error());
  return std::to_string(entry->attributes.st_size) + " " +
         std::to_string(entry->attributes.st_mode) + " " +
         std::to_string(entry->name_valid_seconds);
}

Question LookUpOf(const std::string& path) {
  return {"look-up of " + path, [path](FailingTree& tree) {
            const auto [parent, name] = WritingTree::Split(path);
            const NodePtr directory = tree.Directory(parent);
            return [&tree, directory, name = name] {
              return Show(tree.filesystem->LookUp(tree.request, *directory, name));
            };
          }};
}

// A name that does not say all of its key, which has to be looked for.
Question LongLookUpIn(const std::string& path) {
  return {"look-up of a long name in " + path, [path](FailingTree& tree) {
            for (const std::string& name : tree.List(path)) {
              if (name.find("%~") == name.npos) continue;
              return LookUpOf(path + "/" + name).prepare(tree);
            }
            return std::function([] { return std::string("ENOENT"); });
          }};
}

Question ListingOf(const std::string& path) {
  return {"listing of " + path, [path](FailingTree& tree) {
            const NodePtr directory = tree.Directory(path);
            return [&tree, directory]() -> std::string {
              auto opened = tree.filesystem->OpenListing(tree.request, *directory);
              std::string names;
              const auto listed = tree.filesystem->List(
                  tree.request, *opened->directory, 0,
                  [&](const DirectoryEntry& entry) { return names += entry.name + " ", true; });
              return listed.ok() ? names : ErrorName(listed.error());
            };
          }};
}

Question ReadingOf(const std::string& path) {
  return {"reading of " + path, [path](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node]() -> std::string {
              const auto opened = tree.filesystem->Open(tree.request, *node, {});
              if (!opened.ok()) return ErrorName(opened.error());
              const auto bytes =
                  tree.filesystem->Read(tree.request, *node, opened->handle, 0, 1000);
              std::string text = bytes.ok() ? std::string(bytes->bytes) : ErrorName(bytes.error());
              tree.filesystem->Release(*node, opened->handle);
              return text;
            };
          }};
}

Question StatOf(const std::string& path) {
  return {"stat of " + path, [path](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            node->ContentChanged();  // so that it has to be read
            return [&tree, node]() -> std::string {
              const auto shown = tree.filesystem->GetAttributes(tree.request, *node);
              return shown.ok() ? std::to_string(shown->attributes.st_size)
                                : ErrorName(shown.error());
            };
          }};
}

Question XattrOf(const std::string& path, const std::string& name) {
  return {"xattr " + name + " of " + path, [path, name](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node, name]() -> std::string {
              const auto value = tree.filesystem->GetXattr(tree.request, *node, name);
              return value.ok() ? *value : ErrorName(value.error());
            };
          }};
}

Question SpaceOf(const std::string& path) {
  return {"statfs of " + path, [path](FailingTree& tree) {
            EXPECT_TRUE(
                tree.store->SetTableSpaceQuota(Caller::Superuser(), tree.table, SpaceQuota{1 << 20})
                    .ok());
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node]() -> std::string {
              const auto space = tree.filesystem->StatFs(tree.request, *node);
              return space.ok() ? std::to_string(space->f_blocks) : ErrorName(space.error());
            };
          }};
}

std::vector<Question> Questions() {
  const std::string version = std::to_string(kStart);
  std::vector<Question> questions;
  for (const std::string& path :
       {std::string("default"), std::string("default/t"), std::string(kRow), std::string(kFamily),
        std::string(kQ), kQ + ("@" + version), std::string("default/t/.schema.toml"),
        std::string("default/.namespace.toml"), std::string("default/t/r/f/.versions/q"),
        "default/t/r/f/.versions/q/" + version, std::string("default/t/r/f/.counters/c"),
        std::string("default/t/r/f/.deleted/deleted"), std::string("default/t/.scan/limit=9/r"),
        std::string("default/t/r/g/in-g")}) {
    questions.push_back(LookUpOf(path));
  }
  if (StoreKindOfTests() == StoreKind::kLocal) {  // the other pins no moment
    questions.push_back(LookUpOf("default/t/.asof/" + version + "/r"));
  }
  for (const char* path :
       {"", "default", "default/t", kRow, kFamily, "default/t/r/f/.versions",
        "default/t/r/f/.versions/q", "default/t/r/f/.counters", "default/t/r/f/.deleted",
        "default/t/.scan/limit=9", "default/t/.scan/limit=9/r/f"}) {
    questions.push_back(ListingOf(path));
  }
  for (const char* path : {kQ, "default/t/.schema.toml", "default/t/r/f/.counters/c",
                           "default/t/r/f/.deleted/deleted"}) {
    questions.push_back(ReadingOf(path));
  }
  for (const char* path : {kQ, kFamily, kRow, "default/t"}) questions.push_back(StatOf(path));
  for (const char* name : {"versions", "timestamp"}) {
    questions.push_back(XattrOf(kQ, std::string("user.cellfs.") + name));
  }
  for (const char* path : {"default/t", kFamily}) questions.push_back(LongLookUpIn(path));
  questions.push_back(SpaceOf(kQ));
  return questions;
}

std::string Ask(const Question& question, std::optional<Failure> failure, bool* failed = nullptr) {
  FailingTree tree;
  Fill(tree);
  const auto ask = question.prepare(tree);
  if (failure) tree.failing->Fail(*failure);
  std::string answer = ask();
  if (failed != nullptr) *failed = tree.failing->has_failed();
  tree.failing->Heal();
  return answer;
}

TEST(StoreFailuresTest, WhatCannotBeReadIsNotAbsent) {
  const Status broken(StatusCode::kIoError, "the disk failed");
  for (const Question& question : Questions()) {
    const std::string right = Ask(question, std::nullopt);
    ASSERT_FALSE(right.starts_with("E")) << question.name << ": " << right;
    bool failed = true;
    int call = 1;
    for (; failed && call < kMostCalls; ++call) {
      const std::string answer = Ask(question, Failure{call, broken}, &failed);
      EXPECT_TRUE(answer == right || answer == "EIO")
          << question.name << ", call " << call << ": " << answer << " for " << right;
    }
    EXPECT_FALSE(failed) << question.name << " makes more than " << kMostCalls << " calls";
  }
}

// The kernel has the name alone then, and asks.
TEST(StoreFailuresTest, AnEntryThatCannotBeLookedAtAgainStaysListed) {
  FailingTree tree;
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "what is listed is at hand";
  Fill(tree);
  const NodePtr family = tree.Directory(kFamily);
  const NodePtr q = tree.LookUp(kQ)->node;
  auto opened = tree.filesystem->OpenListing(tree.request, *family);
  const auto listed =
      tree.filesystem->List(tree.request, *opened->directory, 0, [&](const DirectoryEntry& entry) {
        if (entry.name != "q") return true;
        q->ContentChanged();  // put since the listing was read
        Failure broken{1, Status(StatusCode::kIoError, "the disk failed")};
        broken.lasts = true;
        tree.failing->Fail(broken);
        const auto counted = tree.filesystem->EntryOf(tree.request, entry);
        tree.failing->Heal();
        EXPECT_FALSE(counted.ok());
        EXPECT_EQ(counted.status().error(), EIO);
        return true;
      });
  EXPECT_TRUE(listed.ok());
}

// ---- Changing -----------------------------------------------------------------------------------

Ending Do(const Operation& operation, std::optional<Failure> failure) {
  FailingTree tree;
  Fill(tree);
  const auto act = operation.prepare(tree);
  if (failure) tree.failing->Fail(*failure);
  Ending ending;
  ending.error = act();
  ending.failed = tree.failing->has_failed();
  tree.failing->Heal();
  ending.files = tree.AllFiles();
  tree.Remount(FailingTree::Options());
  ending.files_after_remount = tree.AllFiles();
  return ending;
}

// What was there before it: an operation of which the first change fails has done nothing.
Files Before(const Operation& operation, const Status& status) {
  Failure failure{1, status, FailingStore::Calls::kMutations};
  failure.lasts = true;
  const Ending ending = Do(operation, failure);
  EXPECT_NE(ending.error, 0) << operation.name;
  return ending.files;
}

TEST(StoreFailuresTest, AFullDiskUndoesAnOperationOrNothing) {
  const Status full(StatusCode::kStoreFull, "no space left");
  for (const Operation& operation : Operations()) {
    const Ending done = Do(operation, std::nullopt);
    ASSERT_EQ(done.error, 0) << operation.name;
    const Files before = Before(operation, full);
    ASSERT_NE(before, done.files) << operation.name;
    for (const bool lasts : {false, true}) {
      bool failed = true;
      for (int call = 1; failed && call < kMostCalls; ++call) {
        Failure failure{call, full, FailingStore::Calls::kMutations};
        failure.lasts = lasts;
        const Ending ending = Do(operation, failure);
        failed = ending.failed;
        const std::string name = operation.name + ", change " + std::to_string(call);
        EXPECT_TRUE(ending.error == 0 || ending.error == ENOSPC) << name;
        EXPECT_EQ(Others(ending.files, ending.error == 0 ? done.files : before), "") << name;
        ExpectSameInStore(ending, name);
      }
    }
  }
}

TEST(StoreFailuresTest, AnOperationThatCannotReadHasDoneAllOrNothing) {
  const Status broken(StatusCode::kIoError, "the disk failed");
  for (const Operation& operation : Operations()) {
    const Ending done = Do(operation, std::nullopt);
    const Files before = Before(operation, broken);
    bool failed = true;
    for (int call = 1; failed && call < kMostCalls; ++call) {
      const Ending ending = Do(operation, Failure{call, broken});
      failed = ending.failed;
      const std::string name = operation.name + ", call " + std::to_string(call);
      EXPECT_TRUE(ending.error == 0 || ending.error == EIO)
          << name << ": " << ErrorName(ending.error);
      EXPECT_EQ(Others(ending.files, ending.error == 0 ? done.files : before), "") << name;
    }
  }
}

// Whether it was or not, all that see the tree see the same, and nothing is done twice.
TEST(StoreFailuresTest, WhatMayHaveBeenDoneIsShownAsItIsAndNotDoneAgain) {
  const Status unknown(StatusCode::kOutcomeUnknown, "the sync failed");
  const Status full(StatusCode::kStoreFull, "no space left");
  for (const Operation& operation : Operations()) {
    const Ending done = Do(operation, std::nullopt);
    const Files before = Before(operation, full);
    for (const auto effect : {FailingStore::Effect::kNone, FailingStore::Effect::kDone}) {
      bool failed = true;
      for (int call = 1; failed && call < kMostCalls; ++call) {
        const Ending ending =
            Do(operation, Failure{call, unknown, FailingStore::Calls::kMutations, effect});
        failed = ending.failed;
        const std::string name = operation.name + ", change " + std::to_string(call) +
                                 (effect == FailingStore::Effect::kDone ? ", done" : ", not done");
        EXPECT_TRUE(ending.error == 0 || ending.error == EIO) << name;
        EXPECT_EQ(Others(ending.files, ending.error == 0 ? done.files : before, done.files), "")
            << name;
        ExpectSameInStore(ending, name);
      }
    }
  }
}

// After an error that may be none, what another descriptor closes is not added again.
TEST(StoreFailuresTest, ACounterIsNotAddedToTwice) {
  for (const auto effect : {FailingStore::Effect::kNone, FailingStore::Effect::kDone}) {
    FailingTree tree;
    Fill(tree);
    const std::string counter = "default/t/r/f/.counters/c";
    OpenFile file = Written(tree, tree.Open(counter, Truncating()), "+5");
    const Status unknown(StatusCode::kOutcomeUnknown, "the sync failed");
    tree.failing->Fail({1, unknown, FailingStore::Calls::kMutations, effect});
    EXPECT_EQ(tree.Flush(file), EIO);
    EXPECT_EQ(tree.Flush(file), EIO);
    EXPECT_EQ(tree.Write(file, "+5\n", 3), EIO);
    EXPECT_EQ(tree.Close(file), EIO);
    EXPECT_EQ(tree.ReadFile(counter), effect == FailingStore::Effect::kDone ? "12\n" : "7\n");

    file = tree.Open(counter, Truncating());
    tree.failing->Fail({1, unknown, FailingStore::Calls::kMutations, effect});
    EXPECT_EQ(tree.Write(file, "+5\n"), EIO);
    EXPECT_EQ(tree.Write(file, "+5\n", 3), EIO);
    EXPECT_EQ(tree.Close(file), EIO);
    EXPECT_EQ(tree.ReadFile(counter), effect == FailingStore::Effect::kDone ? "17\n" : "7\n");
  }
}

// ---- Making -------------------------------------------------------------------------------------

TEST(StoreFailuresTest, AFileThatCouldNotBeMadeLeavesNoGhost) {
  const Status broken(StatusCode::kIoError, "the disk failed");
  for (const char* path :
       {"default/t/r/f/made", "default/t/r/f/.versions/q/77", "default/t/r/f/.counters/made"}) {
    bool failed = true;
    for (int call = 1; failed && call < kMostCalls; ++call) {
      FailingTree tree;
      Fill(tree);
      const auto [parent, name] = WritingTree::Split(path);
      const NodePtr directory = tree.Directory(parent);
      tree.failing->Fail(Failure{call, broken});
      const auto made = tree.filesystem->Create(tree.request, *directory, name, 0600, ForWriting(),
                                                /*exclusive=*/true);
      failed = tree.failing->has_failed();
      tree.failing->Heal();
      if (made.ok()) continue;
      EXPECT_EQ(made.error(), EIO) << path << ", call " << call;
      EXPECT_EQ(tree.Error(path), ENOENT) << path << ", call " << call;
      EXPECT_EQ(tree.Create(path, true).error, 0) << path << ", call " << call;
    }
  }
}

// The kernel may still know the name. Opened by it, the file would come back, and the directory's
// listing, which the kernel has cached without it, would stay as it is.
TEST(StoreFailuresTest, AFileWhoseFirstPutFailedCannotBeOpenedByItsOldName) {
  FailingTree tree;
  Fill(tree);
  const NodePtr family = tree.Directory(kFamily);
  const auto made = tree.filesystem->Create(tree.request, *family, "full", 0600, ForWriting(),
                                            /*exclusive=*/false);
  ASSERT_TRUE(made.ok());
  Node& node = *made->entry.node;
  ASSERT_TRUE(tree.filesystem->Write(node, *made->handle, "bytes", 0).ok());
  tree.failing->Fail(
      {1, Status(StatusCode::kStoreFull, "no space left"), FailingStore::Calls::kMutations});
  EXPECT_EQ(tree.filesystem->Flush(node, *made->handle).error(), ENOSPC);
  tree.failing->Heal();
  OpenMode truncating = ForWriting();
  truncating.truncate = true;
  EXPECT_EQ(tree.filesystem->Open(tree.request, node, truncating).status().error(), ESTALE);
  EXPECT_EQ(tree.filesystem->Open(tree.request, node, ForWriting()).status().error(), ESTALE);
  tree.filesystem->Release(node, made->handle);
}

TEST(StoreFailuresTest, MknodTellsThatThePutFailed) {
  FailingTree tree;
  Fill(tree);
  const NodePtr family = tree.Directory(kFamily);
  const Status full(StatusCode::kStoreFull, "no space left");
  // The owner goes into a table of its own before the file is put.
  ASSERT_TRUE(tree.filesystem->MakeFile(tree.request, *family, "first", 0644).ok());
  tree.failing->Fail({1, full, FailingStore::Calls::kMutations});
  EXPECT_EQ(tree.filesystem->MakeFile(tree.request, *family, "made", 0644).error(), ENOSPC);
  ASSERT_TRUE(tree.failing->has_failed());
  tree.failing->Heal();
  EXPECT_EQ(tree.Error("default/t/r/f/made"), ENOENT);
  EXPECT_TRUE(tree.filesystem->MakeFile(tree.request, *family, "made", 0644).ok());
  EXPECT_EQ(tree.ReadFile("default/t/r/f/made"), "");
}

// ---- Rights -------------------------------------------------------------------------------------

struct RightsCase {
  mode_t source;
  mode_t target;
  uid_t target_owner;
};

// Nobody may read bytes by the rights of other bytes.
TEST(StoreFailuresTest, ARenameThatFailsInPartWidensNobodysRights) {
  const Status full(StatusCode::kStoreFull, "no space left");
  for (const RightsCase& rights :
       {RightsCase{0600, 0644, 0}, RightsCase{0644, 0600, 0}, RightsCase{0600, 0644, 7},
        RightsCase{0644, 0600, 7}, RightsCase{0660, 0606, 0}}) {
    for (const bool lasts : {false, true}) {
      bool failed = true;
      for (int call = 1; failed && call < kMostCalls; ++call) {
        FailingTree tree;
        Fill(tree);
        tree.Save("default/t/r/f/source", "source");
        AttributeChange change;
        change.mode = rights.source;
        tree.Change("default/t/r/f/source", change);
        change.mode = rights.target;
        change.uid = rights.target_owner;
        tree.Change(kQ, change);
        const auto act = Moving("default/t/r/f/source", kQ).prepare(tree);
        Failure failure{call, full, FailingStore::Calls::kMutations};
        failure.lasts = lasts;
        tree.failing->Fail(failure);
        const int error = act();
        failed = tree.failing->has_failed();
        tree.failing->Heal();
        const struct stat shown = tree.Stat(kQ);
        const std::string name = "call " + std::to_string(call);
        const bool is_source = tree.ReadFile(kQ) == "source";
        EXPECT_EQ(is_source, error == 0) << name;
        const mode_t allowed = is_source ? rights.source : rights.target;
        EXPECT_EQ(shown.st_mode & 07777 & ~allowed, 0u) << name;
        // The owner that is not the bytes' owner has no more than all others.
        const uid_t owner = is_source ? 0 : rights.target_owner;
        if (shown.st_uid != owner) {
          EXPECT_EQ((shown.st_mode >> 6 & 7) & ~(allowed & 7), 0u) << name;
        }
        if (!failed) {
          EXPECT_EQ(shown.st_mode & 07777, rights.source);
        }
      }
    }
  }
}

// ---- What belongs together ----------------------------------------------------------------------

// The family's mode and what its columns keep of the old one are one step.
TEST(StoreFailuresTest, AChmodOfAFamilyThatFailsChangesNoColumn) {
  bool failed = true;
  for (int call = 1; failed && call < kMostCalls; ++call) {
    FailingTree tree;
    Fill(tree);
    AttributeChange first;
    first.mode = 0750;
    ASSERT_EQ(tree.Change(kFamily, first), 0);
    const mode_t before = tree.Stat("default/t/r/f/other").st_mode;
    const Status full(StatusCode::kStoreFull, "no space left");
    tree.failing->Fail({call, full, FailingStore::Calls::kMutations});
    AttributeChange closed;
    closed.mode = 0700;
    const int error = tree.Change(kFamily, closed);
    failed = tree.failing->has_failed();
    tree.failing->Heal();
    EXPECT_EQ(tree.Stat("default/t/r/f/other").st_mode, before) << "change " << call;
    EXPECT_EQ(tree.Stat(kFamily).st_mode & 0777, error == 0 ? 0700u : 0750u) << "change " << call;
  }
  EXPECT_FALSE(failed);
}

TEST(StoreFailuresTest, AMkdirThatFailsHasMadeNothing) {
  for (const std::string path : {"made", "default/made", "default/t/made", "default/open/r/made"}) {
    bool failed = true;
    for (int call = 1; failed && call < kMostCalls; ++call) {
      FailingTree tree;
      Fill(tree);
      ASSERT_EQ(tree.Mkdir("default/open"), 0);
      ASSERT_EQ(tree.Mkdir("default/open/r"), 0);
      const auto [parent, name] = WritingTree::Split(path);
      const NodePtr directory = tree.Directory(parent);
      const Status full(StatusCode::kStoreFull, "no space left");
      tree.failing->Fail({call, full, FailingStore::Calls::kMutations});
      const int error =
          tree.filesystem->MakeDirectory(tree.request, *directory, name, 0700).error();
      failed = tree.failing->has_failed();
      tree.failing->Heal();
      EXPECT_EQ(tree.Error(path), error == 0 ? 0 : ENOENT) << path << ", change " << call;
      EXPECT_TRUE(error != 0 || (tree.Stat(path).st_mode & 0777) == 0700) << path;
    }
    EXPECT_FALSE(failed) << path;
  }
}

TEST(StoreFailuresTest, ASchemaThatFailsHalfWaySaysWhatIsInForce) {
  FailingTree tree;
  Fill(tree);
  const std::string path = "default/t/.schema.toml";
  std::string text = tree.ReadFile(path);
  const size_t versions = text.find("VERSIONS = 10");
  ASSERT_NE(versions, text.npos) << text;
  text.replace(versions, 13, "VERSIONS = 11");
  const size_t enabled = text.find("enabled = true");
  ASSERT_NE(enabled, text.npos) << text;
  text.replace(enabled, 14, "enabled = false");
  const OpenFile file = tree.Open(path, Truncating());
  ASSERT_EQ(tree.Write(file, text), 0);
  const Status full(StatusCode::kStoreFull, "no space left");
  tree.failing->Fail({2, full, FailingStore::Calls::kMutations});
  EXPECT_EQ(tree.Flush(file), ENOSPC);
  tree.failing->Heal();
  const std::string errors = tree.ReadFile(".cellfs/errors");
  EXPECT_NE(errors.find("disabling: no space left (applied before: the schema)"), errors.npos)
      << errors;
  EXPECT_NE(tree.ReadFile(path).find("VERSIONS = 11"), std::string::npos);
  tree.filesystem->Release(*file.node, file.handle);
}

// The newest version at the last timestamp goes by a tombstone of its own, the others by a second.
TEST(StoreFailuresTest, ARemovalThatFailsHalfwayIsNotTakenForNone) {
  FailingTree tree;
  CELLFS_NEEDS(stamps_above_column);
  tree.MakeTable();
  tree.Put("r", "q", "older");
  const cellfs::Put last{"r", {{"f", "q", kLatestTimestamp - 1, "last", {}}}};
  ASSERT_TRUE(
      tree.store->Mutate(Caller::Superuser(), tree.table, RowMutations::Of(last)).ok());
  ASSERT_EQ(tree.ReadFile(kQ), "last");
  const Status full(StatusCode::kStoreFull, "no space left");
  tree.failing->Fail({3, full, FailingStore::Calls::kMutations});
  EXPECT_NE(tree.Unlink(kQ), 0);
  EXPECT_TRUE(tree.failing->has_failed());
  tree.failing->Heal();
  EXPECT_EQ(tree.LookUp(kQ)->attributes.st_size, 5);
  EXPECT_EQ(tree.ReadFile(kQ), "older");
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
}

}  // namespace
}  // namespace cellfs::fs
