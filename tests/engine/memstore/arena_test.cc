// SPDX-License-Identifier: MIT
#include "engine/memstore/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cellfs {
namespace {

TEST(ArenaTest, WhatIsAllocatedStaysAsItIsUntilItIsGivenBack) {
  std::mt19937 random(1);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  Arena arena;
  struct Piece {
    char* at;
    size_t size;
    char byte;
  };
  std::vector<Piece> pieces;
  std::vector<std::pair<Arena::Mark, size_t>> marks;
  for (int step = 0; step < 20000; ++step) {
    if (below(50) == 0) marks.emplace_back(arena.Here(), pieces.size());
    if (below(400) == 0 && !marks.empty()) {
      arena.ReturnTo(marks.back().first);
      pieces.resize(marks.back().second);
      marks.pop_back();
    }
    const size_t size = below(500) == 0 ? 1 + below(size_t{3} << 20) : 1 + below(2000);
    Piece piece{arena.Allocate(size), size, static_cast<char>(step)};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.at) % alignof(std::max_align_t), 0u);
    std::memset(piece.at, piece.byte, piece.size);
    pieces.push_back(piece);
  }
  for (const Piece& piece : pieces) {
    ASSERT_EQ(std::string_view(piece.at, piece.size).find_first_not_of(piece.byte),
              std::string_view::npos);
  }
}

TEST(ArenaTest, LongBytesAreTakenWithoutACopy) {
  Arena arena;
  std::string bytes(100000, 'x');
  const char* const at = bytes.data();
  EXPECT_EQ(arena.Take(std::move(bytes)).data(), at);
}

}  // namespace
}  // namespace cellfs
