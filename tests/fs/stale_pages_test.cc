// SPDX-License-Identifier: MIT
//
// When the kernel's pages of a file are dropped, and who reads past them until then.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "fs/files/dropped_pages.h"
#include "fs/nodes/kernel_cache.h"
#include "fs/nodes/kernel_size.h"
#include "tests/fs/failing_tree.h"

namespace cellfs::fs {
namespace {

struct StalePagesTest : testing::Test {
  StalePagesTest() {
    tree.MakeTable();
    tree.Put("r", "q", "abc");
  }
  FailingTree tree;
};

// As the kernel's, which waits for a read that keeps a page locked: holds up who has pages dropped
// until it is let go.
class LockedPage : public KernelNotifier {
 public:
  explicit LockedPage(FailingTree& tree) : tree_(tree) {
    tree_.filesystem->kernel().SetNotifier(this);
  }
  ~LockedPage() override { tree_.filesystem->kernel().SetNotifier(nullptr); }
  void InvalidateInode(const Node&) override {
    ++drops_;
    begun_.release();
    let_go_.acquire();
  }
  void InvalidateAttributes(const Node&) override {}
  void InvalidateEntry(const Node&, const std::string&) override {}

  void AwaitDrop() { begun_.acquire(); }
  void LetGo(int times = 1) { let_go_.release(times); }
  int drops() const { return drops_; }

