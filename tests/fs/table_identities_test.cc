// SPDX-License-Identifier: MIT
//
// Owners and modes in a store without table ids that other mounts and clients write to.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs/operations/callers_store.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {


struct TableIdentitiesTest : testing::Test {
  TableIdentitiesTest() {
    tree.MakeTable();
    for (const char* qualifier : {"p", "q"}) tree.Put("r", qualifier, "x");
    EXPECT_EQ(SetMode(kQ, 0600), 0);
    EXPECT_EQ(SetMode(kTablePath, 0700), 0);
  }

  RemoteStore& remote() { return static_cast<RemoteStore&>(*tree.store); }
  Store& elsewhere() { return remote().elsewhere(); }
  int SetMode(const std::string& path, mode_t mode) {
    return tree.Change(path, AttributeChange{.mode = mode});
  }
  mode_t ModeOf(const std::string& path) { return tree.Stat(path).st_mode & 07777; }
  // What was read is not shown any more.
  void Wait() { tree.clock->Advance(RemoteStore::kMaxStalenessMs + 1); }
  void DropElsewhere() {
    ASSERT_TRUE(elsewhere().DisableTable(Caller::Superuser(), tree.table).ok());
    ASSERT_TRUE(elsewhere().DropTable(Caller::Superuser(), tree.table).ok());
  }
  void MakeAnewElsewhere() {
    DropElsewhere();
    tree.MakeTable();
    tree.Put("r", "q", "y");
    tree.Put("r", "p", "y");
    Wait();
  }
  // Of the table of attributes, that begin with this.
  std::vector<std::string> Rows(const std::string& prefix) {
    std::vector<std::string> found;
    auto scanner = tree.store->OpenScanner(Caller::Superuser(), kAttributes, Scan());
    for (const RowCells& cells : *(*scanner)->Next({})) {
      if (cells.front().row.starts_with(prefix)) found.push_back(cells.front().row);
    }
    return found;
  }
  // By another mount.
  static void ChangeThrough(FileSystem& mount, const std::vector<std::string>& names,
                            const AttributeChange& change) {
    const Request request;
    NodePtr node = mount.root().shared_from_this();
    for (const std::string& name : names) node = mount.LookUp(request, *node, name)->node;
    EXPECT_TRUE(mount.SetAttributes(request, *node, change, nullptr).ok());
  }

  WritingTree tree{{}, StoreKind::kRemote};
  FileSystem other{remote(), {}, tree.clock, nullptr};
};

// ---- Which table it is --------------------------------------------------------------------------

TEST_F(TableIdentitiesTest, ATableThatOthersMadeAnewInheritsNobody) {
  const std::vector<std::string> before = Rows("~");
  ASSERT_EQ(before.size(), 1u);
  MakeAnewElsewhere();
  EXPECT_EQ(ModeOf(kTablePath), 0755u);
  EXPECT_EQ(ModeOf(kQ), 0644u);
  EXPECT_EQ(Rows("~"), before) << "nobody has written";
  ASSERT_EQ(SetMode("default/t/r/f/p", 0640), 0);
  EXPECT_EQ(ModeOf(kQ), 0644u);
  EXPECT_EQ(ModeOf("default/t/r/f/p"), 0640u);
  ASSERT_EQ(Rows("~").size(), 1u);
  EXPECT_NE(Rows("~"), before);
  EXPECT_EQ(Rows("=").size(), 1u);
  tree.Remount();
  EXPECT_EQ(ModeOf(kQ), 0644u);
  EXPECT_EQ(ModeOf("default/t/r/f/p"), 0640u);
}

TEST_F(TableIdentitiesTest, OfTwoThreadsThatGiveItARowOneDoes) {
  MakeAnewElsewhere();
  const Freshness freshness(tree.store->traits(), *tree.clock);
  AttributeTable table(*tree.store, *tree.clock, freshness, kAttributes);
  TableIdentities identities(table, *tree.clock, true);
  const auto schema = *tree.store->DescribeTable(tree.table);
  const std::string first = TableIdentities::NewRow();
  const std::string second = TableIdentities::NewRow();
  EXPECT_FALSE(*identities.Establish(*schema, first)) << "it did not know the table of before";
  EXPECT_TRUE(*identities.Establish(*schema, first));
  EXPECT_FALSE(*identities.Establish(*schema, second));
  EXPECT_EQ(identities.RowOf(*schema), first);
}

TEST_F(TableIdentitiesTest, ThePastOfATableOfWhichNothingIsKeptIsShown) {
  MakeAnewElsewhere();
  const std::string table = ".asof/" + std::to_string(tree.clock->Now()) + "/default/t";
  EXPECT_EQ(ModeOf(table), 0755u);
  EXPECT_EQ(ModeOf(table + "/r/f/q"), 0644u);
}

