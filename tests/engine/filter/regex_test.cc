// SPDX-License-Identifier: MIT
#include "engine/filter/regex.h"

#include <gtest/gtest.h>

#include <thread>

namespace cellfs {
namespace {

using Syntax = Regex::Syntax;

bool Find(std::string_view pattern, std::string_view subject) {
  auto regex = Regex::Compile(pattern, Syntax::kJava);
  EXPECT_TRUE(regex.ok()) << regex.status().ToString();
  return regex.ok() && regex->Find(subject);
}

TEST(RegexTest, FindsInAnyAlternative) {
  for (const char* pattern : {"x|b", "(x|y)|b", "[|(]|b", "\\Q|(\\E|b", "(?i)X|B", "(?:x|(?i)B)",
                              "\\||b", "x(?=y)|b", "|x", "(?x)x # (\n|b"}) {
    EXPECT_TRUE(Find(pattern, "abc")) << pattern;
  }
  for (const char* pattern : {"x|y", "(b|x)y|d", "^b|c$a", "b{2}|x"}) {
    EXPECT_FALSE(Find(pattern, "abc")) << pattern;
  }
}

TEST(RegexTest, WhatPcre2RefusesIsRefused) {
  for (const char* pattern : {"*a", "a|*b", "a)(b", "(", "[", "+"}) {
    EXPECT_FALSE(Regex::Compile(pattern, Syntax::kJava).ok()) << pattern;
  }
}

// From each of the million places where a match may begin it takes many steps.
TEST(RegexTest, ALongSearchEndsOnceItIsCancelled) {
  const auto regex = Regex::Compile("[ab]{0,500}[ab]{0,500}x", Syntax::kJava);
  ASSERT_TRUE(regex.ok());
  std::atomic<bool> cancelled{false};
  Get get;
  get.cancelled = &cancelled;
  const WorkLimit limit(get);
  const SearchLimit searches(limit);
  std::thread canceller([&] { cancelled = true; });
  EXPECT_FALSE(regex->Find(std::string(1000000, 'a') + " x"));
  canceller.join();
}

}  // namespace
}  // namespace cellfs
