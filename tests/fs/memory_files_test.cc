// SPDX-License-Identifier: MIT
#include "fs/nodes/memory_files.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

TEST(MemoryFilesTest, AllTogetherHaveSoManyBytes) {
  MemoryFiles files;
  const auto one = *files.Make();
  auto other = *files.Make();
  ASSERT_TRUE(one->Resize(MemoryLeft::kBytes - 10).ok());
  ASSERT_TRUE(other->Write("12345", 5).ok());
  const Outcome refused = other->Write("x", 10);
  EXPECT_EQ(refused.error(), ENOSPC);
  EXPECT_FALSE(refused.reason().empty());
  EXPECT_EQ(other->bytes(), std::string("\0\0\0\0\0", 5) + "12345");
  EXPECT_TRUE(other->Write("54321", 5).ok());
  EXPECT_TRUE(one->Resize(0).ok());
  EXPECT_TRUE(other->Write("x", 10).ok());
  other.reset();
  EXPECT_TRUE(one->Resize(MemoryLeft::kBytes).ok());
}

TEST(MemoryFilesTest, ThereAreSoMany) {
  Tree tree;
  tree.MakeTable();
  const auto table = tree.LookUp("default/t");
  const auto make = [&](int64_t number) {
    const auto made = tree.filesystem->MakeFile(tree.request, *table->node,
                                                ".schema.toml." + std::to_string(number), 0600);
    return made.error();
  };
  for (int64_t number = 0; number < MemoryLeft::kFiles; ++number) ASSERT_EQ(make(number), 0);
  EXPECT_EQ(make(MemoryLeft::kFiles), ENOSPC);
  ASSERT_TRUE(tree.filesystem->Unlink(tree.request, *table->node, ".schema.toml.0").ok());
  EXPECT_EQ(make(MemoryLeft::kFiles), 0);
}

}  // namespace
}  // namespace cellfs::fs
