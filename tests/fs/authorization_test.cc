// SPDX-License-Identifier: MIT
//
// What the kernel keeps of one user's requests, and another's that has no right to it.
#include <gtest/gtest.h>

#include "engine/open.h"
#include "fs/operations/filesystem.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

class AuthorizationTest : public testing::Test {
 protected:
  AuthorizationTest() {
    StoreOptions store_options;
    store_options.site.authorization = true;
    store_ = OpenMemoryStore(store_options);
    TableSchema schema(kTable);
    schema.families.emplace("f", FamilySchema("f"));
    const Caller& root = Caller::Superuser();
    EXPECT_TRUE(store_->CreateTable(root, schema).ok());
    const Put put{"r", {{"f", "q", 3, "secret", {}}}};
    EXPECT_TRUE(store_->Mutate(root, kTable, RowMutations::Of(put)).ok());
    EXPECT_TRUE(store_->GrantPermissions(root, {"bob", {"", kTable}, "R"}, true).ok());
    EXPECT_TRUE(store_->GrantPermissions(root, {"eve", {"", kTable}, "W"}, true).ok());
    MountOptions options;
    options.authorization = true;
    filesystem_ =
        std::make_unique<FileSystem>(*store_, options, std::make_shared<ManualClock>(5), nullptr);
  }

  Entry LookUp(std::initializer_list<const char*> path) {
    Entry entry;
    entry.node = filesystem_->root().shared_from_this();
    for (const char* name : path) {
      auto found = filesystem_->LookUp(root_, *entry.node, name);
      EXPECT_TRUE(found.ok()) << name;
      entry = *found;
    }
    return entry;
  }
  int Open(const Request& request, Node& node, const OpenMode& mode) {
    const auto opened = filesystem_->Open(request, node, mode);
    if (opened.ok()) filesystem_->Release(node, opened->handle);
    return opened.error();
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<FileSystem> filesystem_;
  const Caller bob_name_{"bob"}, eve_name_{"eve"};
  const Request root_;
  const Request bob_{.uid = 1, .gid = 1, .caller = &bob_name_};
  const Request eve_{.uid = 2, .gid = 2, .caller = &eve_name_};
};

TEST_F(AuthorizationTest, WhoMayNotReadOpensNothingToRead) {
  const NodePtr file = LookUp({"default", "t", "r", "f", "q"}).node;
  EXPECT_EQ(Open(root_, *file, {.read = true}), 0);
  EXPECT_EQ(Open(bob_, *file, {.read = true}), 0);
  EXPECT_EQ(Open(eve_, *file, {.read = true}), EACCES);
  EXPECT_EQ(Open(eve_, *file, {.read = true, .write = true}), EACCES);
  EXPECT_EQ(Open(eve_, *file, {.read = false, .write = true}), 0);
  ASSERT_TRUE(store_->RevokePermissions(Caller::Superuser(), "bob", {"", kTable}).ok());
  EXPECT_EQ(Open(bob_, *file, {.read = true}), EACCES);
  for (const char* name : {".versions", ".deleted"}) {
    const NodePtr control = LookUp({"default", "t", "r", "f", name}).node;
    EXPECT_EQ(filesystem_->LookUp(eve_, *control, "q").error(), EACCES);
  }
}

TEST_F(AuthorizationTest, WhoMayNotPutChangesNoAttribute) {
  const NodePtr file = LookUp({"default", "t", "r", "f", "q"}).node;
  const auto change = [&](const Request& request, const AttributeChange& what) {
    return filesystem_->SetAttributes(request, *file, what, nullptr).error();
  };
  for (const AttributeChange& what :
       {AttributeChange{.mtime = timespec{9, 0}}, AttributeChange{.mode = 0666},
        AttributeChange{.uid = 1}, AttributeChange{.gid = 1}, AttributeChange{.size = 0}}) {
    EXPECT_EQ(change(bob_, what), EACCES);
  }
  const auto found = filesystem_->GetAttributes(root_, *file);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->attributes.st_mtim.tv_sec, 0);
  EXPECT_EQ(found->attributes.st_mode & 0777, 0644U);
  ASSERT_TRUE(
      store_->GrantPermissions(Caller::Superuser(), {"bob", {"", kTable, "f", "q"}, "W"}, true).ok());
  EXPECT_EQ(change(bob_, {.mtime = timespec{9, 0}}), 0);
  EXPECT_EQ(filesystem_->GetAttributes(root_, *file)->attributes.st_mtim.tv_sec, 9);
}

