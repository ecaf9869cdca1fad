// SPDX-License-Identifier: MIT
//
// What a file holds waits for room in the store without the lock of its column: who looks at the
// file, reads or changes it meanwhile is served, and what is put then goes where the file is.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fs/nodes/column_lock.h"
#include "fs/operations/callers_store.h"
#include "tests/fs/hooked_store.h"

namespace cellfs::fs {
namespace {

class WriteRoomTest : public testing::Test {
 protected:
  WriteRoomTest() {
    tree_.MakeTable();
    tree_.Put("r", "q", "before");
    tree_.Put("r", "other", "x");
  }
  // `act` is what others do while the next put waits for room, which it then finds.
  void WhileItWaits(std::function<void()> act) {
    tree_.hooked->on_await = [this, act = std::move(act)] {
      ++waits_;
      EXPECT_FALSE(ColumnLock::IsAnyHeldHere());
      if (!ColumnLock::IsAnyHeldHere()) act();
      return Status();
    };
  }
  void LookAtIt() {
    EXPECT_EQ(tree_.Stat(kQ).st_mode & S_IFMT, S_IFREG);
    EXPECT_EQ(tree_.Error("default/t/r/f/other"), 0);
  }
  OpenFile Written(const OpenMode& mode, std::string_view bytes) {
    const OpenFile file = tree_.Open(kQ, mode);
    EXPECT_EQ(file.error, 0);
    EXPECT_EQ(tree_.Write(file, bytes, mode.append ? 6 : 0), 0);
    return file;
  }

