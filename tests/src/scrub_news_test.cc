// SPDX-License-Identifier: MIT
#include "src/daemon/scrub_news.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

using Lines = std::vector<std::string>;

TEST(ScrubNews, EachFindingIsToldOnceAndEachEndWithFindings) {
  ScrubStatistics scrub{.ended = 5};
  ScrubNews news(scrub);
  EXPECT_EQ(news.Of(scrub), Lines());
  scrub.damage = {"a.db: page 1"};
  EXPECT_EQ(news.Of(scrub), Lines{"scrub: a.db: page 1"});
  EXPECT_EQ(news.Of(scrub), Lines());
  scrub.damage.emplace_back("b.db: page 2");
  scrub.ended = 7;
  EXPECT_EQ(news.Of(scrub),
            (Lines{"scrub: b.db: page 2",
                   "scrub: ended; 2 things are damaged, as 'cellfs status --health' lists"}));
  EXPECT_EQ(news.Of(scrub), Lines());
  scrub = {.ended = 9};
  EXPECT_EQ(news.Of(scrub), Lines()) << "mended";
}

TEST(ScrubNews, WhatWasFoundBeforeAMountIsToldAnewAndItsEndIsNot) {
  const ScrubStatistics scrub{.ended = 5, .damage = {"a.db: page 1"}};
  ScrubNews news(scrub);
  EXPECT_EQ(news.Of(scrub), Lines{"scrub: a.db: page 1"});
  EXPECT_EQ(news.Of(scrub), Lines());
}

}  // namespace
}  // namespace cellfs
