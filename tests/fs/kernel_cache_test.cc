// SPDX-License-Identifier: MIT
//
// What the kernel is told, and when: it may first wait for a request that reads the column, so that
// nobody tells it anything while he keeps readers out.
#include "fs/nodes/kernel_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/fs/failing_tree.h"

namespace cellfs::fs {
namespace {

// Lets a request that looks at the column be answered before it returns, as the kernel does.
class WaitingKernel : public KernelNotifier {
 public:
  WaitingKernel(FailingTree& tree, NodePtr looked_at) : tree_(tree), looked_at_(looked_at) {
    tree_.filesystem->kernel().SetNotifier(this);
  }
  ~WaitingKernel() override { tree_.filesystem->kernel().SetNotifier(nullptr); }

  void InvalidateInode(const Node& node) override {
    if (&node == looked_at_.get()) pages_dropped_ = true;
    AwaitRequest();
  }
  void InvalidateAttributes(const Node&) override { AwaitRequest(); }
  void InvalidateEntry(const Node&, const std::string&) override {}

  int times_told() const { return times_told_; }
  bool waited_in_vain() const { return waited_in_vain_; }
  // Of the node that is looked at.
  bool pages_dropped() const { return pages_dropped_; }

 private:
  // The cache's own thread tells as well.
  void AwaitRequest() {
    const std::lock_guard lock(mutex_);
    ++times_told_;
    if (waited_in_vain_) return;
    auto looking = std::make_shared<std::promise<void>>();
    auto looked = looking->get_future();
    threads_.emplace_back([this, looking] {
      static_cast<void>(tree_.filesystem->GetAttributes(tree_.request, *looked_at_));
      looking->set_value();
    });
    if (looked.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
      waited_in_vain_ = true;
    }
  }

