// SPDX-License-Identifier: MIT
//
// The store of a mount as one caller may use it, against what POSIX says of the files that he would
// use instead.
#include "fs/operations/callers_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>

#include "engine/filters.h"
#include "fs/requests/running_request.h"
#include "fs/requests/scan_slots.h"
#include "tests/fs/mount_options.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"
#include "tests/support/assert_ok.h"

namespace cellfs::fs {
namespace {

class CallersStoreTest : public testing::Test {
 protected:
  CallersStoreTest() : tree_(ForAll()) {
    tree_.MakeTable();
    // Something is stored, so that rows may differ.
    for (const char* row : {"a", "b"}) {
      for (const char* qualifier : {"p", "q"}) tree_.Put(row, qualifier, std::string(row) + "/");
    }
  }

  CallersStore As(uid_t uid, std::vector<gid_t> groups = {kGroup}) {
    return {*tree_.filesystem, Credentials{uid, std::move(groups)}};
  }
  void Set(const Place& place, mode_t mode, uid_t uid = kOwner, gid_t gid = 0) {
    AttributeUpdate update;
    update.uid = uid;
    update.gid = gid;
    update.mode = mode;
    EXPECT_TRUE(tree_.filesystem->parts().attributes.Update(place, update).ok());
  }
  OwnerAndMode OwnerOf(const Place& place) {
    return *tree_.filesystem->parts().attributes.FindOwner(place);
  }
  Place Column(const std::string& row, const std::string& qualifier) const {
    return CellPlace(tree_.table, row, "f", qualifier);
  }
  // "a/q" of each cell that a scan returns.
  std::set<std::string> Scanned(CallersStore& store, Scan scan = {}) {
    std::set<std::string> names;
    auto scanner = store.OpenScanner(Caller::Superuser(), tree_.table, scan);
    if (!scanner.ok()) return {std::string(CodeName(scanner.status().code()))};
    while (!(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({});
      EXPECT_TRUE(rows.ok());
      for (const RowCells& row : *rows) {
        for (const Cell& cell : row) names.insert(cell.row + "/" + cell.qualifier);
      }
    }
    return names;
  }
  StatusCode Get(CallersStore& store, const std::string& row, const std::string& qualifier) {
    cellfs::Get get;
    get.row = row;
    get.columns["f"].insert(qualifier);
    return store.Read(Caller::Superuser(), tree_.table, get).status().code();
  }
  StatusCode Put(CallersStore& store, const std::string& row, const std::string& qualifier) {
    return Write(store, row, qualifier, "new");
  }
  StatusCode Write(CallersStore& store, const std::string& row, const std::string& qualifier,
                   const std::string& value) {
    cellfs::Put put{row, {{"f", qualifier, kLatestTimestamp, value, {}}}};
    return store.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(put)).status().code();
  }
  StatusCode Delete(CallersStore& store, const std::string& row, const std::string& qualifier) {
    cellfs::Delete remove{row, {{CellType::kDeleteColumn, "f", qualifier, kLatestTimestamp}}};
    return store.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(remove))
        .status()
        .code();
  }

  struct Opened {
    NodePtr node;
    FileHandle* handle = nullptr;  // null: it could not be opened
  };
  Opened OpenToWrite(const std::string& path) {
    const auto entry = tree_.LookUp(path);
    if (!entry.ok()) return {};
    OpenMode mode;
    mode.write = true;
    auto opened = tree_.filesystem->Open(tree_.request, *entry->node, mode);
    if (!opened.ok()) return {};
    return {entry->node, opened->handle};
  }
  std::string Read(const Opened& opened) {
    const auto bytes =
        tree_.filesystem->Read(tree_.request, *opened.node, opened.handle, 0, 100);
    return bytes.ok() ? std::string(bytes->bytes) : "<failed>";
  }

