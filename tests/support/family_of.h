// SPDX-License-Identifier: MIT
//
// FamilyOf: a family with attributes, which are right.
#ifndef CELLFS_TESTS_SUPPORT_FAMILY_OF_H_
#define CELLFS_TESTS_SUPPORT_FAMILY_OF_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/schema.h"

namespace cellfs {

using FamilyAttributes = std::vector<std::pair<std::string, std::string>>;

inline FamilySchema FamilyOf(const std::string& name, const FamilyAttributes& attributes = {}) {
  FamilySchema family(name);
  for (const auto& [attribute, value] : attributes) {
    EXPECT_TRUE(family.Set(attribute, value).ok()) << attribute;
  }
  return family;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_FAMILY_OF_H_
