// SPDX-License-Identifier: MIT
//
// What modes say where the kernel does not ask them.
#include "fs/reading/mode_rights.h"

#include "tests/fs/mount_options.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

// The kernel asks for the right to make it, and takes what CREATE opens for made.
TEST(ModeRightsTest, AFileThatACommandMadeMeanwhileIsOpenedByCreateAsItsModeSays) {
  WritingTree tree(ForAll());
  tree.MakeTable();
  tree.Put("r", "q", "secret");
  ASSERT_EQ(tree.Change(kQ, {.mode = 0640, .uid = kOwner, .gid = kOwner}), 0);
  struct Case {
    uid_t uid;
    gid_t gid;
    OpenMode mode;
    int error;
  };
  const OpenMode to_read{};
  for (const Case& one :
       {Case{kStranger, kStranger, to_read, EACCES},
        Case{kStranger, kStranger, ForWriting(), EACCES},
        Case{kStranger, kStranger, Truncating(), EACCES},
        Case{kStranger, kOwner, ForWriting(), EACCES}, Case{kStranger, kOwner, to_read, 0},
        Case{kOwner, kOwner, ForWriting(), 0}, Case{0, 0, ForWriting(), 0}}) {
    tree.request.uid = one.uid;
    tree.request.gid = one.gid;
    const OpenFile file = tree.Create(kQ, false, one.mode);
    EXPECT_EQ(file.error, one.error) << one.uid;
    if (file.handle != nullptr) tree.filesystem->Release(*file.node, file.handle);
  }
  EXPECT_EQ(tree.ReadFile(kQ), "secret");
}

}  // namespace
}  // namespace cellfs::fs