  WritingTree tree_;
};

TEST_F(CallersStoreTest, WhatIsNewIsItsMakers) {
  for (const Place& place : {TablePlace(tree_.table), RowPlace(tree_.table, "a"),
                             FamilyPlace(tree_.table, "a", "f")}) {
    Set(place, 0777);
  }
  CallersStore other = As(kStranger);
  ASSERT_EQ(Put(other, "a", "his"), StatusCode::kOk);
  ASSERT_EQ(Put(other, "row", "q"), StatusCode::kOk);
  EXPECT_EQ(OwnerOf(Column("a", "his")).uid, kStranger);
  EXPECT_EQ(OwnerOf(Column("a", "his")).gid, kGroup);
  EXPECT_EQ(OwnerOf(RowPlace(tree_.table, "row")).uid, kStranger);
  EXPECT_EQ(OwnerOf(FamilyPlace(tree_.table, "row", "f")).uid, kStranger);
  EXPECT_EQ(OwnerOf(Column("row", "q")).uid, kStranger);
  EXPECT_EQ(OwnerOf(FamilyPlace(tree_.table, "a", "f")).uid, kOwner);
  EXPECT_EQ(OwnerOf(Column("a", "q")).uid, kOwner);
}

TEST_F(CallersStoreTest, AFileThatIsMadeAndNotPutIsDeletedToo) {
  for (const bool by_family : {false, true}) {
    const auto family = tree_.LookUp("default/t/a/f");
    const OpenMode mode{.read = true, .write = true};
    auto made = tree_.filesystem->Create(tree_.request, *family->node, "made", 0666, mode, false);
    ASSERT_TRUE(made.ok());
    const Opened opened{made->entry.node, made->handle};
    CallersStore root = As(0);
    if (by_family) {
      cellfs::Delete remove{"a", {{CellType::kDeleteFamily, "f", "", kLatestTimestamp}}};
      const RowMutations step = RowMutations::Of(remove);
      ASSERT_TRUE(root.Mutate(Caller::Superuser(), tree_.table, step).ok());
    } else {
      ASSERT_EQ(Delete(root, "a", "made"), StatusCode::kOk);
    }
    ASSERT_EQ(tree_.Save("default/t/a/f/made", "secret"), 0);
    EXPECT_EQ(Read(opened), "") << by_family;
    ASSERT_TRUE(tree_.filesystem->Write(*opened.node, *opened.handle, "evil", 0).ok());
    EXPECT_TRUE(tree_.filesystem->Flush(*opened.node, *opened.handle).ok());
    EXPECT_EQ(tree_.ReadFile("default/t/a/f/made"), "secret") << by_family;
    tree_.filesystem->Release(*opened.node, opened.handle);
    ASSERT_EQ(tree_.Unlink("default/t/a/f/made"), 0);
  }
}

TEST_F(CallersStoreTest, WhoHasACounterOpenAddsNothingToWhatTakesItsName) {
  const std::string counter = "default/t/a/f/.counters/n";
  const std::string file = "default/t/a/f/n";
  const auto family = tree_.LookUp("default/t/a/f");  // as who has a file in it open
  const auto replace_by = [&](const char* way, const std::function<void()>& take_name) {
    ASSERT_EQ(tree_.Save(counter, "+5\n"), 0);
    const Opened opened = OpenToWrite(counter);
    ASSERT_TRUE(opened.handle);
    tree_.clock->Advance(1000);
    take_name();
    (void)tree_.filesystem->Write(*opened.node, *opened.handle, "+1\n", 0);
    (void)tree_.filesystem->Flush(*opened.node, *opened.handle);
    EXPECT_EQ(tree_.ReadFile(file), "12345678") << way;
    tree_.filesystem->Release(*opened.node, opened.handle);
    ASSERT_EQ(tree_.Unlink(file), 0);
  };
  replace_by("a rename", [&] {
    ASSERT_EQ(tree_.Save("default/t/a/f/other", "12345678"), 0);
    ASSERT_EQ(tree_.Rename("default/t/a/f/other", file), 0);
  });
  replace_by("a delete", [&] {
    CallersStore root = As(0);
    const RowMutations step = RowMutations::Of(
        cellfs::Delete{"a", {{CellType::kDeleteFamily, "f", "", kLatestTimestamp}}});
    ASSERT_TRUE(root.Mutate(Caller::Superuser(), tree_.table, step).ok());
    ASSERT_EQ(tree_.Save(file, "12345678"), 0);
  });
}

// As after unlink: the directory and its mode stay, until it is deleted as a whole.
TEST_F(CallersStoreTest, ARowThatIsEmptiedStaysAsADirectory) {
  Set(RowPlace(tree_.table, "a"), 0750);
  CallersStore root = As(0);
  const auto is_there = [&](const std::string& path) { return tree_.LookUp(path).ok(); };
  ASSERT_EQ(Delete(root, "a", "p"), StatusCode::kOk);
  ASSERT_EQ(Delete(root, "a", "q"), StatusCode::kOk);
  EXPECT_TRUE(is_there("default/t/a/f"));
  EXPECT_EQ(OwnerOf(RowPlace(tree_.table, "a")).mode & 0777, 0750U);
  ASSERT_EQ(Put(root, "a", "q"), StatusCode::kOk);
  EXPECT_EQ(OwnerOf(RowPlace(tree_.table, "a")).mode & 0777, 0750U);

  const auto remove = [&](const std::string& row, std::vector<DeleteMarker> markers) {
    const cellfs::Delete all{row, std::move(markers)};
    return root.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(all)).status().code();
  };
  const std::vector<DeleteMarker> family = {
      {CellType::kDeleteFamily, "f", "", kLatestTimestamp}};
  ASSERT_EQ(remove("a", family), StatusCode::kOk);
  EXPECT_TRUE(is_there("default/t/a"));
  ASSERT_EQ(remove("a", {}), StatusCode::kOk);
  EXPECT_FALSE(is_there("default/t/a"));
  ASSERT_EQ(remove("b", {}), StatusCode::kOk);
  EXPECT_FALSE(is_there("default/t/b"));
  ASSERT_EQ(remove("nowhere", family), StatusCode::kOk);
  EXPECT_FALSE(is_there("default/t/nowhere"));
}

