// SPDX-License-Identifier: MIT
#include "fs/base/owner_and_mode.h"

#include <gtest/gtest.h>

namespace cellfs::fs {
namespace {

TEST(OwnerAndModeTest, WhoseItWasInheritsItWhereItIsNotOpened) {
  EXPECT_TRUE(MayInherit({1000, 1000, 0644}, {1000, 1000, 0644}));
  EXPECT_TRUE(MayInherit({1000, 1000, 0700}, {1000, 1000, 0644}));
  EXPECT_FALSE(MayInherit({1000, 1000, 0644}, {1000, 1000, 0600})) << "another may have moved it";
  EXPECT_FALSE(MayInherit({1000, 5, 0640}, {1000, 1000, 0640})) << "to another group";
}

TEST(OwnerAndModeTest, AnotherDoesNot) {
  EXPECT_FALSE(MayInherit({1001, 1000, 0600}, {1000, 1000, 0666}));
  EXPECT_FALSE(MayInherit({1001, 1001, 0}, {0, 0, 0644}));
}

TEST(OwnerAndModeTest, RootWhereHisLetsNobodyElseIn) {
  EXPECT_TRUE(MayInherit({0, 0, 0600}, {1000, 1000, 0600}));
  EXPECT_TRUE(MayInherit({0, 0, 0644}, {1000, 1000, 0644}));
  EXPECT_FALSE(MayInherit({0, 0, 0644}, {1000, 1000, 0600}));
  EXPECT_FALSE(MayInherit({0, 0, 0640}, {1000, 1000, 0640})) << "to another group";
  EXPECT_TRUE(MayInherit({0, 1000, 0640}, {1000, 1000, 0640}));
  EXPECT_FALSE(MayInherit({0, 0, 0664}, {1000, 1000, 0604})) << "whom his own group shut out";
}

}  // namespace
}  // namespace cellfs::fs
