// SPDX-License-Identifier: MIT
#include "engine/filter/regex.h"

#include <gtest/gtest.h>

#include <chrono>
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

// One step of PCRE2 may pass all of the value.
constexpr const char* kNasty[] = {"(x+x+)+y|a+a+[bz]", "(?=(a+))\\1[xz]", "a{1,60000}[xz]",
                                  "(?:a|b|ab)*[xz]",   "(a*)*[xz]",       "a*a*a*[xz]",
                                  "(a+)\\1+[xz]",      "a{60000}[xz]",    "(?<=a{60000}b)a"};

TEST(RegexTest, ACancelledSearchEndsInTheMidstOfAPlace) {
  for (const size_t length : {1'000'000, 9'000'000}) {
    const std::string value(length, 'a');
    for (const char* pattern : kNasty) {
      const auto regex = Regex::Compile(pattern, Syntax::kJava);
      ASSERT_TRUE(regex.ok()) << pattern;
      std::atomic<bool> cancelled{false};
      Get get;
      get.cancelled = &cancelled;
      const WorkLimit limit(get);
      const SearchLimit searches(limit);
      std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // most run by then
        cancelled = true;
      });
      EXPECT_FALSE(regex->Find(value)) << pattern;
      canceller.join();
    }
  }
}

TEST(RegexTest, ASearchThatNobodyCancelsGivesUp) {
  const std::string value(1'000'000, 'a');
  for (const char* pattern : kNasty) EXPECT_FALSE(Find(pattern, value)) << pattern;
}

// The quick search cannot do it in its steps, the careful one can.
TEST(RegexTest, FindsInALongValue) {
  const std::string value = "foo" + std::string(3'000'000, 'a') + "@b 12";
  for (const char* pattern : {"f.*f?oo", ".*foo.*", "a@b", "o[a-z]+@[a-z] [0-9]{2}$"}) {
    EXPECT_TRUE(Find(pattern, value)) << pattern;
  }
  EXPECT_FALSE(Find(".*fob.*", value));
}

bool Contains(std::string_view part, std::string_view value) {
  auto regex = Regex::Compile(part, Syntax::kSubstringNoCase);
  EXPECT_TRUE(regex.ok()) << regex.status().ToString();
  return regex.ok() && regex->Find(value);
}

TEST(RegexTest, ASubstringIsFoundWhereverItLies) {
  const std::string accented = "\u00c4b";
  for (size_t length = 65'000; length < 66'100; ++length) {
    EXPECT_TRUE(Contains("NEEDLE", std::string(length, 'n') + "needle")) << length;
    EXPECT_TRUE(Contains("\u00e4B", std::string(length, '\x84') + accented)) << length;
  }
  const std::string long_part = 'N' + std::string(20'000, 'X');
  EXPECT_TRUE(Contains(long_part, std::string(300'000, 'a') + 'n' + std::string(20'000, 'x')));
  EXPECT_FALSE(Contains(long_part, std::string(300'000, 'a') + 'n' + std::string(19'999, 'x')));
  // A letter in other case may be longer: KELVIN SIGN is three bytes.
  for (size_t length = 65'500; length < 65'540; ++length) {
    EXPECT_TRUE(Contains("kkk", std::string(length, 'a') + "\u212a\u212a\u212a")) << length;
  }
  EXPECT_TRUE(Contains("", ""));
  EXPECT_TRUE(Contains("", "a"));
  EXPECT_FALSE(Contains("a", ""));
}

TEST(RegexTest, ASubstringIsFoundInAHugeValue) {
  EXPECT_TRUE(Contains("needle", std::string(101'000'000, 'a') + "needle"));
}

TEST(RegexTest, ACancelledSearchForASubstringEndsInTheMidstOfAValue) {
  const std::string value = std::string(1'000'000, 'a') + "needle";
  const auto regex = Regex::Compile("needle", Syntax::kSubstringNoCase);
  ASSERT_TRUE(regex.ok());
  const std::atomic<bool> cancelled{true};
  Get get;
  get.cancelled = &cancelled;
  const WorkLimit limit(get);
  const SearchLimit searches(limit);
  EXPECT_FALSE(regex->Find(value));
}

}  // namespace
}  // namespace cellfs