// However slow its reader is: between two batches a scan holds no turn of the mount's long work.
TEST_F(CallersStoreTest, AScanHoldsNoTurnWhileItsReaderReads) {
  tree_.filesystem->scan_slots().SetLimit(1);
  CallersStore root = As(0);
  const RunningRequest request(0, nullptr);
  const auto slow = root.OpenScanner(Caller::Superuser(), tree_.table, {});
  ASSERT_TRUE((*slow)->Next({.max_rows = 1}).ok());
  EXPECT_FALSE((*slow)->at_end());
  EXPECT_EQ(Scanned(root).size(), 4u);
}

// Who holds the only turn lets nobody else scan; who has given up does not wait for it.
TEST_F(CallersStoreTest, AScanTakesTurnsWithOtherLongWork) {
  ScanSlots& slots = tree_.filesystem->scan_slots();
  slots.SetLimit(1);
  ScanSlots::Ticket other(kStranger);
  slots.Enter(other);
  ASSERT_TRUE(slots.Take(other).ok());
  CallersStore root = As(0);
  struct GivesUp : Interruption {
    void Hear(const std::function<void()>* heard) override { (*heard)(); }
    void StopHearing() override {}
    bool HasHappened() const noexcept override { return true; }
  } gives_up;
  const RunningRequest request(0, &gives_up);
  const auto scanner = root.OpenScanner(Caller::Superuser(), tree_.table, {});
  ASSERT_TRUE(scanner.ok());
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kCancelled);
  slots.Leave(other);
}

TEST_F(CallersStoreTest, MomentsOfCommandsAreSharedByUsers) {
  if (!tree_.store->traits().pins_moments) GTEST_SKIP() << "about a store that pins moments";
  CallersStore one = As(kOwner);
  std::vector<std::shared_ptr<const Moment>> held;
  for (auto moment = one.PinMoment(""); moment.ok(); moment = one.PinMoment(""))
    held.push_back(*std::move(moment));
  EXPECT_EQ(held.size(), AsofRegistry::kMostHeld / 2);
  EXPECT_EQ(one.PinMoment("").status().code(), StatusCode::kUnavailable);
  CallersStore other = As(kStranger);
  EXPECT_TRUE(other.PinMoment("").ok());
  EXPECT_TRUE(tree_.filesystem->asof().Find(1).ok()) << "others' times are not in the way";
  held.resize(held.size() - 3);
  EXPECT_TRUE(one.PinMoment("").ok());
}

TEST_F(CallersStoreTest, AFilterAndAConditionTellNothingOfAClosedColumn) {
  Set(Column("a", "q"), 0600);
  CallersStore other = As(kStranger);
  Scan scan;
  scan.filter = *MakeValueFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "a/"});
  EXPECT_EQ(Scanned(other, scan), std::set<std::string>{"a/p"});
  cellfs::Put put{"b", {{"f", "p", kLatestTimestamp, "x", {}}}};
  CheckAndMutate check{"a", ColumnCondition{"f", "q", CompareOperator::kEqual, "a/"}, {}, {}};
  check.action = RowMutations::Of(put);
  check.action.row = "a";
  EXPECT_EQ(other.CheckAndMutate(Caller::Superuser(), tree_.table, check).status().code(),
            StatusCode::kAccessDenied);
}

