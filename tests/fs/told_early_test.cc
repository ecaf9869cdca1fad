// SPDX-License-Identifier: MIT
//
// What a put would be refused for is told before close, as far as it can be known: many programs do
// not ask how close ended.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>

#include "engine/forwarding_store.h"
#include "engine/open.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr Timestamp kLast = std::numeric_limits<Timestamp>::max() - 1;

constexpr uint64_t kBlock = UnputBytes::kBlock;

// Has room for so many bytes that are not put yet.
class SmallStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  uint64_t room = UINT64_MAX;
  int checks = 0;

  Status CheckRoom(const TableName&, uint64_t bytes) override {
    ++checks;
    return bytes <= room ? Status() : Status(StatusCode::kStoreFull, "the disk is full");
  }
  Status CheckMayPut(const Caller& caller, const TableName& table,
                     const PutToCome& put) override {
    if (put.bytes > 0) CELLFS_RETURN_IF_ERROR(CheckRoom(table, put.bytes));
    return ForwardingStore::CheckMayPut(caller, table, put);
  }
};

struct FullDiskTest : WritingTest {
  FullDiskTest() {
    tree.filesystem.reset();
    auto made = std::make_unique<SmallStore>(std::move(tree.store));
    small = made.get();
    tree.store = std::move(made);
    tree.Remount();
    tree.Save(kQ, "before");
  }
  SmallStore* small;
};

TEST_F(FullDiskTest, NothingIsMadeOrEmptied) {
  small->room = 0;
  EXPECT_EQ(tree.Create("default/t/r/f/made").error, ENOSPC);
  EXPECT_EQ(tree.Create("default/t/r/f/.counters/made").error, ENOSPC);
  EXPECT_EQ(tree.Create("default/t/r/f/q@5").error, ENOSPC);
  EXPECT_EQ(tree.Open(kQ, Truncating()).error, ENOSPC);
  EXPECT_EQ(tree.ReadFile(kQ), "before");
  EXPECT_EQ(tree.List("default/t/r/f"), (std::vector<std::string>{"other", "q"}));
  const OpenFile file = tree.Open(kQ, ForWriting());
  EXPECT_EQ(file.error, 0) << "nothing is put yet";
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Unlink(kQ), 0);
}

TEST_F(FullDiskTest, AWriteFailsAndTheValueBeforeStays) {
  for (const OpenMode& mode : {ForWriting(), ForAppending(), Truncating()}) {
    small->room = UINT64_MAX;
    const OpenFile file = tree.Open(kQ, mode);
    EXPECT_EQ(tree.Write(file, "x"), 0);
    EXPECT_EQ(tree.Write(file, std::string(8000, 'x'), 1), 0);
    small->room = 2 * kBlock;
    EXPECT_EQ(tree.Write(file, std::string(8000, 'x'), 8001), ENOSPC);
    EXPECT_EQ(tree.Write(file, "x", 8001), ENOSPC) << "nor is anything put that follows";
    EXPECT_EQ(tree.Close(file), ENOSPC);
    EXPECT_EQ(tree.ReadFile(kQ), "before");
  }
  small->room = kBlock;
  const OpenFile made = tree.Create("default/t/r/f/made");
  EXPECT_EQ(made.error, 0);
  EXPECT_EQ(tree.Write(made, std::string(kBlock + 1, 'x')), ENOSPC);
  EXPECT_EQ(tree.Close(made), ENOSPC);
  EXPECT_EQ(tree.Error("default/t/r/f/made"), ENOENT);
  EXPECT_EQ(tree.Save("default/t/r/f/made", std::string(kBlock, 'x')), 0);
}

TEST_F(FullDiskTest, WhatAllWritersHoldCounts) {
  small->room = 2 * kBlock;
  const OpenFile one = tree.Create("default/t/r/f/one");
  const OpenFile two = tree.Create("default/t/r/f/two");
  EXPECT_EQ(tree.Create("default/t/r/f/three").error, ENOSPC);
  EXPECT_EQ(tree.Write(one, "1"), 0);
  EXPECT_EQ(tree.Write(two, std::string(kBlock + 1, '2')), ENOSPC);
  EXPECT_EQ(tree.Close(two), ENOSPC);
  EXPECT_EQ(tree.Write(one, std::string(kBlock, '1'), 1), 0) << "the other holds nothing now";
  EXPECT_EQ(tree.Create("default/t/r/f/three").error, ENOSPC);
  EXPECT_EQ(tree.Flush(one), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/two", "2"), 0) << "what is put is not held";
  EXPECT_EQ(tree.Close(one), 0);
  const OpenFile gone = tree.Open("default/t/r/f/two", Truncating());
  EXPECT_EQ(tree.Write(gone, std::string(2 * kBlock, '2')), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/two"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/three", "3"), 0) << "nor what has no name";
  EXPECT_EQ(tree.Close(gone), 0);
}