 private:
  FailingTree& tree_;
  std::atomic<int> drops_{0};
  std::counting_semaphore<> begun_{0};
  std::counting_semaphore<> let_go_{0};
};

// The kernel would do it when the open has returned. By then another may write to a page, which
// comes back without that.
TEST_F(StalePagesTest, AnOpenDropsStalePagesBeforeItsReplyAndWhoOpensToWriteWaits) {
  LockedPage kernel(tree);
  const NodePtr q = tree.LookUp(kQ)->node;
  const OpenFile before = tree.Open(kQ, {});
  q->PagesAreStale();
  auto reading =
      std::async(std::launch::async, [&] { return tree.filesystem->Open(tree.request, *q, {}); });
  kernel.AwaitDrop();
  std::atomic<bool> is_open_to_write{false};
  auto writing = std::async(std::launch::async, [&] {
    auto opened = tree.filesystem->Open(tree.request, *q, ForAppending());
    is_open_to_write = true;
    return opened;
  });
  EXPECT_EQ(tree.Read(before), "abc") << "for the page that is waited for";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(is_open_to_write);
  kernel.LetGo();
  const auto reader = reading.get();
  const auto writer = writing.get();
  const bool keeps_pages = !tree.store->traits().has_other_writers;
  EXPECT_EQ(reader->keep_cache, keeps_pages);
  EXPECT_EQ(writer->keep_cache, keeps_pages);
  EXPECT_FALSE(q->has_stale_pages());
  EXPECT_EQ(kernel.drops(), 1);
  for (FileHandle* handle : {before.handle, reader->handle, writer->handle})
    tree.filesystem->Release(*q, handle);
}

TEST_F(StalePagesTest, PagesThatAreStaleWhileAFileIsWrittenAreDroppedWhenItIsClosed) {
  LockedPage kernel(tree);
  kernel.LetGo(10);
  const NodePtr q = tree.LookUp(kQ)->node;
  const OpenFile writer = tree.Open(kQ, ForAppending());
  q->PagesAreStale();
  tree.Write(writer, "d", 3);
  const auto reader = tree.filesystem->Open(tree.request, *q, {});
  EXPECT_TRUE(reader->keep_cache);
  EXPECT_TRUE(reader->direct_io);
  EXPECT_EQ(kernel.drops(), 0);
  EXPECT_EQ(tree.Flush(writer), 0);
  kernel.AwaitDrop();
  for (int waits = 0; waits < 500 && q->has_stale_pages(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(q->has_stale_pages());
  tree.filesystem->Release(*q, writer.handle);
  tree.filesystem->Release(*q, reader->handle);
}

// The kernel copies what is written into a page, and asks then: it may have been dropped in between,
// and be read again without that.
TEST_F(StalePagesTest, PagesThatWereReadBetweenADropAndTheWriteBehindItAreStale) {
  for (const bool are_read : {true, false}) {
    LockedPage kernel(tree);
    kernel.LetGo(100);
    const NodePtr q = tree.LookUp(kQ)->node;
    const auto size = static_cast<uint64_t>(tree.Stat(kQ).st_size);
    const OpenFile mapper = tree.Open(kQ, {});
    const OpenFile writer = tree.Open(kQ, ForAppending());
    q->PagesAreStale();
    const auto sharer = tree.filesystem->Open(tree.request, *q, ForWriting());
    EXPECT_FALSE(sharer->direct_io) << "he may map it, although another has it open to write";
    EXPECT_EQ(kernel.drops(), 1);
    if (are_read) {
      ASSERT_TRUE(tree.filesystem->Read(tree.request, *q, mapper.handle, 0, 9, ReadFor::kPages).ok());
    }
    tree.Write(writer, "d", size);
    EXPECT_EQ(q->has_stale_pages(), are_read);
    const auto reader = tree.filesystem->Open(tree.request, *q, {});
    EXPECT_EQ(reader->direct_io, are_read || tree.store->traits().has_other_writers);
    EXPECT_EQ(tree.Flush(writer), 0);
    for (int waits = 0; waits < 500 && q->has_stale_pages(); ++waits)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(q->has_stale_pages()) << "what was put was dropped anew";
    tree.Write(writer, "e", size + 1);
    EXPECT_FALSE(q->has_stale_pages());
    EXPECT_EQ(tree.Flush(writer), 0);
    for (FileHandle* handle : {mapper.handle, writer.handle, sharer->handle, reader->handle})
      tree.filesystem->Release(*q, handle);
  }
}

// A thread that reads is in no write(2).
TEST(DroppedPagesTest, WhoAloneHasReadLacksNothingOfWhatHeWrites) {
  constexpr pid_t kOne = 7;
  constexpr pid_t kOther = 8;
  for (const auto& [readers, writer, may_lack] :
       std::vector<std::tuple<std::vector<pid_t>, pid_t, bool>>{{{}, kOne, false},
                                                                {{kOne, kOne}, kOne, false},
                                                                {{kOther}, kOne, true},
                                                                {{kOne, kOther}, kOne, true},
                                                                {{kOther, kOne}, kOne, true},
                                                                {{0}, 0, true}}) {
    DroppedPages pages;
    { const DroppedPages::Dropping drop(pages); }
    for (const pid_t reader : readers) pages.AreRead(reader);
    EXPECT_EQ(pages.MayLackWritten(writer), may_lack);
    EXPECT_FALSE(pages.MayLackWritten(kOther)) << "it is the first write behind the drop alone";
  }
}

// It appends behind all that it knows of, which may be another value's.
TEST_F(StalePagesTest, PagesThatHaveWhatWasAppendedElsewhereAreStaleAtOnce) {
  const OpenFile writer = tree.Open(kQ, ForAppending());
  tree.Write(writer, "d", 3);
  EXPECT_FALSE(writer.node->has_stale_pages());
  tree.Write(writer, "e", 7);
  EXPECT_TRUE(writer.node->has_stale_pages());
  const auto reader = tree.filesystem->Open(tree.request, *writer.node, {});
  EXPECT_TRUE(reader->direct_io);
  tree.filesystem->Release(*writer.node, reader->handle);
  EXPECT_EQ(tree.Close(writer), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "abcde");
}

// The kernel knows of the write first, and ignores what is of before it.
TEST(KernelSizeTest, AReplyThatAWriteHasOvertakenTellsTheKernelNothing) {
  KernelSize size;
  size.IsTold(3, size.growths());
  const uint64_t before = size.growths();
  EXPECT_FALSE(size.IsWritten(4));
  size.IsTold(3, before);
  EXPECT_FALSE(size.IsWritten(5));
  size.IsTold(5, size.growths());
  EXPECT_FALSE(size.IsWritten(6));
  size.IsTold(3, size.growths());
  EXPECT_TRUE(size.IsWritten(7));
  EXPECT_TRUE(size.MayCutWritten());
}

// Told another size, the kernel cuts pages off there a moment later, also those that somebody has
// written to meanwhile.
TEST_F(StalePagesTest, PagesThatWereWrittenJustBehindAnotherSizeAreStale) {
  LockedPage kernel(tree);
  kernel.LetGo(100);
  const OpenFile first = tree.Open(kQ, Truncating());
  tree.Write(first, "a");
  const OpenFile second = tree.Open(kQ, Truncating());
  tree.Write(second, "bcd");
  EXPECT_EQ(tree.Close(second), 0);
  const auto told = std::chrono::steady_clock::now();
  EXPECT_EQ(tree.Stat(kQ).st_size, 1) << "of the one that is not put, where the kernel has 3";
  EXPECT_EQ(tree.Close(first), 0);
  const NodePtr q = tree.LookUp(kQ)->node;
  for (int waits = 0; waits < 500 && q->has_stale_pages(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(q->has_stale_pages());
  const OpenFile writer = tree.Open(kQ, Truncating());
  tree.Write(writer, "efgh");
  const bool is_stale = q->has_stale_pages();
  EXPECT_EQ(tree.Close(writer), 0);
  const auto reader = tree.filesystem->Open(tree.request, *q, {});
  if (std::chrono::steady_clock::now() - told < std::chrono::milliseconds(900)) {
    EXPECT_TRUE(is_stale);
    EXPECT_TRUE(reader->direct_io) << "they may be cut when they have been read anew, too";
  }
  tree.filesystem->Release(*q, reader->handle);
}

TEST_F(StalePagesTest, ASizeThatTheKernelKnowsMakesNoPagesStale) {
  const OpenFile writer = tree.Open(kQ, ForWriting());
  tree.Stat(kQ);
  tree.Write(writer, "efgh", 8);
  EXPECT_EQ(tree.Stat(kQ).st_size, 12);
  AttributeChange change;
  change.size = 5;
  EXPECT_EQ(tree.Change(kQ, change), 0);
  tree.Write(writer, "i", 20);
  EXPECT_EQ(tree.filesystem->Allocate(*writer.node, *writer.handle, 30).error(), 0);
  EXPECT_EQ(tree.Stat(kQ).st_size, 30);
  tree.Write(writer, "j", 3);
  EXPECT_FALSE(writer.node->has_stale_pages());
  EXPECT_EQ(tree.Close(writer), 0);
}

}  // namespace
}  // namespace cellfs::fs