  FailingTree& tree_;
  const NodePtr looked_at_;
  std::atomic<int> times_told_ = 0;
  std::atomic<bool> waited_in_vain_ = false;
  std::atomic<bool> pages_dropped_ = false;
  std::mutex mutex_;
  std::vector<std::jthread> threads_;  // guarded by mutex_
};

struct KernelCacheTest : testing::Test {
  KernelCacheTest() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
    tree.Put("r", "q", "abc");
  }
  FailingTree tree;
};

TEST_F(KernelCacheTest, IsToldOfATimeToLiveWithoutTheLockOfTheColumn) {
  CELLFS_NEEDS(withdraws);
  const NodePtr q = tree.LookUp(kQ)->node;
  WaitingKernel kernel(tree, q);
  EXPECT_EQ(tree.filesystem->SetXattr(tree.request, *q, "user.cellfs.ttl", "100000", 0).error(), 0);
  EXPECT_GT(kernel.times_told(), 0);
  EXPECT_FALSE(kernel.waited_in_vain());
}

TEST_F(KernelCacheTest, IsToldOfTheVersionBeforeWhereTheNewestIsRenamed) {
  const NodePtr q = tree.LookUp(kQ)->node;
  const std::string newest = kQ + ("@" + tree.List("default/t/r/f/.versions/q").front());
  ASSERT_TRUE(tree.LookUp(newest).ok());
  WaitingKernel kernel(tree, q);
  EXPECT_EQ(tree.Rename(newest, "default/t/r/f/moved"), 0);
  EXPECT_TRUE(kernel.pages_dropped());
}

// All names of a column share its lock.
TEST_F(KernelCacheTest, IsToldOfAFileThatWasNotMadeWithoutTheLockOfTheColumn) {
  const std::string version = "default/t/r/f/.versions/q/";
  const NodePtr q = tree.LookUp(kQ)->node;
  const OpenFile file = tree.Create(version + "77");
  tree.Write(file, "new");
  WaitingKernel kernel(tree, q);
  tree.failing->Fail(
      {1, Status(StatusCode::kStoreFull, "no space left"), FailingStore::Calls::kMutations});
  EXPECT_EQ(tree.Close(file), ENOSPC);
  tree.failing->Heal();
  EXPECT_GT(kernel.times_told(), 0);
  EXPECT_FALSE(kernel.waited_in_vain());
}

TEST_F(KernelCacheTest, IsToldOfASchemaWithoutTheLockOfItsFile) {
  const std::string temporary = "default/t/.schema.toml.tmp";
  ASSERT_EQ(tree.Save(temporary, tree.ReadFile("default/t/.schema.toml")), 0);
  WaitingKernel kernel(tree, tree.LookUp("default/t/.schema.toml")->node);
  EXPECT_EQ(tree.Rename(temporary, "default/t/.schema.toml"), 0);
  EXPECT_GT(kernel.times_told(), 0);
  EXPECT_FALSE(kernel.waited_in_vain());
}

// It keeps names and attributes until it is told otherwise.
TEST_F(KernelCacheTest, IsToldOfWhatMayHaveBeenDone) {
  const Status unknown(StatusCode::kOutcomeUnknown, "the sync failed");
  const NodePtr q = tree.LookUp(kQ)->node;
  const NodePtr family = tree.Directory("default/t/r/f");
  const auto told_of = [&](const std::function<int()>& act) {
    WaitingKernel kernel(tree, family);
    tree.failing->Fail({1, unknown, FailingStore::Calls::kMutations, FailingStore::Effect::kDone});
    EXPECT_EQ(act(), EIO);
    tree.failing->Heal();
    return kernel.times_told() > 0;
  };
  const OpenFile file = tree.Open(kQ, ForAppending());
  tree.Write(file, "d");
  EXPECT_TRUE(told_of([&] { return tree.Flush(file); }));
  EXPECT_EQ(tree.ReadFile(kQ), "abcd");
  tree.filesystem->Release(*file.node, file.handle);
  if (StoreKindOfTests() == StoreKind::kRemote) return;  // what else was done is looked for there
  EXPECT_TRUE(told_of([&] {
    return tree.filesystem->Rename(tree.request, *family, "q", *family, "p", 0).error();
  }));
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p"), "abcd");
  EXPECT_TRUE(told_of([&] { return tree.filesystem->Unlink(tree.request, *family, "p").error(); }));
  EXPECT_EQ(tree.Error("default/t/r/f/p"), ENOENT);
}

// Holds up who tells of a name, as a directory that others change does, and counts what is told.
class BusyKernel : public KernelNotifier {
 public:
  explicit BusyKernel(WritingTree& tree) : tree_(tree) {
    tree_.filesystem->kernel().SetNotifier(this);
  }
  ~BusyKernel() override {
    LetGo();
    tree_.filesystem->kernel().SetNotifier(nullptr);
  }

  void InvalidateInode(const Node&) override { ++inodes_; }
  void InvalidateAttributes(const Node&) override {}
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    {
      const std::lock_guard lock(mutex_);
      told_.insert(name);
    }
    ++names_;
    if (busy_ == nullptr || busy_ == &directory) let_go_.wait(false);
  }
  // Only this one, from now on.
  void KeepBusy(const NodePtr& directory) { busy_ = directory.get(); }
  void LetGo() {
    let_go_ = true;
    let_go_.notify_all();
  }
  int names() const { return names_; }
  bool told(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return told_.contains(name);
  }
  int inodes() const { return inodes_; }

 private:
  WritingTree& tree_;
  std::atomic<const Node*> busy_ = nullptr;
  std::atomic<bool> let_go_ = false;
  std::atomic<int> names_ = 0;
  std::atomic<int> inodes_ = 0;
  std::mutex mutex_;
  std::set<std::string> told_;  // guarded by mutex_
};

// Else who waits for the kernel (a command) waits for all that others queue meanwhile.
TEST_F(KernelCacheTest, IsToldOnceOfANameThatWaitsAlready) {
  const std::vector<Place> known = {CellPlace(tree.table, "r", "f", "q"),
                                    CellPlace(tree.table, "r", "f", "other")};
  ASSERT_EQ(tree.Error("default/t/r/f"), 0);
  BusyKernel kernel(tree);
  KernelCache& cache = tree.filesystem->kernel();
  for (int round = 0; round < 100; ++round) {
    for (const Place& place : known) cache.NameWent(place);
  }
  kernel.LetGo();
  cache.AwaitNames();
  // One of them may have been told already when it was queued again.
  EXPECT_GE(kernel.names(), 2);
  EXPECT_LE(kernel.names(), 3);
  cache.NameWent(known[0]);
  const int before = kernel.names();
  cache.AwaitNames();
  EXPECT_LE(kernel.names(), before + 1);
  EXPECT_GE(kernel.names(), 3);
}