TEST_F(CallersStoreTest, ATombstoneOfAFamilyIsSeenByWhoMayLookIntoIt) {
  Set(Column("a", "q"), 0600);
  cellfs::Delete remove{"a", {{CellType::kDeleteFamily, "f", "", kLatestTimestamp}}};
  CallersStore root = As(0);
  ASSERT_TRUE(root.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(remove)).ok());
  Scan scan;
  scan.raw = true;
  CallersStore other = As(kStranger);
  EXPECT_EQ(Scanned(other, scan), (std::set<std::string>{"a/", "a/p", "b/p", "b/q"}));
}

// Another's file had the name before. That it was there, when and how long is told as the directory
// of versions tells it; its bytes are not.
TEST_F(CallersStoreTest, AScanOfAllThatIsStoredShowsAClosedVersionsLengthAlone) {
  Set(FamilyPlace(tree_.table, "a", "f"), 0777);
  tree_.Put("a", "name", "secret");
  Set(Column("a", "name"), 0600);
  CallersStore root = As(0);
  CallersStore other = As(kStranger);
  tree_.clock->Advance(10);
  ASSERT_EQ(Delete(root, "a", "name"), StatusCode::kOk);
  tree_.clock->Advance(10);
  ASSERT_EQ(Put(other, "a", "name"), StatusCode::kOk);
  const auto puts = [&](Scan scan) {
    scan.raw = true;
    scan.max_versions = kAllVersions;
    scan.start_row = scan.stop_row = "a";
    scan.include_stop_row = true;
    std::string told;
    auto scanner = other.OpenScanner(Caller::Superuser(), tree_.table, scan);
    const auto rows = (*scanner)->Next({});
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    for (const RowCells& row : *rows) {
      for (const Cell& cell : row) {
        if (cell.qualifier != "name" || cell.type != CellType::kPut) continue;
        told += cell.value + "#" + std::to_string(cell.value_length) + " ";
      }
    }
    return told;
  };
  EXPECT_EQ(puts({}), "new#3 ");
  Scan lengths;
  lengths.lengths_only = true;
  EXPECT_EQ(puts(lengths), "#3 #6 ");
  lengths.filter = *ParseFilter("QualifierFilter(=, 'binary:name')");
  EXPECT_EQ(puts(lengths), "#3 #6 ");
  lengths.filter = *ParseFilter("ValueFilter(=, 'regexstring:.')");
  EXPECT_EQ(puts(lengths), "#3 ");
  EXPECT_TRUE(other.has_passed_over());
}

// Whatever the delete is with which he took the name: of the version alone, or up to its timestamp.
TEST_F(CallersStoreTest, NoKindOfDeleteOpensWhatWasAnothers) {
  Set(FamilyPlace(tree_.table, "a", "f"), 0777);
  CallersStore root = As(0);
  CallersStore other = As(kStranger);
  for (const CellType type : {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                              CellType::kDeleteFamilyVersion}) {
    const std::string name = "of" + std::string(TypeName(type));
    tree_.Put("a", name, "secret");
    Set(Column("a", name), 0600);
    const Timestamp version = tree_.clock->Now();
    tree_.clock->Advance(10);
    tree_.Put("a", "keeps the directory", "");
    const DeleteMarker marker{.type = type,
                              .family = "f",
                              .qualifier = IsFamilyTombstone(type) ? "" : name,
                              .timestamp = version};
    const cellfs::Delete remove{.row = "a", .markers = {marker}};
    ASSERT_OK(root.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(remove)));
    tree_.clock->Advance(10);
    ASSERT_EQ(Put(other, "a", name), StatusCode::kOk);
    Scan scan;
    scan.raw = true;
    scan.max_versions = kAllVersions;
    auto scanner = other.OpenScanner(Caller::Superuser(), tree_.table, scan);
    const auto rows = (*scanner)->Next({});
    ASSERT_OK(rows);
    for (const RowCells& row : *rows)
      for (const Cell& cell : row) EXPECT_NE(cell.value, "secret") << TypeName(type);
    tree_.clock->Advance(10);
  }
}

