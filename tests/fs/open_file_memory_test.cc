// SPDX-License-Identifier: MIT
#include "fs/files/open_file_memory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(OpenFileMemoryTest, AUserMayHaveAsMuchAsIsLeftForOthers) {
  OpenFileMemory memory(8 * kMiB, kMiB);
  OpenFileMemory::Share first(memory, 1000);
  OpenFileMemory::Share second(memory, 1000);
  OpenFileMemory::Share other(memory, 1001);
  OpenFileMemory::Share third(memory, 1002);
  EXPECT_TRUE(first.Resize(3 * kMiB));
  EXPECT_FALSE(second.Resize(2 * kMiB));
  EXPECT_TRUE(second.Resize(kMiB));
  EXPECT_FALSE(other.Resize(3 * kMiB));
  EXPECT_TRUE(other.Resize(2 * kMiB));
  EXPECT_TRUE(third.Resize(kMiB)) << "whoever comes finds something";
  EXPECT_EQ(memory.used(), 7 * kMiB);
  EXPECT_FALSE(first.Resize(4 * kMiB));
  EXPECT_TRUE(first.Resize(0));
  EXPECT_TRUE(third.Resize(2 * kMiB));
}

TEST(OpenFileMemoryTest, WhatGoesGivesItsBytesBack) {
  OpenFileMemory memory(8 * kMiB, kMiB);
  {
    OpenFileMemory::Share share(memory, 1000);
    EXPECT_TRUE(share.Resize(4 * kMiB));
  }
  EXPECT_EQ(memory.used(), 0u);
}

TEST(OpenFileMemoryTest, EveryUserMayHoldTwoOfTheLongestValues) {
  OpenFileMemory memory(0, 10 * kMiB);
  OpenFileMemory::Share share(memory, 1000);
  EXPECT_TRUE(share.Resize(20 * kMiB));
  EXPECT_FALSE(share.Resize(21 * kMiB));
}

TEST(OpenFileMemoryTest, SmallFilesAreNotCounted) {
  OpenFileMemory memory(0, 0);
  OpenFileMemory::Share share(memory, 1000);
  EXPECT_TRUE(share.Resize(4096));
  EXPECT_FALSE(share.Resize(4097));
}

// Two megabytes for the user; the largest value has one.
struct OpenFilesTest : testing::Test {
  static MountOptions Options() {
    MountOptions options;
    options.max_value_size = kMiB;
    options.open_file_limit = 4 * kMiB;
    return options;
  }
  void MakeTable() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
  }
  std::string Name(size_t number) { return "default/t/r/f/" + std::to_string(number); }
  // Files that replace others and are not closed, until there is no room.
  std::vector<OpenFile> Fill() {
    std::vector<OpenFile> open;
    for (size_t number = 0; number < 9; ++number) {
      open.push_back(tree.Create("default/t/r/f/full" + std::to_string(number), false,
                                 {.write = true, .truncate = true}));
      if (tree.Write(open.back(), kLong) == ENOSPC) break;
    }
    return open;
  }
  uint64_t used() { return tree.filesystem->parts().tree.open_file_memory.used(); }

  const std::string kLong = std::string(kMiB, 'x');
  WritingTree tree{Options()};
};

TEST_F(OpenFilesTest, AFileThatReplacesAnotherFailsAndTheOldOneStays) {
  MakeTable();
  tree.Save(Name(1), "before");
  const std::vector<OpenFile> open = Fill();
  EXPECT_EQ(open.size(), 3u);
  const OpenFile file = tree.Open(Name(1), Truncating());
  EXPECT_EQ(tree.Write(file, kLong), ENOSPC);
  EXPECT_EQ(tree.Close(file), ENOSPC);
  EXPECT_EQ(tree.ReadFile(Name(1)), "before");
  EXPECT_EQ(used(), 2 * kMiB) << "what was refused is not kept";
  for (const OpenFile& other : open) tree.Close(other);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(tree.Save(Name(1), kLong), 0);
}

TEST_F(OpenFilesTest, ALengthThatHasNoRoomCostsNothing) {
  MakeTable();
  tree.Save(Name(1), "before");
  const std::vector<OpenFile> open = Fill();
  const OpenFile file = tree.Open(Name(1), Truncating());
  EXPECT_EQ(tree.Write(file, "after"), 0);
  EXPECT_EQ(file.handle->Truncate(kMiB).error(), ENOSPC);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(Name(1)), "after");
  for (const OpenFile& other : open) tree.Close(other);
  EXPECT_EQ(used(), 0u);
}

