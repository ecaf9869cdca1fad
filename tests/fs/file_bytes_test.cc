// SPDX-License-Identifier: MIT
#include "fs/files/file_bytes.h"

#include <gtest/gtest.h>

namespace cellfs::fs {
namespace {

constexpr size_t kLong = size_t{1} << 20;

TEST(FileBytesTest, WhatIsWrittenBehindTheEndLeavesZeros) {
  std::string file = "ab";
  WriteInto(file, "cd", 1);
  EXPECT_EQ(file, "acd");
  WriteInto(file, "e", 5);
  EXPECT_EQ(file, std::string("acd\0\0e", 6));
}

TEST(FileBytesTest, AShorterFileGivesItsMemoryBack) {
  std::string file(kLong, 'x');
  SetLength(file, 1);
  EXPECT_EQ(file, "x");
  EXPECT_LT(file.capacity(), kLong / 2);
  file.assign(kLong, 'x');
  SetLength(file, 0);
  EXPECT_LT(file.capacity(), kLong / 2);
}

TEST(FileBytesTest, WhatIsLetGoGivesItsMemoryBack) {
  std::string file(kLong, 'x');
  LetGo(file);
  EXPECT_EQ(file, "");
  EXPECT_LT(file.capacity(), kLong / 2);
}

}  // namespace
}  // namespace cellfs::fs