TEST_F(FullDiskTest, ALengthThatHasNoRoomCostsNothing) {
  for (const OpenMode& mode : {ForWriting(), Truncating()}) {
    small->room = 2 * kBlock;
    const OpenFile file = tree.Open(kQ, mode);
    EXPECT_EQ(tree.Write(file, "after!"), 0);
    EXPECT_EQ(file.handle->Truncate(2 * kBlock + 1).error(), ENOSPC);
    EXPECT_EQ(file.handle->Allocate(2 * kBlock + 1).error(), ENOSPC);
    EXPECT_EQ(tree.Write(file, "!", 6), 0) << "the handle goes on";
    EXPECT_EQ(tree.Close(file), 0);
    EXPECT_EQ(tree.ReadFile(kQ), "after!!");
  }
}

TEST_F(FullDiskTest, SmallWritesAskOncePerBlock) {
  const OpenFile file = tree.Open(kQ, Truncating());
  small->checks = 0;
  for (uint64_t i = 0; i < 8192; ++i) ASSERT_EQ(tree.Write(file, "x", i), 0);
  EXPECT_EQ(small->checks, 1) << "the first block was asked for when it was opened";
  EXPECT_EQ(tree.Close(file), 0);
}

struct ToldEarlyTest : WritingTest {
  void Violate(SpaceViolationPolicy policy) {
    ASSERT_TRUE(tree.store->SetTableSpaceQuota(Caller::Superuser(), tree.table,
                                               SpaceQuota{1, policy}).ok());
    ASSERT_TRUE(tree.store->Flush(Caller::Superuser(), tree.table).ok());
    ASSERT_TRUE(tree.store->CheckSpaceQuotas().ok());
  }
};

TEST_F(ToldEarlyTest, AQuota) {
  if (StoreKindOfTests() == StoreKind::kRemote) GTEST_SKIP() << "a cluster tells it at the put";
  tree.Save(kQ, "before");
  const OpenFile open = tree.Open(kQ, Truncating());
  Violate(SpaceViolationPolicy::kNoInserts);
  EXPECT_EQ(tree.Write(open, "x"), 0) << "it was asked for before";
  EXPECT_EQ(tree.Write(open, std::string(kBlock, 'x'), 1), EDQUOT);
  EXPECT_EQ(tree.Close(open), EDQUOT);
  EXPECT_EQ(tree.Create("default/t/r/f/made").error, EDQUOT);
  EXPECT_EQ(tree.Open(kQ, Truncating()).error, EDQUOT);
  EXPECT_EQ(tree.ReadFile(kQ), "before");
  for (const OpenMode& mode : {ForWriting(), ForAppending()}) {
    const OpenFile file = tree.Open(kQ, mode);
    ASSERT_EQ(file.error, 0) << "it may be opened to lock it";
    EXPECT_EQ(tree.Write(file, "x"), EDQUOT);
    EXPECT_EQ(tree.Close(file), EDQUOT);
  }
  EXPECT_EQ(tree.Unlink(kQ), 0);
}