TEST_F(TableIdentitiesTest, ATableThatOthersTruncatedInheritsNobody) {
  remote().Restamp(tree.table, {.regions = true, .state = true});
  Wait();
  EXPECT_EQ(ModeOf(kTablePath), 0755u);
  EXPECT_EQ(ModeOf(kQ), 0644u);
}

TEST_F(TableIdentitiesTest, OneThatWasSplitOrDisabledIsTheSame) {
  for (const RemoteStore::Stamps& changed :
       std::vector<RemoteStore::Stamps>{{.regions = true}, {.state = true}, {.regions = true}}) {
    remote().Restamp(tree.table, changed);
    Wait();
    EXPECT_EQ(ModeOf(kTablePath), 0700u) << "and this look notes it";
    EXPECT_EQ(ModeOf(kQ), 0600u);
  }
  tree.Remount();
  EXPECT_EQ(ModeOf(kQ), 0600u);
}

TEST_F(TableIdentitiesTest, AMountThatIsReadOnlyNotesNothing) {
  MountOptions options;
  options.read_only = true;
  tree.Remount(options);
  const int before = remote().mutations();
  remote().Restamp(tree.table, {.state = true});
  Wait();
  EXPECT_EQ(ModeOf(kQ), 0600u);
  EXPECT_EQ(remote().mutations(), before);
}

TEST_F(TableIdentitiesTest, WhatThisMountMakesAnewIsTheSame) {
  ASSERT_EQ(SetMode(kQ, 0604), 0);
  CallersStore commands(*tree.filesystem, Credentials{});
  ASSERT_TRUE(commands.DisableAndTruncateTable(Caller::Superuser(), tree.table).ok());
  EXPECT_EQ(ModeOf(kTablePath), 0700u);
  tree.Put("r", "q", "y");
  EXPECT_EQ(ModeOf(kQ), 0600u) << "by inheritance";
  tree.Remount();
  EXPECT_EQ(ModeOf(kTablePath), 0700u);
}