TEST_F(OpenFilesTest, WhatIsEditedOrAppendedIsPutAtOnce) {
  MakeTable();
  tree.Save(Name(1), "a");
  tree.Save(Name(2), "b");
  const std::vector<OpenFile> open = Fill();
  const OpenFile edited = tree.Open(Name(1), ForWriting());
  const OpenFile appended = tree.Open(Name(2), ForAppending());
  const std::string half(kMiB / 2, 'x');
  EXPECT_EQ(tree.Write(edited, half, 1), 0);
  EXPECT_EQ(tree.Write(appended, half, 1), 0);
  EXPECT_EQ(tree.ReadFile(Name(1)), "a" + half) << "nothing was closed yet";
  EXPECT_EQ(tree.ReadFile(Name(2)), "b" + half);
  EXPECT_EQ(tree.Write(edited, "y", 0), 0);
  EXPECT_EQ(tree.Read(edited), "y" + half);
  EXPECT_EQ(tree.Close(edited), 0);
  EXPECT_EQ(tree.Close(appended), 0);
  EXPECT_EQ(tree.ReadFile(Name(1)), "y" + half);
  for (const OpenFile& other : open) tree.Close(other);
  EXPECT_EQ(used(), 0u);
}

TEST_F(OpenFilesTest, WhatIsReadIsNotKept) {
  MakeTable();
  tree.Save(Name(1), kLong);
  const std::vector<OpenFile> open = Fill();
  const uint64_t before = used();
  const OpenFile file = tree.Open(Name(1), {});
  EXPECT_EQ(tree.Read(file), kLong);
  EXPECT_EQ(tree.Read(file), kLong);
  EXPECT_EQ(used(), before);
  tree.Close(file);
  for (const OpenFile& other : open) tree.Close(other);
}

TEST_F(OpenFilesTest, AFileWithoutANameCounts) {
  MakeTable();
  std::vector<OpenFile> open;
  for (size_t number = 0; number < 3; ++number) {
    tree.Save(Name(number), kLong);
    open.push_back(tree.Open(Name(number), {}));
    EXPECT_EQ(tree.Unlink(Name(number)), 0);
  }
  EXPECT_EQ(tree.Read(open[0]), kLong);
  EXPECT_EQ(tree.Read(open[1]), kLong);
  EXPECT_EQ(tree.Read(open[2]), "<read failed>");
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("open_file_limit"), std::string::npos);
  for (const OpenFile& file : open) tree.Close(file);
  EXPECT_EQ(used(), 0u);
}

TEST_F(OpenFilesTest, WhatAHandleReadsAgainIsNotKeptWhereThereIsNoRoom) {
  MakeTable();
  const std::string half(kMiB / 2, 'x');
  std::vector<OpenFile> open;
  for (size_t number = 0; number < 8; ++number) {
    tree.Save(Name(number), half);
    open.push_back(tree.Open(Name(number), ForAppending()));
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(tree.Write(open.back(), "x", half.size()), 0);
      EXPECT_EQ(tree.Flush(open.back()), 0);
    }
    EXPECT_EQ(tree.Read(open.back()), half + "xxx");
  }
  EXPECT_LE(used(), 2 * kMiB);
  for (const OpenFile& file : open) EXPECT_EQ(tree.Read(file), half + "xxx");
  for (const OpenFile& file : open) EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(used(), 0u);
}

TEST_F(OpenFilesTest, ARemovedFileWithoutRoomIsClosedWithoutAnError) {
  MakeTable();
  const std::vector<OpenFile> open = Fill();
  const OpenFile file = tree.Create(Name(1));
  EXPECT_EQ(tree.Write(file, "small"), 0);
  EXPECT_EQ(tree.Unlink(Name(1)), 0);
  EXPECT_EQ(tree.Write(file, kLong), ENOSPC);
  EXPECT_EQ(tree.Close(file), 0);
  for (const OpenFile& other : open) tree.Close(other);
}

TEST_F(OpenFilesTest, OpenListingsCount) {
  MakeTable();
  const auto entry = tree.LookUp("default/t");
  auto listing = tree.filesystem->OpenListing(tree.request, *entry->node);
  ASSERT_TRUE(listing.ok());
  const auto take = [](const DirectoryEntry&) { return true; };
  EXPECT_TRUE(tree.filesystem->List(tree.request, *listing->directory, 0, take).ok());
  EXPECT_GT(used(), 0u);
  listing->directory.reset();
  EXPECT_EQ(used(), 0u);
}

}  // namespace
}  // namespace cellfs::fs
