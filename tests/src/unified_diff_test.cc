// SPDX-License-Identifier: MIT
#include "src/commands/unified_diff.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

std::string DiffOf(const std::string& before, const std::string& after) {
  const TemporaryDirectory directory;
  const std::string one = directory.path() + "/one", other = directory.path() + "/other";
  std::ofstream(one, std::ios::binary) << before;
  std::ofstream(other, std::ios::binary) << after;
  const std::string command = "diff -u --label a --label b " + one + " " + other;
  FILE* const program = popen(command.c_str(), "r");
  std::string text;
  for (int byte = 0; (byte = fgetc(program)) != EOF;) text += static_cast<char>(byte);
  pclose(program);
  return text;
}

TEST(UnifiedDiffTest, WhatNeedsNoProgramIsAsTheProgramSaysIt) {
  const std::vector<std::string> texts = {"",    "\n",   "a",      "a\n",    "b\n",
                                          "a\nb", "a\nb\n", "\n\na", "1\n2\n3\n"};
  for (const std::string& before : texts)
    for (const std::string& after : texts)
      EXPECT_EQ(UnifiedDiff({"a", before}, {"b", after}), DiffOf(before, after))
          << "'" << before << "' '" << after << "'";
}

}  // namespace
}  // namespace cellfs