TEST_F(CallersStoreTest, WhoAsksWhetherSomethingIsPassedOverIsToldHimself) {
  Set(Column("a", "q"), 0600);
  CallersStore other = As(kStranger);
  std::atomic<bool> passed_over = false;
  Scan scan;
  scan.passed_over = &passed_over;
  scan.start_row = "b";
  EXPECT_EQ(Scanned(other, scan).size(), 2u);
  EXPECT_FALSE(passed_over);
  scan.start_row = "a";
  EXPECT_EQ(Scanned(other, scan).size(), 3u);
  EXPECT_TRUE(passed_over);
  EXPECT_FALSE(other.has_passed_over());
}

TEST_F(CallersStoreTest, WhoHasItOpenGoesOnWithWhatItHeld) {
  const std::string path = "default/t/a/f/q";
  CallersStore root = As(0);
  const auto entry = tree_.LookUp(path);
  OpenMode mode;
  mode.write = true;
  const auto opened = tree_.filesystem->Open(tree_.request, *entry->node, mode);
  ASSERT_TRUE(opened.ok());
  const auto read = [&] {
    const auto bytes =
        tree_.filesystem->Read(tree_.request, *entry->node, opened->handle, 0, 100);
    return bytes.ok() ? std::string(bytes->bytes) : "<failed>";
  };
  ASSERT_EQ(Delete(root, "a", "q"), StatusCode::kOk);
  tree_.clock->Advance(10);
  ASSERT_EQ(Put(root, "a", "q"), StatusCode::kOk);
  EXPECT_EQ(read(), "a/");
  ASSERT_TRUE(tree_.filesystem->Write(*entry->node, *opened->handle, "evil", 0).ok());
  EXPECT_TRUE(tree_.filesystem->Sync(*entry->node, *opened->handle).ok());
  EXPECT_EQ(tree_.ReadFile(path), "new");
  tree_.filesystem->Release(*entry->node, opened->handle);
  EXPECT_EQ(tree_.ReadFile(path), "new");
}

TEST_F(CallersStoreTest, SoItDoesWhenATableIsEmptiedOrARowDeleted) {
  const std::string path = "default/t/a/f/q";
  CallersStore root = As(0);
  const std::vector<std::function<void()>> ways = {
      [&] {
        EXPECT_TRUE(root.DisableAndTruncateTable(Caller::Superuser(), tree_.table).ok());
      },
      [&] {
        cellfs::Delete row{"a", {}};
        EXPECT_TRUE(
            root.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(std::move(row))).ok());
      },
      [&] {
        EXPECT_TRUE(root.DisableAndDropTable(Caller::Superuser(), tree_.table).ok());
        tree_.MakeTable();
      }};
  for (size_t way = 0; way < ways.size(); ++way) {
    tree_.clock->Advance(10);
    ASSERT_EQ(Write(root, "a", "q", "old"), StatusCode::kOk);
    const auto opened = OpenToWrite(path);
    ASSERT_TRUE(opened.handle);
    ASSERT_TRUE(tree_.filesystem->Write(*opened.node, *opened.handle, "O", 0).ok());
    ways[way]();
    tree_.clock->Advance(10);
    ASSERT_EQ(Put(root, "a", "q"), StatusCode::kOk);
    EXPECT_EQ(tree_.filesystem->GetAttributes(tree_.request, *opened.node)->attributes.st_size, 3);
    EXPECT_EQ(Read(opened), "Old") << way;
    ASSERT_TRUE(tree_.filesystem->Write(*opened.node, *opened.handle, "evil", 0).ok());
    EXPECT_EQ(Read(opened), "evil") << way;
    EXPECT_TRUE(tree_.filesystem->Sync(*opened.node, *opened.handle).ok());
    tree_.filesystem->Release(*opened.node, opened.handle);
    EXPECT_EQ(tree_.ReadFile(path), "new");
  }
}

