// SPDX-License-Identifier: MIT
#include "fs/files/appended_tail.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cellfs::fs {
namespace {

// Writers are told apart by their addresses, and never called.
struct AppendedTailTest : testing::Test {
  CellWriter* Writer(size_t number) { return reinterpret_cast<CellWriter*>(&addresses[number]); }
  std::string All() {
    std::string bytes;
    tail.CopyTo(bytes, 0, tail.size());
    return bytes;
  }

  std::array<char, 4> addresses{};
  AppendedTail tail;
};

TEST_F(AppendedTailTest, RunsAreInTheOrderOfTheWrites) {
  tail.Append(Writer(0), "a1", false);
  tail.Append(Writer(0), "a2", false);
  tail.Append(Writer(1), "b", false);
  tail.Append(Writer(0), "a3", false);
  EXPECT_EQ(All(), "a1a2ba3");
  EXPECT_EQ(tail.front().bytes, "a1a2");
  tail.PopFront();
  EXPECT_EQ(tail.front().bytes, "b");
  EXPECT_TRUE(tail.Has(Writer(0)));
  tail.PopFront();
  tail.PopFront();
  EXPECT_FALSE(tail.Has(Writer(0)));
  EXPECT_EQ(tail.size(), 0u);
}

TEST_F(AppendedTailTest, ThoseWhoTakeTurnsShareARunOnlyWhereTheyMay) {
  for (size_t i = 0; i < 100; ++i) tail.Append(Writer(i % 2), "x", true);
  EXPECT_FALSE(tail.is_scattered());
  for (size_t i = 0; i < 40; ++i) tail.Append(Writer(i % 2), "x", false);
  EXPECT_TRUE(tail.is_scattered());
  EXPECT_EQ(All(), std::string(140, 'x'));
}

TEST_F(AppendedTailTest, WhatIsClosedGrowsByTheRestOfOneWriteAlone) {
  tail.Append(Writer(0), "a", true);
  tail.Append(Writer(1), "b1", true);
  const uint64_t first_open = tail.CloseRuns();
  EXPECT_EQ(tail.size_below(first_open), 3u);
  tail.Append(Writer(1), "b2", true, /*continues=*/true);
  EXPECT_EQ(tail.size_below(first_open), 5u);
  tail.Append(Writer(1), "b3", true);
  tail.Append(Writer(0), "a2", true, /*continues=*/true);
  EXPECT_EQ(tail.size_below(first_open), 5u);
  EXPECT_EQ(All(), "ab1b2b3a2");
  tail.Remove(Writer(0));
  EXPECT_EQ(tail.size_below(first_open), 4u);
  EXPECT_TRUE(tail.has_below(first_open));
  tail.PopFront();
  EXPECT_FALSE(tail.has_below(first_open));
  EXPECT_EQ(All(), "b3");
}

// The law: what is read is what was appended and neither put nor given up, in that order.
TEST_F(AppendedTailTest, ReadsAsAListOfPieces) {
  std::mt19937 random(42);
  const auto below = [&](size_t end) {
    return std::uniform_int_distribution<size_t>(0, end - 1)(random);
  };
  std::vector<std::pair<size_t, std::string>> model;  // of one writer each
  for (int step = 0; step < 20000; ++step) {
    const size_t writer = below(4);
    if (const size_t act = below(20); act == 0 && !tail.empty()) {
      size_t put = tail.front().bytes.size();
      while (put > 0) {
        put -= model.front().second.size();
        model.erase(model.begin());
      }
      tail.PopFront();
    } else if (act == 1) {
      tail.Remove(Writer(writer));
      std::erase_if(model, [&](const auto& piece) { return piece.first == writer; });
    } else if (model.size() < 30) {
      const std::string bytes(1 + below(9), static_cast<char>('a' + below(26)));
      tail.Append(Writer(writer), bytes, false);
      model.emplace_back(writer, bytes);
    }
    std::string expected;
    for (const auto& [of, bytes] : model) expected += bytes;
    ASSERT_EQ(All(), expected);
    ASSERT_EQ(tail.size(), expected.size());
    const size_t offset = below(expected.size() + 2);
    const size_t size = below(expected.size() + 2);
    std::string piece;
    tail.CopyTo(piece, offset, size);
    ASSERT_EQ(piece, offset < expected.size() ? expected.substr(offset, size) : "");
  }
}

}  // namespace
}  // namespace cellfs::fs