TEST_F(ToldEarlyTest, AValueWhoseCellWouldBeTooLarge) {
  const std::string most(MountOptions().max_value_size, 'x');  // the cell's key comes on top
  tree.Save(kQ, "before");
  for (const OpenMode& mode : {ForWriting(), ForAppending(), Truncating()}) {
    const OpenFile file = tree.Open(kQ, mode);
    EXPECT_EQ(tree.Write(file, most), EFBIG);
    EXPECT_EQ(tree.Close(file), EFBIG);
    EXPECT_EQ(tree.ReadFile(kQ), "before");
  }
  const OpenFile made = tree.Create("default/t/r/f/made");
  EXPECT_EQ(tree.Write(made, "abc"), 0);
  EXPECT_EQ(made.handle->Truncate(most.size()).error(), EFBIG);
  EXPECT_EQ(made.handle->Allocate(most.size()).error(), EFBIG);
  EXPECT_EQ(tree.Close(made), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/made"), "abc");
}

TEST_F(ToldEarlyTest, ADisabledTable) {
  tree.Save(kQ, "before");
  const NodePtr node = tree.LookUp(kQ)->node;
  const NodePtr family = tree.Directory("default/t/r/f");
  ASSERT_TRUE(tree.store->DisableTable(Caller::Superuser(), tree.table).ok());
  for (const OpenMode& mode : {ForWriting(), ForAppending(), Truncating()})
    EXPECT_EQ(tree.filesystem->Open(tree.request, *node, mode).error(), EROFS);
  EXPECT_EQ(tree.filesystem->Create(tree.request, *family, "made", 0600, ForWriting(), false)
                .error(),
            EROFS);
}

TEST_F(ToldEarlyTest, ATimestampThatCouldNotBeRead) {
  TableSchema schema(TableName{"default", "u"});
  FamilySchema f("f"), expiring("g");
  ASSERT_TRUE(expiring.Set("TTL", "100").ok());
  schema.families = {{"f", f}, {"g", expiring}};  // KEEP_DELETED_CELLS FALSE
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/u/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/u/r/f"), 0);
  ASSERT_EQ(tree.Mkdir("default/u/r/g"), 0);
  EXPECT_EQ(tree.Save("default/u/r/f/q@5", "five"), 0);
  EXPECT_EQ(tree.Save("default/u/r/f/q@3", "three"), 0);
  EXPECT_EQ(tree.Save("default/u/r/f/q@3", "again"), 0);
  ASSERT_EQ(tree.Unlink("default/u/r/f/q"), 0);
  EXPECT_EQ(tree.Create("default/u/r/f/q@3").error, ERANGE);
  ASSERT_EQ(tree.Mkdir("default/u/r/f/.versions/q"), 0);
  EXPECT_EQ(tree.Create("default/u/r/f/.versions/q/4").error, ERANGE);
  EXPECT_EQ(tree.Create("default/u/r/g/q@3").error, ERANGE) << "it has expired";
  EXPECT_EQ(tree.Save("default/u/r/f/q@" + std::to_string(kStart + 100000), "later"), 0);
  EXPECT_EQ(tree.Save("default/u/r/f/p@" + std::to_string(kLast), "last"), 0);
  EXPECT_EQ(tree.Open("default/u/r/f/p", Truncating()).error, EOVERFLOW);
  EXPECT_EQ(tree.Save("default/u/r/f/p@" + std::to_string(kLast), "the same"), 0);
  EXPECT_EQ(tree.ReadFile("default/u/r/f/p"), "the same");
}

// As of a version at the last timestamp: a put could not go above it.
TEST_F(ToldEarlyTest, ATombstoneThatLeavesNoTimestamp) {
  if (StoreKindOfTests() == StoreKind::kRemote) GTEST_SKIP() << "a cluster tells it at the put";
  tree.Save(kQ, "before");
  tree.Save("default/t/r/f/other", "before");
  const auto remove = [&](DeleteMarker marker) {
    const cellfs::Delete deletion{"r", {std::move(marker)}};
    const auto done =
        tree.store->Mutate(Caller::Superuser(), tree.table, RowMutations::Of(deletion));
    ASSERT_TRUE(done.ok());
  };
  remove({CellType::kDeleteColumn, "f", "q", kLast - 1});
  EXPECT_EQ(tree.Save(kQ, "one is left"), 0);
  EXPECT_EQ(tree.Open(kQ, Truncating()).error, EOVERFLOW);
  remove({CellType::kDeleteColumn, "f", "q", kLast});
  EXPECT_EQ(tree.Create(kQ).error, EOVERFLOW);
  EXPECT_EQ(tree.Create("default/t/r/f/new").error, 0);
  EXPECT_EQ(tree.Open("default/t/r/f/other", Truncating()).error, 0);
  remove({CellType::kDelete, "f", "other", kLast - 1});
  EXPECT_EQ(tree.Save("default/t/r/f/other@" + std::to_string(kLast - 2), "late"), 0);
  EXPECT_EQ(tree.Open("default/t/r/f/other", Truncating()).error, 0);
  remove({CellType::kDelete, "f", "other", kLast});
  EXPECT_EQ(tree.Open("default/t/r/f/other", Truncating()).error, EOVERFLOW);
  remove({CellType::kDeleteFamily, "f", "", kLast});
  EXPECT_EQ(tree.Create("default/t/r/f/newer").error, EOVERFLOW);
}

TEST_F(ToldEarlyTest, ARight) {
  if (StoreKindOfTests() == StoreKind::kRemote) GTEST_SKIP() << "a cluster tells it at the put";
  StoreOptions options;
  options.clock = tree.clock;
  options.site.authorization = true;
  tree.filesystem.reset();
  tree.controls = nullptr;
  tree.store = OpenMemoryStore(options);
  tree.MakeTable();
  tree.Put("r", "q", "before");
  ASSERT_TRUE(tree.store->GrantPermissions(Caller::Superuser(), {"bob", {"", tree.table}, "R"},
                                           true).ok());
  tree.Remount();
  const Caller bob{"bob"};
  const NodePtr node = tree.LookUp(kQ)->node;
  const NodePtr family = tree.Directory("default/t/r/f");
  const Request request{.uid = 7, .gid = 7, .caller = &bob};
  for (const OpenMode& mode : {ForWriting(), ForAppending(), Truncating()})
    EXPECT_EQ(tree.filesystem->Open(request, *node, mode).error(), EACCES);
  EXPECT_EQ(tree.filesystem->Create(request, *family, "made", 0600, ForWriting(), false).error(),
            EACCES);
  EXPECT_EQ(tree.ReadFile(kQ), "before");
}

}  // namespace
}  // namespace cellfs::fs
