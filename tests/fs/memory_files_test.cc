// SPDX-License-Identifier: MIT
#include "fs/files/memory_files.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

TEST(MemoryFilesTest, AllTogetherHaveSoManyBytes) {
  const uint64_t half = MemoryFileLimits().bytes.limit() / 2;
  MemoryFiles files;
  const auto one = *files.Make(1);
  auto other = *files.Make(1);
  ASSERT_TRUE(one->Resize(half - 10).ok());
  ASSERT_TRUE(other->Write("12345", 5).ok());
  const Outcome refused = other->Write("x", 10);
  EXPECT_EQ(refused.error(), ENOSPC);
  EXPECT_FALSE(refused.reason().empty());
  EXPECT_EQ(other->bytes(), std::string("\0\0\0\0\0", 5) + "12345");
  EXPECT_TRUE(other->Write("54321", 5).ok());
  EXPECT_TRUE((*files.Make(2))->Resize(half / 2).ok()) << "another user's";
  EXPECT_TRUE(one->Resize(0).ok());
  EXPECT_TRUE(other->Write("x", 10).ok());
  other.reset();
  EXPECT_TRUE(one->Resize(half).ok());
}

TEST(MemoryFilesTest, ThereAreSoMany) {
  const auto half = static_cast<int64_t>(MemoryFileLimits().files.limit() / 2);
  Tree tree;
  tree.MakeTable();
  const auto table = tree.LookUp("default/t");
  const auto make = [&](int64_t number, uid_t user = 0) {
    Request request = tree.request;
    request.uid = user;
    const auto made = tree.filesystem->MakeFile(request, *table->node,
                                                ".schema.toml." + std::to_string(number), 0600);
    return made.error();
  };
  for (int64_t number = 0; number < half; ++number) ASSERT_EQ(make(number), 0);
  EXPECT_EQ(make(half), ENOSPC);
  EXPECT_EQ(make(half + 1, 1000), 0) << "another user's";
  ASSERT_TRUE(tree.filesystem->Unlink(tree.request, *table->node, ".schema.toml.0").ok());
  ASSERT_TRUE(tree.filesystem->Unlink(tree.request, *table->node, ".schema.toml.1").ok());
  EXPECT_EQ(make(half), 0);
}

}  // namespace
}  // namespace cellfs::fs