// Of a table that was disabled before nothing can be read: no call may say that the file is empty,
// or that it is stored.
TEST_F(CallersStoreTest, WhatCannotBeReadBeforeItsTableGoesIsAnErrorAfterwards) {
  const std::string path = "default/t/a/f/q";
  CallersStore root = As(0);
  const auto opened = OpenToWrite(path);
  ASSERT_TRUE(opened.handle);
  ASSERT_TRUE(tree_.filesystem->Write(*opened.node, *opened.handle, "lost", 0).ok());
  ASSERT_TRUE(root.DisableTable(Caller::Superuser(), tree_.table).ok());
  ASSERT_TRUE(root.TruncateTable(Caller::Superuser(), tree_.table).ok());
  EXPECT_EQ(tree_.filesystem->GetAttributes(tree_.request, *opened.node).error(), EROFS);
  EXPECT_EQ(Read(opened), "<failed>");
  EXPECT_EQ(tree_.filesystem->Write(*opened.node, *opened.handle, "more", 0).error(), EROFS);
  EXPECT_EQ(tree_.filesystem->Sync(*opened.node, *opened.handle).error(), EROFS);
  EXPECT_EQ(tree_.filesystem->Flush(*opened.node, *opened.handle).error(), EROFS);
  tree_.filesystem->Release(*opened.node, opened.handle);
  EXPECT_EQ(tree_.Error(path), ENOENT);
}

// The table stays, and so does what is open of it.
TEST_F(CallersStoreTest, ATableThatCannotBeDroppedIsEnabledAgain) {
  Set(TablePlace(tree_.table), 0777, kStranger);
  Set(NamespacePlace("default"), 0755);
  CallersStore owner = As(kStranger);
  EXPECT_EQ(owner.DisableAndDropTable(Caller::Superuser(), tree_.table).code(),
            StatusCode::kAccessDenied);
  EXPECT_TRUE(*tree_.store->IsTableEnabled(tree_.table));
  EXPECT_EQ(tree_.ReadFile("default/t/a/f/q"), "a/");
}

TEST_F(CallersStoreTest, WhatComesBackIsWhoseItWas) {
  Set(Column("a", "q"), 0600, kStranger);
  CallersStore root = As(0);
  ASSERT_EQ(Delete(root, "a", "q"), StatusCode::kOk);
  cellfs::Put put{"a", {{"f", "q", kLatestTimestamp, "back", {}}}};
  put.stamping = Stamping::kAboveColumn;
  if (!tree_.store->traits().stamps_above_column) return;
  ASSERT_TRUE(root.Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(put)).ok());
  EXPECT_EQ(OwnerOf(Column("a", "q")).uid, kStranger);
  EXPECT_EQ(OwnerOf(Column("a", "q")).mode, 0600U);
}

// What has a timestamp that is still to come would hide what others write until then, also in a row
// that is not there yet.
TEST_F(CallersStoreTest, ATimestampThatIsStillToComeIsNotForEverybody) {
  Set(TablePlace(tree_.table), 01777);
  for (const char* row : {"a", "mine"}) {
    Set(RowPlace(tree_.table, row), 0777);
    Set(FamilyPlace(tree_.table, row, "f"), 0777);
    Set(Column(row, "p"), 0666);
  }
  for (const Timestamp later : {kStart + 1, kLatestTimestamp - 1}) {
    for (const char* row : {"a", "mine"}) {
      const cellfs::Put put{row, {{"f", "p", later, "new", {}}}};
      const Increment increment{row, {{"f", "n", 1, later}}, {}};
      const Append append{row, {{"f", "x", "new", later}}, {}};
      const std::vector<Mutation> kinds = {
          put, increment, append, cellfs::Delete{row, {}, later},
          cellfs::Delete{row, {{CellType::kDelete, "f", "p", later}}},
          cellfs::Delete{row, {{CellType::kDeleteColumn, "f", "p", later}}},
          cellfs::Delete{row, {{CellType::kDeleteFamily, "f", "", later}}},
          cellfs::Delete{row, {{CellType::kDeleteFamilyVersion, "f", "", later}}}};
      CallersStore other = As(kStranger);
      for (const Mutation& mutation : kinds) {
        const RowMutations mutations = RowMutations::Of(mutation);
        const Caller& caller = Caller::Superuser();
        const Status refused = other.Mutate(caller, tree_.table, mutations).status();
        EXPECT_EQ(refused.code(), StatusCode::kAccessDenied) << mutation.index();
        EXPECT_NE(refused.message().find(std::to_string(later)), std::string::npos);
        EXPECT_EQ(other.CheckMayMutate(caller, tree_.table, mutations).code(),
                  StatusCode::kAccessDenied);
        EXPECT_EQ(other.Batch(caller, tree_.table, {mutations}).front().status().code(),
                  StatusCode::kAccessDenied);
        const ColumnCondition any{"f", "p"};
        const cellfs::CheckAndMutate check{row, any, {}, mutations};
        EXPECT_EQ(other.CheckAndMutate(caller, tree_.table, check).status().code(),
                  StatusCode::kAccessDenied);
      }
    }
  }
  EXPECT_EQ(tree_.ReadFile("default/t/a/f/p"), "a/");
  const cellfs::Put now{"a", {{"f", "p", kStart, "now", {}}}};
  const cellfs::Put later{"a", {{"f", "p", kStart + 9, "later", {}}}};
  CallersStore other = As(kStranger);
  CallersStore root = As(0);
  const Caller& caller = Caller::Superuser();
  EXPECT_TRUE(other.Mutate(caller, tree_.table, RowMutations::Of(now)).ok());
  EXPECT_TRUE(root.Mutate(caller, tree_.table, RowMutations::Of(later)).ok());
}