TEST_F(AuthorizationTest, WhoMayNotPutRemovesNoFileThatAnotherHasJustMade) {
  const NodePtr family = LookUp({"default", "t", "r", "f"}).node;
  const OpenMode write{.read = false, .write = true};
  const auto made = filesystem_->Create(root_, *family, "made", 0666, write, false);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(filesystem_->Unlink(bob_, *family, "made").error(), EACCES);
  EXPECT_TRUE(filesystem_->Write(*made->entry.node, *made->handle, "kept", 0).ok());
  filesystem_->Release(*made->entry.node, made->handle);
  EXPECT_TRUE(LookUp({"default", "t", "r", "f", "made"}).node != nullptr);
}

// As of a file: whoever may put something into a directory changes it, makes it and removes it.
TEST_F(AuthorizationTest, WhoMayPutNothingIntoADirectoryChangesNoneOfIt) {
  const NodePtr table = LookUp({"default", "t"}).node;
  const NodePtr row = LookUp({"default", "t", "r"}).node;
  ASSERT_TRUE(filesystem_->MakeDirectory(root_, *table, "made", 0777).ok());
  const NodePtr made = LookUp({"default", "t", "made"}).node;
  ASSERT_TRUE(filesystem_->MakeDirectory(root_, *made, "f", 0777).ok());
  const NodePtr family = LookUp({"default", "t", "made", "f"}).node;
  const NodePtr versions = LookUp({"default", "t", "made", "f", ".versions"}).node;
  const auto touch = [&](const Request& request, const NodePtr& directory) {
    return filesystem_->SetAttributes(request, *directory, {.mtime = timespec{9, 0}}, nullptr)
        .error();
  };
  const auto make = [&](const Request& request, const NodePtr& directory, const char* name) {
    return filesystem_->MakeDirectory(request, *directory, name, 0777).error();
  };
  for (const NodePtr& directory : {row, made, family, table, LookUp({"default"}).node})
    EXPECT_EQ(touch(bob_, directory), EACCES);
  EXPECT_EQ(make(bob_, table, "bobs"), EACCES);
  EXPECT_EQ(make(bob_, versions, "q"), EACCES);
  EXPECT_EQ(filesystem_->RemoveDirectory(bob_, *made, "f").error(), EACCES);
  EXPECT_EQ(filesystem_->RemoveDirectory(bob_, *table, "made").error(), EACCES);

  const Caller& root = Caller::Superuser();
  ASSERT_TRUE(store_->GrantPermissions(root, {"bob", {"", kTable, "f", "q"}, "W"}, true).ok());
  for (const NodePtr& directory : {row, made, family}) EXPECT_EQ(touch(bob_, directory), 0);
  for (const NodePtr& directory : {table, LookUp({"default"}).node})
    EXPECT_EQ(touch(bob_, directory), EACCES) << "those are the schema's";
  ASSERT_EQ(make(bob_, table, "bobs"), 0);
  const NodePtr bobs = LookUp({"default", "t", "bobs"}).node;
  EXPECT_EQ(make(bob_, bobs, "f"), 0);
  EXPECT_EQ(make(bob_, versions, "q"), 0);
  EXPECT_EQ(make(bob_, versions, "other"), EACCES);
  EXPECT_EQ(filesystem_->RemoveDirectory(bob_, *bobs, "f").error(), 0);
  EXPECT_EQ(filesystem_->RemoveDirectory(bob_, *table, "bobs").error(), 0);
  ASSERT_TRUE(store_->GrantPermissions(root, {"bob", {"", kTable}, "C"}, true).ok());
  EXPECT_EQ(touch(bob_, table), 0);
}

// Whether a family is empty is not what its remover can see of it.
TEST_F(AuthorizationTest, AFamilyWithCellsOfOthersIsNotUndeclared) {
  const Caller& root = Caller::Superuser();
  const NodePtr name_space = LookUp({"default"}).node;
  ASSERT_TRUE(filesystem_->MakeDirectory(root_, *name_space, "open", 0777).ok());
  const TableName open{"default", "open"};
  const NodePtr table = LookUp({"default", "open"}).node;
  ASSERT_TRUE(filesystem_->MakeDirectory(root_, *table, "r", 0777).ok());
  ASSERT_TRUE(
      filesystem_->MakeDirectory(root_, *LookUp({"default", "open", "r"}).node, "f", 0777).ok());
  ASSERT_TRUE(store_->GrantPermissions(root, {"bob", {"", open}, "WC"}, true).ok());
  ASSERT_TRUE(store_->GrantPermissions(root, {"bob", {"", open, "f", "bobs"}, "R"}, true).ok());
  const Put put{"r", {{"f", "q", 3, "secret", {}}}};
  ASSERT_TRUE(store_->Mutate(root, open, RowMutations::Of(put)).ok());
  filesystem_->parts().tree.unstored.RemoveFamily(open, "f");
  ASSERT_TRUE(filesystem_->MakeDirectory(bob_, *table, "bobs", 0777).ok());
  const NodePtr bobs = LookUp({"default", "open", "bobs"}).node;
  ASSERT_TRUE(filesystem_->MakeDirectory(bob_, *bobs, "f", 0777).ok());
  EXPECT_EQ(filesystem_->RemoveDirectory(bob_, *bobs, "f").error(), 0);
  Get get;
  get.row = "r";
  const auto cells = store_->Read(root, open, get);
  ASSERT_TRUE(cells.ok());
  EXPECT_EQ(cells->size(), 1U);
}

