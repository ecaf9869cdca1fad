// SPDX-License-Identifier: MIT
#include "fs/files/pending_edits.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fs/files/file_bytes.h"

namespace cellfs::fs {
namespace {

// The law: applying the edits to a value leaves what the same calls, one by one, leave of it.
TEST(PendingEditsTest, TheyLeaveWhatTheCallsOneByOneWould) {
  std::mt19937 random(11);
  const auto below = [&](size_t bound) { return random() % bound; };
  for (int round = 0; round < 5000; ++round) {
    PendingEdits edits;
    std::string expected(below(60), 'b');
    const std::string base = expected;
    const bool appends_often = below(2) == 0;
    std::set<size_t> written;  // offsets, where nothing is appended
    for (size_t calls = below(25); calls > 0; --calls) {
      const std::string bytes(below(9), static_cast<char>('A' + below(26)));
      const size_t act = below(10);
      if (act == 0) {
        const size_t size = below(80);
        edits.Truncate(size);
        expected.resize(size);
        written.erase(written.lower_bound(size), written.end());
      } else if (act < 4 && appends_often) {
        edits.Append(bytes);
        expected += bytes;
      } else {
        const size_t offset = below(80);
        edits.Write(bytes, offset);
        WriteInto(expected, bytes, offset);
        for (size_t i = 0; i < bytes.size(); ++i) written.insert(offset + i);
      }
      ASSERT_EQ(edits.SizeAfter(base.size()), expected.size()) << "round " << round;
      if (!appends_often) {
        ASSERT_EQ(edits.bytes(), written.size()) << "round " << round;
      }
    }
    std::string value = base;
    edits.ApplyTo(value);
    ASSERT_EQ(value, expected) << "round " << round;
  }
}

TEST(PendingEditsTest, WhatBeginsWithATruncationToNothingIsWhole) {
  PendingEdits edits;
  EXPECT_FALSE(edits.IsWhole());
  edits.Append("a");
  edits.Write("b", 1);
  EXPECT_FALSE(edits.IsWhole());
  edits.Truncate(1);
  EXPECT_FALSE(edits.IsWhole());
  edits.Truncate(0);
  EXPECT_TRUE(edits.IsWhole());
  edits.Append("c");
  edits.Truncate(9);
  EXPECT_TRUE(edits.IsWhole());
}

TEST(PendingEditsTest, ManySeparatePiecesAreTimeToPut) {
  PendingEdits edits;
  for (uint64_t i = 0; i < 100000; ++i) edits.Write("x", i % 1000);  // over one another
  EXPECT_FALSE(edits.is_scattered());
  for (uint64_t i = 0; i < 10000; ++i) edits.Write("x", 2 * i);
  EXPECT_TRUE(edits.is_scattered());
  edits.clear();
  for (int i = 0; i < 1000; ++i) {
    edits.Append("x");
    edits.Write("y", 0);
  }
  EXPECT_TRUE(edits.is_scattered());
}

}  // namespace
}  // namespace cellfs::fs
