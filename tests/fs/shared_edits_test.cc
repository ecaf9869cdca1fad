// SPDX-License-Identifier: MIT
//
// What handles write over a file that is there, or that somebody opens to read and write, is one
// sequence for all of them.
#include "fs/files/shared_edits.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

struct SharedEditsTest : WritingTest {
  // As the kernel asks for pages, by whatever handle.
  std::string Pages(const OpenFile& file) {
    const auto read =
        tree.filesystem->Read(tree.request, *file.node, file.handle, 0, 100, ReadFor::kPages);
    return read.ok() ? std::string(read->bytes) : "<read failed>";
  }
  bool OpensDirectly(const OpenFile& beside, const OpenMode& mode) {
    const auto opened = tree.filesystem->Open(tree.request, *beside.node, mode);
    EXPECT_TRUE(opened.ok());
    const bool direct = opened->direct_io;
    EXPECT_EQ(tree.Close({0, beside.node, opened->handle}), 0);
    return direct;
  }
};

TEST_F(SharedEditsTest, TheLastWriteToAByteWinsWhoeverIsClosedFirst) {
  tree.Save(kQ, "0123456789");
  OpenFile first = tree.Open(kQ, ForWriting());
  OpenFile second = tree.Open(kQ, ForWritingOnly());
  tree.Write(first, "aaaa", 0);
  tree.Write(second, "bb", 1);
  tree.Write(first, "c", 2);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "abca456789");
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "abca456789");
  EXPECT_EQ(tree.Stored("q"), "Put@1 Put@0") << "one version for both";
}

TEST_F(SharedEditsTest, PagesHaveWhatIsNotPutWhateverHandleTheyComeBy) {
  tree.Save(kQ, "0123");
  OpenFile writer = tree.Open(kQ, ForWriting());
  tree.Write(writer, "A", 0);
  OpenFile reader = tree.Open(kQ, {});
  EXPECT_EQ(Pages(reader), "A123");
  EXPECT_EQ(tree.Read(reader), "0123") << "the value before";
  EXPECT_FALSE(reader.node->has_stale_pages());
  EXPECT_EQ(tree.Close(writer), 0);
  EXPECT_FALSE(reader.node->has_stale_pages());
}

TEST_F(SharedEditsTest, AppendedBytesAndEditsKeepTheirOrder) {
  tree.Save(kQ, "0");
  OpenFile appender = tree.Open(kQ, ForAppending());
  OpenFile editor = tree.Open(kQ, ForWriting());
  tree.Write(appender, "12", 1);
  tree.Write(editor, "x", 1);
  tree.Write(appender, "3", 3);
  EXPECT_EQ(tree.Read(editor), "0x23");
  EXPECT_EQ(tree.Read(appender), "0x23");
  EXPECT_EQ(tree.Stat(kQ).st_size, 4);
  EXPECT_EQ(tree.Close(appender), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "0x23");
  EXPECT_EQ(tree.Close(editor), 0);
}

TEST_F(SharedEditsTest, WhoTruncatesOrMakesAFileSharesItWithWhoOpensItToReadAndWrite) {
  for (const bool is_new : {true, false}) {
    OpenFile writer = is_new ? tree.Create(kQ) : tree.Open(kQ, Truncating());
    tree.Write(writer, "new");
    const std::string before = tree.Stored("q");
    OpenFile sharer = tree.Open(kQ, ForWriting());
    EXPECT_FALSE(OpensDirectly(sharer, ForWriting()));
    EXPECT_EQ(tree.Read(sharer), "new");
    EXPECT_EQ(tree.Stored("q"), before) << "nobody who only reads sees half a file";
    EXPECT_EQ(tree.Close(sharer), 0);
    EXPECT_EQ(tree.Stored("q"), before) << "nor is it put by who wrote nothing";
    tree.Write(writer, "er", 3);
    EXPECT_EQ(tree.Close(writer), 0);
    EXPECT_EQ(tree.ReadFile(kQ), "newer");
  }
}

TEST_F(SharedEditsTest, AFileThatIsMadeAndSharedAndNotWrittenIsThere) {
  OpenFile maker = tree.Create(kQ);
  OpenFile sharer = tree.Open(kQ, ForWriting());
  EXPECT_EQ(tree.Close(sharer), 0);
  EXPECT_EQ(tree.Stored("q"), "");
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@0");
}

TEST_F(SharedEditsTest, AnExclusiveCreationIsPutBeforeItIsShared) {
  OpenFile maker = tree.Create(kQ, /*exclusive=*/true);
  tree.Write(maker, "AA");
  OpenFile sharer = tree.Open(kQ, ForWriting());
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  tree.Write(sharer, "bbbb");
  tree.Write(maker, "C", 3);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.Close(sharer), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "bbbC");
}

TEST_F(SharedEditsTest, FsyncIsOfTheFile) {
  tree.Save(kQ, "0123");
  OpenFile editor = tree.Open(kQ, ForWriting());
  OpenFile appender = tree.Open(kQ, ForAppending());
  OpenFile other = tree.Open(kQ, ForWriting());
  tree.Write(appender, "4", 4);
  tree.Write(editor, "A", 0);
  EXPECT_EQ(other.handle->Sync().error(), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "A1234");
}

TEST_F(SharedEditsTest, BytesAreNotPutInTheNameOfAnotherUser) {
  tree.Save(kQ, "0123");
  Caller ann{.user = "ann"}, ben{.user = "ben"};
  OpenFile file[2];
  for (const Caller* caller : {&ann, &ben}) {
    tree.request.caller = caller;
    file[caller == &ben] = tree.Open(kQ, ForWriting());
  }
  tree.Write(file[0], "A", 0);
  EXPECT_EQ(tree.ReadFile(kQ), "0123");
  tree.Write(file[1], "B", 1);
  EXPECT_EQ(tree.ReadFile(kQ), "A123") << "put before another's come over it";
  EXPECT_EQ(tree.Read(file[0]), "AB23");
  EXPECT_EQ(tree.Close(file[0]), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "A123");
  EXPECT_EQ(tree.Close(file[1]), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "AB23");
  tree.request.caller = &Caller::Superuser();
}

TEST_F(SharedEditsTest, ATimeThatOneOfThemSetIsThatOfThePut) {
  tree.Save(kQ, "0123");
  tree.clock->Advance(100);
  OpenFile first = tree.Open(kQ, ForWriting());
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(first, "A", 0);
  tree.Write(second, "B", 1);
  EXPECT_EQ(tree.SetTime(first, ToTimespec(kStart + 50)), 0);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@50 Put@0");
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "AB23");
}

TEST_F(SharedEditsTest, AWriteThatFailsTakesAwayNobodyElsesBytes) {
  tree.Save(kQ, "0123");
  OpenFile first = tree.Open(kQ, ForWriting());
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(first, "A", 0);
  tree.Write(second, "B", 1);
  EXPECT_EQ(tree.Write(first, "x", uint64_t{1} << 40), EFBIG);
  EXPECT_EQ(tree.Close(first), EFBIG);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "AB23");
}

TEST_F(SharedEditsTest, WhatIsNotPutGoesWithAFileThatLosesItsName) {
  tree.Save(kQ, "0123");
  OpenFile first = tree.Open(kQ, ForWriting());
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(first, "A", 0);
  tree.Write(second, "B", 1);
  EXPECT_EQ(tree.Unlink(kQ), 0);
  tree.Write(second, "C", 2);
  EXPECT_EQ(tree.Read(first), "ABC3");
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@1 Put@0");
}

}  // namespace
}  // namespace cellfs::fs