TEST_F(AuthorizationTest, WhoMayNotAlterASchemaOpensItsFileOnlyToRead) {
  const NodePtr table = LookUp({"default", "t"}).node;
  const NodePtr file = LookUp({"default", "t", ".schema.toml"}).node;
  const NodePtr of_namespace = LookUp({"default", ".namespace.toml"}).node;
  const OpenMode write{.read = false, .write = true, .truncate = true};
  EXPECT_EQ(Open(bob_, *file, {.read = true}), 0);
  EXPECT_EQ(Open(bob_, *file, write), EACCES);
  EXPECT_EQ(Open(bob_, *of_namespace, write), EACCES);
  EXPECT_EQ(filesystem_->SetAttributes(bob_, *file, {.mtime = timespec{9, 0}}, nullptr).error(),
            EACCES);
  EXPECT_EQ(filesystem_->Unlink(bob_, *table, ".schema.toml").error(), EACCES);
  EXPECT_EQ(filesystem_->Rename(bob_, *table, ".schema.toml", *table, ".schema.toml~", 0).error(),
            EACCES);
  ASSERT_EQ(filesystem_->Unlink(root_, *table, ".schema.toml").error(), 0);
  EXPECT_EQ(filesystem_->Create(bob_, *table, ".schema.toml", 0666, write, false).error(), EACCES);
  ASSERT_TRUE(
      store_->GrantPermissions(Caller::Superuser(), {"bob", {"", kTable}, "C"}, true).ok());
  const auto made = filesystem_->Create(bob_, *table, ".schema.toml", 0666, write, false);
  ASSERT_TRUE(made.ok());
  filesystem_->Release(*made->entry.node, made->handle);
}

// A family's tombstone is his column's as well.
TEST_F(AuthorizationTest, WhatAFamilysTombstoneHidesIsDeletedForWhoMayReadOneColumn) {
  const Caller& root = Caller::Superuser();
  ASSERT_TRUE(store_->RevokePermissions(root, "bob", {"", kTable}).ok());
  ASSERT_TRUE(store_->GrantPermissions(root, {"bob", {"", kTable, "f", "q"}, "R"}, true).ok());
  const NodePtr deleted = LookUp({"default", "t", "r", "f", ".deleted"}).node;
  EXPECT_EQ(filesystem_->LookUp(bob_, *deleted, "q").error(), ENOENT);
  for (const CellType type : {CellType::kDeleteFamilyVersion, CellType::kDeleteFamily}) {
    const Delete remove{"r", {{type, "f", "", 3}}};
    ASSERT_TRUE(store_->Mutate(root, kTable, RowMutations::Of(remove)).ok());
    const auto found = filesystem_->LookUp(bob_, *deleted, "q");
    ASSERT_TRUE(found.ok());
    const auto opened = filesystem_->Open(bob_, *found->node, {.read = true});
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(filesystem_->Read(bob_, *found->node, opened->handle, 0, 9)->bytes, "secret");
    filesystem_->Release(*found->node, opened->handle);
  }
}

TEST_F(AuthorizationTest, TheKernelKeepsNothingOfARow) {
  for (const Entry& entry :
       {LookUp({"default", "t", "r"}), LookUp({"default", "t", "r", "f"}),
        LookUp({"default", "t", "r", "f", "q"}), LookUp({"default", "t", ".asof", "5", "r"})}) {
    EXPECT_EQ(entry.name_valid_seconds, 0);
    EXPECT_EQ(entry.attributes_valid_seconds, 0);
    EXPECT_EQ(filesystem_->GetAttributes(eve_, *entry.node).error(), EACCES);
  }
  EXPECT_GT(LookUp({"default", "t"}).name_valid_seconds, 0);
}

TEST_F(AuthorizationTest, AKeptListingIsTheSuperusersAlone) {
  const NodePtr family = LookUp({"default", "t", "r", "f"}).node;
  EXPECT_TRUE(filesystem_->OpenListing(root_, *family)->cache_listing);
  EXPECT_FALSE(filesystem_->OpenListing(bob_, *family)->cache_listing);
}

}  // namespace
}  // namespace cellfs::fs