TEST_F(KernelCacheTest, IsToldOfANameThoughAnotherDirectoryIsLocked) {
  tree.Put("s", "q", "abc");
  const auto locked = tree.LookUp("default/t/r/f");
  ASSERT_TRUE(locked.ok());
  ASSERT_EQ(tree.Error("default/t/s/f"), 0);
  BusyKernel kernel(tree);
  kernel.KeepBusy(locked->node);
  KernelCache& cache = tree.filesystem->kernel();
  cache.NameWent(CellPlace(tree.table, "r", "f", "q"));
  cache.NameWent(CellPlace(tree.table, "r", "f", "other"));
  cache.NameWent(CellPlace(tree.table, "s", "f", "q"));
  for (int waits = 0; waits < 500 && kernel.names() < 2; ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(kernel.names(), 2) << "the other one waits behind the first of its directory";
  kernel.LetGo();
  cache.AwaitNames();
  EXPECT_EQ(kernel.names(), 3);
}

// An entry of the queue for each file of a table would be memory that nobody has counted.
TEST_F(KernelCacheTest, IsToldOfAllNamesOfATableByOneNotice) {
  const NodePtr family = tree.Directory("default/t/r/f");
  ASSERT_EQ(tree.Error(kQ), 0);
  ASSERT_EQ(tree.Error("default/t/r/f/other"), 0);
  BusyKernel kernel(tree);
  KernelCache& cache = tree.filesystem->kernel();
  cache.TableChanged(tree.table);
  for (int waits = 0; waits < 500 && kernel.names() < 1; ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(kernel.names(), 1) << "one thread walks";
  kernel.LetGo();
  cache.AwaitNames();
  EXPECT_EQ(kernel.names(), 5) << "of the table, the row, the family and both files";
}

TEST_F(KernelCacheTest, IsToldOfAnotherTablesNamesThoughADirectoryIsLocked) {
  ASSERT_EQ(tree.Mkdir("default/u"), 0);
  const NodePtr locked = tree.Directory("default/t/r/f");
  ASSERT_EQ(tree.Error(kQ), 0);
  BusyKernel kernel(tree);
  kernel.KeepBusy(locked);
  KernelCache& cache = tree.filesystem->kernel();
  cache.TableChanged(tree.table);
  cache.TableChanged({"default", "u"});
  const auto told_of_u = [&] { return kernel.told("u"); };
  for (int waits = 0; waits < 500 && !told_of_u(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(told_of_u());
  kernel.LetGo();
  cache.AwaitNames();
}

TEST_F(KernelCacheTest, KeepsATableOfWhichMkdirAndRmdirDeclareAndUndeclareAFamily) {
  ASSERT_EQ(tree.Mkdir("default/open"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r/f"), 0);
  ASSERT_EQ(tree.Save("default/open/r/f/q", "x"), 0);
  const NodePtr file = tree.LookUp("default/open/r/f/q")->node;
  ASSERT_EQ(tree.Mkdir("default/open/r/g"), 0);
  BusyKernel kernel(tree);
  kernel.LetGo();
  ASSERT_EQ(tree.Rmdir("default/open/r/g"), 0);
  tree.filesystem->kernel().AwaitNames();
  EXPECT_LE(kernel.names(), 1) << "that of the family";
  EXPECT_LE(kernel.inodes(), 1);
  const bool has_gone =
      tree.ReadFile("default/open/.schema.toml").find("families.g") == std::string::npos;
  EXPECT_NE(has_gone, tree.store->traits().has_other_writers) << "where others write it stays";
}

}  // namespace
}  // namespace cellfs::fs
