// SPDX-License-Identifier: MIT
//
// Directories whose last file goes, or whose family is dropped, beside others who look or write
// just then.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>

#include "fs/operations/callers_store.h"
#include "fs/requests/running_request.h"
#include "tests/fs/hooked_store.h"

namespace cellfs::fs {
namespace {

struct EmptyingTest : testing::Test {
  EmptyingTest() {
    tree.MakeTable();
    tree.Put("r", "q", "v");
  }
  bool Lists(const std::string& directory, const std::string& name) {
    const auto names = tree.List(directory);
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  HookedTree tree;
};

TEST_F(EmptyingTest, WhoHasAFileOfADroppedFamilyOpenGoesOnWithIt) {
  const OpenFile read = tree.Open(kQ, {});
  const OpenFile written = tree.Open(kQ, ForWriting());
  ASSERT_EQ(tree.Save("default/t/.schema.toml", "[families.f]\ndrop = true\n[families.g]\n"), 0);
  EXPECT_EQ(tree.Read(read), "v");
  EXPECT_EQ(tree.Write(written, "w"), 0);
  EXPECT_EQ(tree.Read(read), "w");
  EXPECT_EQ(tree.Close(written), 0) << "nothing of it is put";
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  tree.Close(read);
}

// Between the look at what is open and the drop.
struct DroppingTest : EmptyingTest {
  // Each takes kQ away.
  std::vector<std::function<void()>> Ways() {
    const Caller& caller = Caller::Superuser();
    return {
        [&] {
          TableSchema schema = **store().DescribeTable(tree.table);
          schema.families.erase("f");
          schema.families.emplace("g", FamilySchema("g"));
          EXPECT_TRUE(store().AlterTable(caller, schema).ok());
        },
        [&] {
          EXPECT_TRUE(store().AddFamily(caller, tree.table, FamilySchema("g")).ok());
          EXPECT_TRUE(store().DropFamily(caller, tree.table, "f").ok());
        },
        [&] { EXPECT_TRUE(store().DisableAndTruncateTable(caller, tree.table).ok()); },
        [&] { EXPECT_TRUE(store().DisableAndDropTable(caller, tree.table).ok()); },
        [this] { Remove({"r", {}}); },
        [this] { Remove({"r", {{CellType::kDeleteFamily, "f"}}}); }};
  }
  void Remove(cellfs::Delete what) {
    const auto removed = store().Mutate(Caller::Superuser(), tree.table,
                                        RowMutations::Of(std::move(what)));
    EXPECT_TRUE(removed.ok());
  }
  CallersStore& store() { return *store_; }
  void MakeAnew() {
    if (store().DescribeTable(tree.table).ok()) {
      ASSERT_TRUE(store().DisableAndDropTable(Caller::Superuser(), tree.table).ok());
    }
    tree.MakeTable();
    ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
    ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
    ASSERT_EQ(tree.Save(kQ, "v"), 0);
  }
  // What another request does meanwhile, which may have to wait.
  template <typename Act>
  auto Meanwhile(const std::function<void()>& way, Act act) {
    std::future<decltype(act())> done;
    tree.hooked->before_alteration = tree.hooked->before_mutation = [&] {
      tree.hooked->before_alteration = tree.hooked->before_mutation = nullptr;
      done = std::async(std::launch::async, act);
      done.wait_for(std::chrono::milliseconds(100));
    };
    way();
    return done.get();
  }