TEST_F(CallersStoreTest, NorIsAPathThatNamesSuchAVersion) {
  for (const Place& place :
       {RowPlace(tree_.table, "a"), FamilyPlace(tree_.table, "a", "f"), Column("a", "q")}) {
    Set(place, 0777);
  }
  const std::string later = "q@" + std::to_string(kStart + 9);
  const Request other{.uid = kStranger, .gid = kGroup};
  const auto directory = tree_.LookUp("default/t/a/f");
  ASSERT_TRUE(directory.ok());
  Node& family = *directory->node;
  FileSystem& filesystem = *tree_.filesystem;
  const OpenMode write{.write = true};
  EXPECT_EQ(filesystem.Create(other, family, later, 0666, write, true).error(), EPERM);
  EXPECT_EQ(filesystem.Rename(other, family, "p", family, later, 0).error(), EPERM);
  tree_.Put("a", "q", "to come", kStart + 9);
  const auto version = tree_.LookUp("default/t/a/f/" + later);
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(filesystem.Open(other, *version->node, write).error(), EPERM);
  EXPECT_EQ(filesystem.Unlink(other, family, later).error(), EPERM);
  EXPECT_EQ(filesystem.Rename(other, family, later, family, "new", 0).error(), EPERM);
  EXPECT_EQ(filesystem.Unlink({}, family, later).error(), 0);
}

TEST_F(CallersStoreTest, TheFileSystemsOwnTablesAreNotThere) {
  Set(Column("a", "q"), 0600);  // makes it
  const TableName own{"cellfs", "attributes"};
  CallersStore root = As(0);
  EXPECT_TRUE(tree_.store->DescribeTable(own).ok());
  EXPECT_EQ(root.DescribeTable(own).status().code(), StatusCode::kTableNotFound);
  EXPECT_EQ(root.OpenScanner(Caller::Superuser(), own, {}).status().code(),
            StatusCode::kTableNotFound);
  EXPECT_EQ(root.DropTable(Caller::Superuser(), own).code(), StatusCode::kTableNotFound);
  const auto namespaces = root.ListNamespaces();
  EXPECT_EQ(std::count(namespaces->begin(), namespaces->end(), "cellfs"), 0);
}

TEST_F(CallersStoreTest, AReadOnlyMountIsReadOnly) {
  MountOptions options;
  options.read_only = true;
  Tree tree(options);
  tree.MakeTable();
  CallersStore store(*tree.filesystem, {0, {}});
  cellfs::Put put{"a", {{"f", "q", kLatestTimestamp, "x", {}}}};
  EXPECT_EQ(store.Mutate(Caller::Superuser(), tree.table, RowMutations::Of(put)).status().code(),
            StatusCode::kReadOnly);
  EXPECT_EQ(store.DisableTable(Caller::Superuser(), tree.table).code(), StatusCode::kReadOnly);
}

