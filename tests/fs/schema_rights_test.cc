// SPDX-License-Identifier: MIT
//
// The right to write in a directory is none to change the schema that a name in it stands for.
#include "fs/reading/schema_rights.h"

#include <sys/stat.h>

#include "tests/fs/mount_options.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr char kTemporary[] = "default/t/.schema.toml.tmp";
constexpr char kDropsAll[] = "enabled = false\n[families.f]\ndrop = true\n[families.g]\n";

// The table is its owner's, and everybody may write in its directory.
struct SchemaRightsTest : testing::Test {
  SchemaRightsTest() : tree(ForAll()) {
    tree.MakeTable();
    tree.Put("r", "other", "x");
    EXPECT_EQ(tree.Change("default/t", {.mode = 0777, .uid = kOwner}), 0);
    EXPECT_EQ(tree.Change(kSchemaPath, {.mode = 0600}), 0);
    schema = tree.ReadFile(kSchemaPath);
  }

  void Become(uid_t user) { tree.request.uid = tree.request.gid = user; }
  // As 0.
  void ExpectUnchanged() {
    Become(0);
    EXPECT_EQ(tree.ReadFile(kSchemaPath), schema);
    const struct stat shown = tree.Stat(kSchemaPath);
    EXPECT_EQ(shown.st_uid, kOwner);
    EXPECT_EQ(shown.st_mode & 07777, 0600U);
  }

  WritingTree tree;
  std::string schema;
};

TEST_F(SchemaRightsTest, AStrangerRenamesNothingOntoASchema) {
  Become(kStranger);
  for (const char* text : {kDropsAll, "no schema", schema.c_str()}) {
    ASSERT_EQ(tree.Save(kTemporary, text), 0);
    EXPECT_EQ(tree.Rename(kTemporary, kSchemaPath), EACCES) << text;
  }
  ExpectUnchanged();
}

TEST_F(SchemaRightsTest, AStrangerNeitherRemovesASchemaNorPutsItAside) {
  Become(kStranger);
  EXPECT_EQ(tree.Unlink(kSchemaPath), EACCES);
  EXPECT_EQ(tree.Rename(kSchemaPath, kTemporary), EACCES);
  ExpectUnchanged();
}

TEST_F(SchemaRightsTest, AStrangerDoesNotMakeARemovedSchemaAnew) {
  Become(kOwner);
  ASSERT_EQ(tree.Unlink(kSchemaPath), 0);
  Become(kStranger);
  EXPECT_EQ(tree.Create(kSchemaPath).error, EACCES);
  ASSERT_EQ(tree.Save(kTemporary, kDropsAll), 0);
  EXPECT_EQ(tree.Rename(kTemporary, kSchemaPath), EACCES);
  Become(kOwner);
  EXPECT_EQ(tree.Save(kSchemaPath, schema), 0);
  ExpectUnchanged();
}

TEST_F(SchemaRightsTest, TheSameHoldsForANamespace) {
  const std::string file = "default/.namespace.toml";
  const std::string temporary = file + ".tmp";
  ASSERT_EQ(tree.Change("default", {.mode = 0777, .uid = kOwner}), 0);
  Become(kStranger);
  ASSERT_EQ(tree.Save(temporary, "[space_quota]\nlimit = 1\npolicy = \"NO_WRITES\"\n"), 0);
  EXPECT_EQ(tree.Rename(temporary, file), EACCES);
  EXPECT_EQ(tree.Unlink(file), EACCES);
  Become(kOwner);
  EXPECT_EQ(tree.Unlink(file), 0);
}

TEST_F(SchemaRightsTest, ItsOwnerSavesItAsEditorsDo) {
  Become(kOwner);
  OpenFile file = tree.Create(kTemporary, false, ForWriting(), 0640);
  ASSERT_EQ(tree.Write(file, "[families.f]\nVERSIONS = 4\n"), 0);
  ASSERT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Rename(kTemporary, kSchemaPath), 0);
  EXPECT_NE(tree.ReadFile(kSchemaPath).find("VERSIONS = 4"), std::string::npos);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_uid, kOwner);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_mode & 07777, 0640U);
}

TEST_F(SchemaRightsTest, WhomItsModeLetsWriteReplacesItButDoesNotGetIt) {
  ASSERT_EQ(tree.Change(kSchemaPath, {.mode = 0666}), 0);
  Become(kStranger);
  ASSERT_EQ(tree.Save(kTemporary, "[families.f]\nVERSIONS = 4\n"), 0);
  EXPECT_EQ(tree.Rename(kTemporary, kSchemaPath), 0);
  EXPECT_NE(tree.ReadFile(kSchemaPath).find("VERSIONS = 4"), std::string::npos);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_uid, kOwner);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_mode & 07777, 0666U);
}

TEST_F(SchemaRightsTest, ACopyByRootBringsOwnerAndMode) {
  OpenFile file = tree.Create(kTemporary, false, ForWriting(), 0644);
  ASSERT_EQ(tree.Write(file, schema), 0);
  ASSERT_EQ(tree.Close(file), 0);
  ASSERT_EQ(tree.Change(kTemporary, {.mode = 0604, .uid = kStranger}), 0);
  EXPECT_EQ(tree.Rename(kTemporary, kSchemaPath), 0);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_uid, kStranger);
  EXPECT_EQ(tree.Stat(kSchemaPath).st_mode & 07777, 0604U);
}

// Its schema, its quota and its deleted values would go with it.
TEST_F(SchemaRightsTest, AStrangerDropsNoEmptyTableAndNoEmptyNamespace) {
  ASSERT_EQ(tree.Unlink("default/t/r/f/other"), 0);
  ASSERT_EQ(tree.Rmdir("default/t/r"), 0);
  ASSERT_EQ(tree.Mkdir("own"), 0);
  ASSERT_EQ(tree.Change("own", {.mode = 0777, .uid = kOwner}), 0);
  Become(kStranger);
  EXPECT_EQ(tree.Rmdir("default/t"), EACCES);
  EXPECT_EQ(tree.Rmdir("own"), EACCES);
  ASSERT_EQ(tree.Mkdir("own/mine"), 0);
  EXPECT_EQ(tree.Rmdir("own/mine"), 0);
  ASSERT_EQ(tree.Mkdir("own/mine"), 0);
  Become(kOwner);
  EXPECT_EQ(tree.Rmdir("own/mine"), 0) << "as the owner of a sticky directory";
  EXPECT_EQ(tree.Rmdir("own"), 0);
  EXPECT_EQ(tree.Rmdir("default/t"), 0);
}

}  // namespace
}  // namespace cellfs::fs