  HookedTree tree_;
  int waits_ = 0;
};

TEST_F(WriteRoomTest, NobodyWaitsForTheFileMeanwhile) {
  struct Case {
    OpenMode mode;
    std::string after;
  };
  for (const Case& it : {Case{Truncating(), "new"}, Case{ForWriting(), "newore"},
                         Case{ForAppending(), "beforenew"}}) {
    EXPECT_EQ(tree_.Save(kQ, "before"), 0);
    const OpenFile file = Written(it.mode, "new");
    WhileItWaits([this] { LookAtIt(); });
    EXPECT_EQ(tree_.Flush(file), 0);
    EXPECT_EQ(tree_.ReadFile(kQ), it.after);
    tree_.filesystem->Release(*file.node, file.handle);
  }
  EXPECT_EQ(waits_, 3);
}

TEST_F(WriteRoomTest, NorWhileItIsSyncedOrItsLastDescriptorGoes) {
  const OpenFile synced = Written(Truncating(), "synced");
  WhileItWaits([this] { LookAtIt(); });
  EXPECT_EQ(tree_.filesystem->Sync(*synced.node, *synced.handle).error(), 0);
  tree_.filesystem->Release(*synced.node, synced.handle);
  EXPECT_EQ(tree_.ReadFile(kQ), "synced");
  const OpenFile emptied = tree_.Open(kQ, Truncating());
  WhileItWaits([this] { LookAtIt(); });
  tree_.filesystem->Release(*emptied.node, emptied.handle);
  EXPECT_EQ(tree_.ReadFile(kQ), "");
  EXPECT_EQ(waits_, 2);
}

TEST_F(WriteRoomTest, WhatIsChangedMeanwhileStays) {
  const OpenFile edits = Written(ForWriting(), "NEW");
  WhileItWaits([this] { EXPECT_EQ(tree_.Save(kQ, "another's"), 0); });
  EXPECT_EQ(tree_.Flush(edits), 0);
  EXPECT_EQ(tree_.ReadFile(kQ), "NEWther's");
  tree_.filesystem->Release(*edits.node, edits.handle);
  EXPECT_EQ(waits_, 1);
}

TEST_F(WriteRoomTest, AFileThatIsMovedMeanwhileIsPutUnderItsNewName) {
  const OpenFile file = Written(ForWriting(), "NEW");
  WhileItWaits([this] { EXPECT_EQ(tree_.Rename(kQ, "default/t/r/f/moved"), 0); });
  EXPECT_EQ(tree_.Flush(file), 0);
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/moved"), "NEWore");
  EXPECT_EQ(tree_.Error(kQ), ENOENT);
  tree_.filesystem->Release(*file.node, file.handle);
  EXPECT_EQ(waits_, 1);
}

TEST_F(WriteRoomTest, AFileThatIsRemovedMeanwhileIsPutNowhere) {
  const OpenFile file = Written(Truncating(), "new");
  WhileItWaits([this] { EXPECT_EQ(tree_.Unlink(kQ), 0); });
  EXPECT_EQ(tree_.Flush(file), 0);
  EXPECT_EQ(tree_.Error(kQ), ENOENT);
  EXPECT_EQ(tree_.Read(file), "new");
  tree_.filesystem->Release(*file.node, file.handle);
  EXPECT_EQ(tree_.Error(kQ), ENOENT);
  EXPECT_EQ(waits_, 1);
}

TEST_F(WriteRoomTest, WhoMakesAFileThatAnotherMakesMeanwhileGoesOverIt) {
  const OpenFile made = tree_.Create("default/t/r/f/new");
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(tree_.Write(made, "mine"), 0);
  WhileItWaits([this] { EXPECT_EQ(tree_.Save("default/t/r/f/new", "theirs, longer"), 0); });
  EXPECT_EQ(tree_.Flush(made), 0);
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/new"), "miners, longer");
  tree_.filesystem->Release(*made.node, made.handle);
}

TEST_F(WriteRoomTest, WhereNoRoomComesTheStoreSaysWhy) {
  const OpenFile file = Written(Truncating(), "new");
  tree_.hooked->on_await = [this] {
    tree_.hooked->on_await = [this] {
      ++waits_;
      return Status(StatusCode::kStoreFull, "the disk is full");
    };
    return tree_.hooked->on_await();
  };
  EXPECT_EQ(tree_.Flush(file), ENOSPC);
  EXPECT_EQ(waits_, 2);
  EXPECT_EQ(tree_.ReadFile(kQ), "before");
  tree_.filesystem->Release(*file.node, file.handle);
}

// Another user's bytes are put before mine are taken.
TEST_F(WriteRoomTest, NorDoesAWriteThatHasToPut) {
  const Caller ann{.user = "ann"};
  const Caller ben{.user = "ben"};
  tree_.request.caller = &ann;
  const OpenFile first = Written(ForWriting(), "AB");
  tree_.request.caller = &ben;
  const OpenFile second = tree_.Open(kQ, ForWriting());
  ASSERT_EQ(second.error, 0);
  WhileItWaits([this] { LookAtIt(); });
  EXPECT_EQ(tree_.Write(second, "yz", 4), 0);
  EXPECT_EQ(waits_, 1);
  tree_.request.caller = &Caller::Superuser();
  EXPECT_EQ(tree_.Flush(second), 0);
  EXPECT_EQ(tree_.ReadFile(kQ), "ABfoyz");
  for (const OpenFile& file : {first, second})
    tree_.filesystem->Release(*file.node, file.handle);
}

// What it held is put, and not written once more.
TEST_F(WriteRoomTest, NorDoesOneThatCannotBeKept) {
  const Caller ann{.user = "ann"};
  const Caller ben{.user = "ben"};
  std::vector<OpenFile> writers;
  for (const Caller* caller : {&ann, &ben}) {
    tree_.request.caller = caller;
    writers.push_back(tree_.Open(kQ, ForAppending()));
    ASSERT_EQ(writers.back().error, 0);
  }
  tree_.request.caller = &Caller::Superuser();
  std::string expected = "before";
  WhileItWaits([this] { LookAtIt(); });
  for (int turn = 0; turn < 1000 && waits_ == 0; ++turn) {
    for (const OpenFile& writer : writers) {
      EXPECT_EQ(tree_.Write(writer, "+", expected.size()), 0);
      expected += "+";
    }
  }
  EXPECT_EQ(waits_, 1);
  for (const OpenFile& writer : writers) EXPECT_EQ(tree_.Close(writer), 0);
  EXPECT_EQ(tree_.ReadFile(kQ), expected);
}

TEST_F(WriteRoomTest, NorDoesACommand) {
  CallersStore store(*tree_.filesystem, Credentials{0, {}});
  const Caller& caller = Caller::Superuser();
  const auto put = [](std::string value) {
    return RowMutations::Of(Put{"r", {{"f", "q", kLatestTimestamp, std::move(value), {}}}});
  };
  WhileItWaits([this] { LookAtIt(); });
  EXPECT_TRUE(store.Mutate(caller, tree_.table, put("first")).ok());
  EXPECT_EQ(tree_.ReadFile(kQ), "first");
  WhileItWaits([this] { EXPECT_EQ(tree_.Save(kQ, "meanwhile"), 0); });
  const CheckAndMutate check{"r", ColumnCondition{"f", "q", CompareOperator::kEqual, "first"}, {},
                             put("second")};
  const auto done = store.CheckAndMutate(caller, tree_.table, check);
  ASSERT_TRUE(done.ok());
  EXPECT_FALSE(done->done);
  EXPECT_EQ(tree_.ReadFile(kQ), "meanwhile");
  WhileItWaits([this] {
    EXPECT_EQ(tree_.Unlink(kQ), 0);
    tree_.clock->Advance(1000);  // those puts are stamped above each other
  });
  EXPECT_TRUE(store.Batch(caller, tree_.table, {put("third")}).front().ok());
  EXPECT_EQ(tree_.ReadFile(kQ), "third");
  EXPECT_EQ(waits_, 3);
}

}  // namespace
}  // namespace cellfs::fs