TEST_F(CallersStoreTest, ATableIsChangedByItsOwnerAlone) {
  Set(TablePlace(tree_.table), 0777, kStranger);
  Set(NamespacePlace("default"), 0755);
  CallersStore owner = As(kStranger);
  CallersStore stranger = As(1002);
  FamilySchema family("g");
  EXPECT_EQ(stranger.AddFamily(Caller::Superuser(), tree_.table, family).code(),
            StatusCode::kAccessDenied);
  EXPECT_TRUE(owner.AddFamily(Caller::Superuser(), tree_.table, family).ok());
  EXPECT_TRUE(owner.DisableTable(Caller::Superuser(), tree_.table).ok());
  EXPECT_EQ(owner.DropTable(Caller::Superuser(), tree_.table).code(), StatusCode::kAccessDenied)
      << "the namespace is not his";
  EXPECT_EQ(owner.CreateTable(Caller::Superuser(), TableSchema({"default", "new"})).code(),
            StatusCode::kAccessDenied);
  Set(NamespacePlace("default"), 0777);
  TableSchema made({"default", "new"});
  made.families.emplace("f", FamilySchema("f"));
  EXPECT_TRUE(owner.CreateTable(Caller::Superuser(), made).ok());
  EXPECT_EQ(OwnerOf(TablePlace({"default", "new"})).uid, kStranger);
}

// ---- Any modes, against POSIX -------------------------------------------------------------------

// What lies on the way to a/q.
struct Way {
  OwnerAndMode root, name_space, table, row, family, file;
};

bool May(const OwnerAndMode& what, uid_t uid, mode_t permissions) {
  const int shift = what.uid == uid ? 6 : what.gid == kGroup ? 3 : 0;
  return (what.mode >> shift & permissions) == permissions;
}

class AnyModesTest : public CallersStoreTest {
 protected:
  void SetAll(std::mt19937& random) {
    const auto any = [&](const Place& place) {
      static constexpr mode_t kModes[] = {0777, 0755, 0711, 0700, 0750, 0770, 0444, 0, 01777, 0733};
      OwnerAndMode chosen{random() % 2 == 0 ? kOwner : kStranger, random() % 2 == 0 ? kGroup : 0,
                          random() % 3 != 0 ? 0777 : kModes[random() % std::size(kModes)]};
      Set(place, chosen.mode, chosen.uid, chosen.gid);
      return chosen;
    };
    way_ = {any(RootPlace()),
            any(NamespacePlace("default")),
            any(TablePlace(tree_.table)),
            any(RowPlace(tree_.table, "a")),
            any(FamilyPlace(tree_.table, "a", "f")),
            any(Column("a", "q"))};
  }
  bool Reaches(uid_t uid) const {
    return May(way_.root, uid, 1) && May(way_.name_space, uid, 1) && May(way_.table, uid, 1);
  }
  bool Searches(uid_t uid) const {
    return Reaches(uid) && May(way_.row, uid, 1) && May(way_.family, uid, 1);
  }
  Way way_;
};

TEST_F(AnyModesTest, AreObeyedAsTheKernelObeysThem) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    SetAll(random);
    const uid_t uid = random() % 2 == 0 ? kOwner : kStranger;
    CallersStore store = As(uid);
    const bool reads = Searches(uid) && May(way_.file, uid, 4);
    EXPECT_EQ(Get(store, "a", "q") == StatusCode::kOk, reads) << round;
    const bool lists = reads && May(way_.table, uid, 4) && May(way_.row, uid, 4) &&
                       May(way_.family, uid, 4);
    EXPECT_EQ(Scanned(store).contains("a/q"), lists) << round;
    EXPECT_EQ(Put(store, "a", "q") == StatusCode::kOk, Searches(uid) && May(way_.file, uid, 2))
        << round;
    const std::string name = "new" + std::to_string(round);
    EXPECT_EQ(Put(store, "a", name) == StatusCode::kOk, Searches(uid) && May(way_.family, uid, 2))
        << round;
    EXPECT_EQ(Put(store, name, "q") == StatusCode::kOk, Reaches(uid) && May(way_.table, uid, 2))
        << round;
    const bool is_sticky = (way_.family.mode & 01000) != 0;
    const bool deletes = Searches(uid) && May(way_.family, uid, 2) &&
                         (!is_sticky || way_.family.uid == uid || way_.file.uid == uid);
    EXPECT_EQ(Delete(store, "a", "q") == StatusCode::kOk, deletes) << round;
    tree_.clock->Advance(10);
    tree_.Put("a", "q", "a/");
  }
}

}  // namespace
}  // namespace cellfs::fs