 private:
  std::unique_ptr<CallersStore> store_ = std::make_unique<CallersStore>(
      *tree.filesystem, Credentials{0, {}});
};

TEST_F(DroppingTest, DirectoriesStayWhoeverTookTheOtherNamesAway) {
  for (int i = 10; i < 50; ++i) tree.Put("r", "q" + std::to_string(i), "v");
  ASSERT_EQ(tree.Unlink(kQ), 0) << "which sees others";
  for (int i = 10; i < 49; ++i) {
    const std::string name = "q" + std::to_string(i);
    if (i < 30) {
      EXPECT_EQ(tree.Unlink("default/t/r/f/" + name), 0);
    } else {
      Remove({"r", {{CellType::kDeleteColumn, "f", name}}});
    }
    EXPECT_EQ(tree.List("default/t/r/f").size(), static_cast<size_t>(49 - i)) << name;
  }
  EXPECT_EQ(tree.Unlink("default/t/r/f/q49"), 0);
  EXPECT_EQ(tree.Error("default/t/r/f"), 0);
  EXPECT_TRUE(tree.List("default/t/r/f").empty());
}

TEST_F(DroppingTest, WhoOpensAFileMeanwhileHasWhatItHeldOrNothing) {
  const auto ways = Ways();
  for (size_t i = 0; i < ways.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& way = ways[i];
    MakeAnew();
    const NodePtr node = tree.LookUp(kQ)->node;
    const OpenFile file = Meanwhile(way, [&]() -> OpenFile {
      auto opened = tree.filesystem->Open(tree.request, *node, ForWriting());
      return opened.ok() ? OpenFile{0, node, opened->handle} : OpenFile{opened.error()};
    });
    if (file.error != 0) continue;
    const std::string held = tree.Read(file);
    EXPECT_TRUE(held == "v" || held == "<read failed>") << held;
    EXPECT_EQ(tree.Write(file, "w") == 0, held == "v");
    tree.Close(file);
  }
}

TEST_F(DroppingTest, WhatIsPutMeanwhileStaysForWhoHasItOpen) {
  for (const auto& way : Ways()) {
    MakeAnew();
    const OpenFile file = tree.Open(kQ, ForWriting());
    ASSERT_EQ(file.error, 0);
    EXPECT_EQ(Meanwhile(way, [&] { return tree.Write(file, "w") + tree.Flush(file); }), 0);
    EXPECT_EQ(tree.Read(file), "w");
    tree.Close(file);
  }
}

// The second put of one version remembers its time, beside what is said of the file meanwhile.
TEST_F(EmptyingTest, AModeThatIsSetBesideAPutStays) {
  const OpenFile log = tree.Open(kQ, ForAppending());
  std::future<int> changed;
  ASSERT_EQ(tree.Write(log, "1", 1), 0);
  ASSERT_EQ(tree.Flush(log), 0);
  tree.clock->Advance(1000);
  ASSERT_EQ(tree.Write(log, "2", 2), 0);
  tree.hooked->before_attributes = [&] {
    changed = std::async(std::launch::async,
                         [&] { return tree.Change(kQ, AttributeChange{.mode = 0600}); });
    changed.wait_for(std::chrono::milliseconds(200));
  };
  ASSERT_EQ(tree.Flush(log), 0);
  ASSERT_TRUE(changed.valid());
  EXPECT_EQ(changed.get(), 0);
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0600u);
  tree.Close(log);
}

TEST_F(EmptyingTest, OfTwoChangesOfADirectoryNoneIsLost) {
  for (const char* const path : {"default/t/r/f", "default/t/r", "default/t", "default"}) {
    std::future<int> changed;
    tree.hooked->before_attributes = [&] {
      changed = std::async(std::launch::async,
                           [&] { return tree.Change(path, AttributeChange{.gid = 77}); });
      changed.wait_for(std::chrono::milliseconds(100));
    };
    EXPECT_EQ(tree.Change(path, AttributeChange{.mode = 0700}), 0);
    ASSERT_TRUE(changed.valid());
    EXPECT_EQ(changed.get(), 0);
    EXPECT_EQ(tree.Stat(path).st_mode & 07777, 0700u) << path;
    EXPECT_EQ(tree.Stat(path).st_gid, 77u) << path;
  }
}

TEST_F(EmptyingTest, BeforeTheUnlinkEndsTheDirectoriesAreThere) {
  bool looked = false;
  tree.hooked->after_mutation = [&] {
    looked = true;
    EXPECT_TRUE(Lists("default/t", "r"));
    EXPECT_TRUE(Lists("default/t/r", "f"));
    EXPECT_EQ(tree.Error("default/t/r/f"), 0);
  };
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_TRUE(looked);
  EXPECT_TRUE(Lists("default/t/r", "f"));
  EXPECT_EQ(tree.Rmdir("default/t/r"), 0);
  EXPECT_FALSE(Lists("default/t", "r"));
}

TEST_F(EmptyingTest, AListingThatHadBegunHasThem) {
  for (const auto& [directory, name] :
       {std::pair("default/t", "r"), std::pair("default/t/r", "f")}) {
    ASSERT_EQ(tree.Save(kQ, "v"), 0);
    // The nodes are known, so that what follows is the listing's own read.
    const NodePtr node = tree.LookUp(directory)->node;
    const NodePtr family = tree.LookUp("default/t/r/f")->node;
    auto opened = tree.filesystem->OpenListing(tree.request, *node);
    tree.hooked->before_read = [&] {
      EXPECT_EQ(tree.filesystem->Unlink(tree.request, *family, "q").error(), 0);
    };
    std::string names;
    const auto listed = tree.filesystem->List(
        tree.request, *opened->directory, 0,
        [&](const DirectoryEntry& entry) { return names += entry.name + " ", true; });
    ASSERT_TRUE(listed.ok());
    EXPECT_EQ(tree.hooked->before_read, nullptr);
    EXPECT_NE(names.find(std::string(" ") + name + " "), names.npos) << names;
  }
}

TEST_F(EmptyingTest, ALookUpThatHadBegunFindsThem) {
  const NodePtr row = tree.LookUp("default/t/r")->node;
  const NodePtr family = tree.LookUp("default/t/r/f")->node;
  family->ContentChanged();  // so that the store is asked
  tree.clock->Advance(RemoteStore::kMaxStalenessMs);  // likewise, what came with the row is old
  tree.hooked->before_read = [&] {
    EXPECT_EQ(tree.filesystem->Unlink(tree.request, *family, "q").error(), 0);
  };
  EXPECT_TRUE(tree.filesystem->LookUp(tree.request, *row, "f").ok());
  EXPECT_EQ(tree.hooked->before_read, nullptr);
}

TEST_F(EmptyingTest, AFamilyThatMkdirDeclaredGoesWithTheLastDirectoryOfIt) {
  TableSchema schema(TableName{"default", "open"});
  ASSERT_TRUE(schema.Set("cellfs.open", "true").ok());
  schema.families["other"] = FamilySchema("other");
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  const auto is_declared = [&] {
    return (*tree.store->DescribeTable(schema.name()))->FindFamily("made") != nullptr;
  };
  for (const char* row : {"default/open/r", "default/open/s"}) {
    ASSERT_EQ(tree.Mkdir(row), 0);
    ASSERT_EQ(tree.Mkdir(std::string(row) + "/made"), 0);
  }
  EXPECT_EQ(tree.Rmdir("default/open/r/made"), 0);
  EXPECT_TRUE(is_declared());
  EXPECT_EQ(tree.Save("default/open/s/made/q", "v"), 0);
  EXPECT_EQ(tree.ReadFile("default/open/s/made/q"), "v");
  ASSERT_EQ(tree.Mkdir("default/open/s/second"), 0);
  EXPECT_EQ(tree.Rmdir("default/open/s/second"), 0);
  const bool stays = (*tree.store->DescribeTable(schema.name()))->FindFamily("second") != nullptr;
  EXPECT_EQ(stays, tree.store->traits().has_other_writers) << "who may just put something";
}

TEST_F(EmptyingTest, AFamilyOfATableThatWasMadeAnewStays) {
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "every family stays";
  TableSchema schema(TableName{"default", "open"});
  ASSERT_TRUE(schema.Set("cellfs.open", "true").ok());
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/open/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r/made"), 0);
  const RunningRequest running(0, nullptr);
  CallersStore store(*tree.filesystem, running.FindCredentials(), 022);
  ASSERT_TRUE(store.DisableTable(Caller::Superuser(), schema.name()).ok());
  ASSERT_TRUE(store.DropTable(Caller::Superuser(), schema.name()).ok());
  schema.families["made"] = FamilySchema("made");
  schema.families["other"] = FamilySchema("other");
  ASSERT_TRUE(store.CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/open/s"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/s/made"), 0);
  EXPECT_EQ(tree.Rmdir("default/open/s/made"), 0);
  EXPECT_NE((*tree.store->DescribeTable(schema.name()))->FindFamily("made"), nullptr);
}

// The put comes after the look whether the family is empty, and either fails or stays.
TEST_F(EmptyingTest, WhatIsPutToAFamilyThatIsRemovedIsNotLost) {
  TableSchema schema(TableName{"default", "open"});
  ASSERT_TRUE(schema.Set("cellfs.open", "true").ok());
  FamilySchema other("other");
  schema.families["other"] = other;
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/open/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r/made"), 0);
  const OpenFile file = tree.Create("default/open/r/made/q");
  ASSERT_EQ(file.error, 0);
  ASSERT_EQ(tree.Write(file, "v"), 0);
  // A claim keeps the directory, but not the family in another row.
  ASSERT_EQ(tree.Mkdir("default/open/s"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/s/made"), 0);
  std::future<int> closing;
  tree.hooked->before_alteration = [&] {
    closing = std::async(std::launch::async, [&] { return tree.Flush(file); });
    closing.wait_for(std::chrono::milliseconds(100));
  };
  static_cast<void>(tree.Rmdir("default/open/s/made"));
  const int closed = closing.valid() ? closing.get() : tree.Flush(file);
  tree.filesystem->Release(*file.node, file.handle);
  EXPECT_TRUE(closed != 0 || tree.ReadFile("default/open/r/made/q") == "v");
}

// Both change the schema and look at all columns, so one has to wait for the other.
TEST_F(EmptyingTest, AFamilyIsRemovedBesideAnAdministrator) {
  TableSchema schema(TableName{"default", "open"});
  ASSERT_TRUE(schema.Set("cellfs.open", "true").ok());
  schema.families["going"] = FamilySchema("going");
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/open/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r/made"), 0);
  ASSERT_EQ(tree.Mkdir("default/open/r/going"), 0);
  const OpenFile file = tree.Create("default/open/r/going/q");
  ASSERT_EQ(file.error, 0);
  std::future<int> removing;
  tree.hooked->before_alteration = [&] {
    tree.hooked->before_alteration = nullptr;
    removing = std::async(std::launch::async, [&] { return tree.Rmdir("default/open/r/made"); });
    removing.wait_for(std::chrono::milliseconds(200));
  };
  const RunningRequest running(0, nullptr);
  CallersStore store(*tree.filesystem, running.FindCredentials(), 022);
  const Status dropped =
      store.ChangeTable(Caller::Superuser(), schema.name(), [](TableSchema& changed) {
        changed.families.erase("going");
        return Status();
      });
  EXPECT_TRUE(dropped.ok()) << dropped.message();
  ASSERT_TRUE(removing.valid());
  EXPECT_EQ(removing.get(), 0);
  tree.filesystem->Release(*file.node, file.handle);
}

// A row that mkdir made and that has cells is "just made" for a while; that ends when many others
// have got theirs.
struct JustMadeTest : EmptyingTest {
  void Fill(const std::string& row) {
    ASSERT_EQ(tree.Mkdir("default/t/" + row), 0);
    ASSERT_EQ(tree.Mkdir("default/t/" + row + "/f"), 0);
    ASSERT_EQ(tree.Save("default/t/" + row + "/f/q", "x"), 0);
  }
  void FillManyOthers() {
    for (int number = 0; number < 1100; ++number) Fill("other" + std::to_string(number));
  }
};

TEST_F(JustMadeTest, ARowThatIsMadeAnewStays) {
  Fill("made");
  EXPECT_EQ(tree.Unlink("default/t/made/f/q"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/made/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/made"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/made"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/made/f"), 0);
  FillManyOthers();
  EXPECT_EQ(tree.Error("default/t/made/f"), 0);
  EXPECT_TRUE(Lists("default/t/made", "f"));
}

TEST_F(JustMadeTest, AnEmptiedRowStays) {
  Fill("emptied");
  EXPECT_EQ(tree.Unlink("default/t/emptied/f/q"), 0);
  FillManyOthers();
  EXPECT_EQ(tree.Error("default/t/emptied/f"), 0);
  EXPECT_TRUE(Lists("default/t/emptied", "f"));
}

TEST_F(JustMadeTest, AnEmptyFamilyBesideOneThatIsFilledStays) {
  ASSERT_TRUE(tree.store->AddFamily(Caller::Superuser(), tree.table, FamilySchema("g")).ok());
  EXPECT_EQ(tree.Mkdir("default/t/made"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/made/f"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/made/g"), 0);
  EXPECT_EQ(tree.Save("default/t/made/f/q", "x"), 0);
  FillManyOthers();
  EXPECT_TRUE(Lists("default/t/made", "g"));
  EXPECT_TRUE(Lists("default/t/made", "f"));
  EXPECT_EQ(tree.Unlink("default/t/made/f/q"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/made/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/made/g"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/made"), 0);
}

}  // namespace
}  // namespace cellfs::fs