// What it was doing may be done or not.
TEST_F(TableIdentitiesTest, OneThatADyingMountWasMakingAnewIsToldByItsStampsAgain) {
  const Freshness freshness(tree.store->traits(), *tree.clock);
  AttributeTable table(*tree.store, *tree.clock, freshness, kAttributes);
  TableIdentities dying(table, *tree.clock, true);
  const auto schema = *tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(dying.Establish(*schema, TableIdentities::NewRow()).ok());  // it reads what is there
  ASSERT_TRUE(dying.IsStillTheSame(*schema).ok());  // begins, and does not end
  remote().Restamp(tree.table, {.regions = true, .state = true});
  Wait();
  EXPECT_EQ(ModeOf(kQ), 0600u) << "it may be at it";
  tree.clock->Advance(300'001);
  EXPECT_EQ(ModeOf(kQ), 0600u);
  Wait();
  remote().Restamp(tree.table, {.regions = true, .state = true});
  Wait();
  EXPECT_EQ(ModeOf(kQ), 0644u) << "another one, that others have made";
}

TEST_F(TableIdentitiesTest, WhoWritesWhileItIsMadeAnewWritesToTheSame) {
  remote().BeforeNextMutation([&](Store&) {
    remote().BeforeNextMutation([&](Store&) {
      Wait();
      ChangeThrough(other, {"default", "t"}, {.gid = 7});
    });
  });
  CallersStore commands(*tree.filesystem, Credentials{});
  ASSERT_TRUE(commands.DisableAndTruncateTable(Caller::Superuser(), tree.table).ok());
  Wait();
  EXPECT_EQ(ModeOf(kTablePath), 0700u);
  EXPECT_EQ(tree.Stat(kTablePath).st_gid, 7u);
  remote().Restamp(tree.table, {.regions = true, .state = true});
  Wait();
  EXPECT_EQ(ModeOf(kTablePath), 0755u) << "and another client's is another one";
}

TEST_F(TableIdentitiesTest, TwoMountsGiveATableOneId) {
  MakeAnewElsewhere();
  remote().BeforeNextMutation([&](Store&) {
    ChangeThrough(other, {"default", "t", "r", "f", "p"}, {.mode = 0640});
  });
  ASSERT_EQ(SetMode(kQ, 0604), 0);
  EXPECT_EQ(Rows("=").size(), 1u);
  tree.Remount();
  EXPECT_EQ(ModeOf("default/t/r/f/p"), 0640u);
  EXPECT_EQ(ModeOf(kQ), 0604u);
}

TEST_F(TableIdentitiesTest, WhatIsKeptOfATableGoesWithIt) {
  for (const char* path : {kQ, "default/t/r/f/p"}) ASSERT_EQ(tree.Unlink(path), 0);
  for (const char* path : {"default/t/r/f", "default/t/r", kTablePath}) {
    ASSERT_EQ(tree.Rmdir(path), 0) << path;
  }
  for (const char* prefix : {"~", "=", "@"}) EXPECT_EQ(Rows(prefix).size(), 0u) << prefix;
}

TEST_F(TableIdentitiesTest, ATableThatIsKeptHereHasItsOwnersWhenItIsMade) {
  ASSERT_EQ(tree.Mkdir("default/kept"), 0);
  ASSERT_EQ(tree.Change("default/kept", AttributeChange{.mode = 0750, .uid = 5}), 0);
  EXPECT_EQ(ModeOf("default/kept"), 0750u);
  ASSERT_EQ(tree.Mkdir("default/kept/r"), 0);
  ASSERT_EQ(SetMode("default/kept/r", 0700), 0);
  ASSERT_EQ(tree.Mkdir("default/kept/r/f"), 0);
  ASSERT_EQ(tree.Save("default/kept/r/f/q", "x"), 0);
  tree.Remount();
  EXPECT_EQ(tree.Stat("default/kept").st_uid, 5u);
  EXPECT_EQ(ModeOf("default/kept"), 0750u);
  EXPECT_EQ(ModeOf("default/kept/r"), 0700u);
}

// ---- Two who change -----------------------------------------------------------------------------

TEST_F(TableIdentitiesTest, TwoWhoChangeOneFileAtOnceLoseNothing) {
  for (const bool is_known : {false, true}) {
    if (is_known) {
      EXPECT_EQ(ModeOf(kQ), 0640u);
    }
    remote().BeforeNextMutation([&](Store&) {
      ChangeThrough(other, {"default", "t", "r", "f", "q"}, {.uid = is_known ? 8U : 7U});
    });
    ASSERT_EQ(SetMode(kQ, is_known ? 0604 : 0640), 0);
    EXPECT_EQ(ModeOf(kQ), is_known ? 0604u : 0640u);
    EXPECT_EQ(tree.Stat(kQ).st_uid, is_known ? 8u : 7u);
  }
}

TEST_F(TableIdentitiesTest, TwoWhoChangeOneDirectoryAtOnceLoseNothing) {
  for (const auto& names : std::vector<std::vector<std::string>>{
           {"default"}, {"default", "t"}, {"default", "t", "r"}, {"default", "t", "r", "f"}}) {
    std::string path;
    for (const std::string& name : names) path += (path.empty() ? "" : "/") + name;
    remote().BeforeNextMutation(
        [&](Store&) { ChangeThrough(other, names, {.gid = 7}); });
    ASSERT_EQ(SetMode(path, 0711), 0);
    EXPECT_EQ(ModeOf(path), 0711u) << path;
    EXPECT_EQ(tree.Stat(path).st_gid, 7u) << path;
  }
}

// Its file keeps what it had by inheritance, and what another gives it meanwhile.
TEST_F(TableIdentitiesTest, AFamilyThatGetsAnotherOwnerTakesNothingFromItsFiles) {
  remote().BeforeNextMutation([&](Store&) {
    ChangeThrough(other, {"default", "t", "r", "f", "p"}, {.mode = 0640});
  });
  ASSERT_EQ(tree.Change("default/t/r/f", AttributeChange{.uid = 9}), 0);
  EXPECT_EQ(tree.Stat("default/t/r/f").st_uid, 9u);
  EXPECT_EQ(ModeOf("default/t/r/f/p"), 0640u);
  EXPECT_EQ(tree.Stat("default/t/r/f/p").st_uid, 0u);
}

TEST_F(TableIdentitiesTest, AChangeOfWhichNobodyKnowsIsLookedFor) {
  for (const auto effect : {RemoteStore::Effect::kNone, RemoteStore::Effect::kDone}) {
    for (const char* path : {kQ, kTablePath}) {
      remote().LoseOutcome(1, effect);
      const mode_t mode = effect == RemoteStore::Effect::kNone ? 0711 : 0744;
      ASSERT_EQ(SetMode(path, mode), 0);
      EXPECT_EQ(ModeOf(path), mode);
    }
  }
}

// ---- Read with the rows -------------------------------------------------------------------------

TEST_F(TableIdentitiesTest, AWalkAsksSeldomForOwners) {
  ASSERT_EQ(SetMode(kTablePath, 0755), 0);
  constexpr int kRows = 2000;
  const auto row = [](int number) { return "row" + std::to_string(100000 + number); };
  for (int i = 0; i < kRows; ++i) tree.Put(row(i), "q", "x");
  for (int i = 0; i < kRows; i += 3) {
    ASSERT_EQ(SetMode("default/t/" + row(i), 0711), 0);
  }
  ASSERT_EQ(tree.Save("default/t/row100000/f/new", "x"), 0);
  tree.Remount();  // which stores the time of that directory
  const NodePtr table = tree.LookUp(kTablePath)->node;
  const int before = remote().reads();
  for (int i = 0; i < kRows; ++i) {
    const auto entry = tree.filesystem->LookUp(tree.request, *table, row(i));
    ASSERT_TRUE(entry.ok());
    ASSERT_EQ(entry->attributes.st_mode & 07777, i % 3 == 0 ? 0711u : 0755u);
  }
  EXPECT_LE(remote().reads() - before, 60);
}

// Of which each column has a record, more than are kept of a row.
TEST_F(TableIdentitiesTest, ALongRowAsksSeldomForOwners) {
  constexpr int kColumns = 1500;
  const auto column = [](int number) { return "q" + std::to_string(10000 + number); };
  ASSERT_EQ(SetMode(kTablePath, 0755), 0);
  ASSERT_EQ(SetMode("default/t/r/f", 0711), 0);
  Put records{Rows("~").front(), {}};
  for (int i = 0; i < kColumns; ++i) {
    tree.Put("r", column(i), "x", kStart);
    records.cells.push_back({"a", "f:" + column(i), kStart, "- - 416 - 77", {}});
    if (i % 2 == 0) records.cells.push_back({"m", "f:" + column(i), kStart, "1000.5", {}});
    if (i % 4 == 0) records.cells.push_back({"m", "f:" + column(i), kStart + 5, "2000.5", {}});
  }
  ASSERT_TRUE(elsewhere().Mutate(Caller::Superuser(), kAttributes,
                                 RowMutations::Of(std::move(records))).ok());
  tree.Remount();
  const NodePtr family = tree.LookUp("default/t/r/f")->node;
  const int before = remote().reads();
  int odd = 0;
  for (int i = 0; i < kColumns; ++i) {
    const auto entry = tree.filesystem->LookUp(tree.request, *family, column(i));
    ASSERT_TRUE(entry.ok());
    ASSERT_EQ(entry->attributes.st_mode & 07777, 0640u);
    ASSERT_EQ(entry->attributes.st_mtim.tv_sec, i % 2 == 0 ? 1000 : kStart / 1000) << i;
    odd += i % 4 == 0 ? 1 : 0;  // the time of a version that is not the newest that has one
  }
  EXPECT_LE(remote().reads() - before, odd + 60);
}

TEST_F(TableIdentitiesTest, AWalkOfThePastAsksSeldomForOwners) {
  ASSERT_EQ(SetMode(kTablePath, 0755), 0);
  constexpr int kRows = 500;
  const auto row = [](int number) { return "row" + std::to_string(100000 + number); };
  for (int i = 0; i < kRows; ++i) tree.Put(row(i), "q", "x");
  for (int i = 0; i < kRows; i += 3)
    ASSERT_EQ(SetMode("default/t/" + row(i) + "/f/q", 0600), 0);
  const std::string past = "default/t/.asof/" + std::to_string(tree.clock->Now());
  tree.clock->Advance(10);
  ASSERT_EQ(SetMode("default/t/" + row(3) + "/f/q", 0644), 0);
  tree.Remount();
  const NodePtr table = tree.LookUp(past)->node;
  const int before = remote().reads();
  for (int i = 0; i < kRows; ++i) {
    const auto in_table = tree.filesystem->LookUp(tree.request, *table, row(i));
    ASSERT_TRUE(in_table.ok());
    const auto family = tree.filesystem->LookUp(tree.request, *in_table->node, "f");
    const auto q = tree.filesystem->LookUp(tree.request, *family->node, "q");
    ASSERT_EQ(q->attributes.st_mode & 07777, i % 3 == 0 ? 0600u : 0644u) << i;
  }
  EXPECT_LE(remote().reads() - before, 4 * kRows + kRows / 10) << "the cells, not their owners";
}

TEST_F(TableIdentitiesTest, WhatIsChangedInAWalkIsSeen) {
  ASSERT_EQ(SetMode(kTablePath, 0755), 0);
  for (int i = 0; i < 100; ++i) tree.Put("row" + std::to_string(100 + i), "q", "x");
  for (int i = 0; i < 99; ++i) {
    const std::string next = "default/t/row" + std::to_string(101 + i);
    EXPECT_EQ(ModeOf("default/t/row" + std::to_string(100 + i)), i == 0 ? 0755u : 0711u);
    ASSERT_EQ(SetMode(next, 0711), 0);
    EXPECT_EQ(ModeOf(next), 0711u);
  }
}

}  // namespace
}  // namespace cellfs::fs
