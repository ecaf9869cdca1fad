// SPDX-License-Identifier: MIT
#include "engine/remote/description_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/schema.h"

namespace cellfs {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const TableName kCachedTable{"default", "t"};

using Cache = DescriptionCache<const TableSchema>;

Cache::Description Described() { return std::make_shared<const TableSchema>(kCachedTable); }

TEST(DescriptionCache, KnowsWhatWasAskedForLatelyAndWhatIsNotThere) {
  Cache cache(hours(1));
  EXPECT_FALSE(cache.Find(kCachedTable));
  cache.Keep(kCachedTable, Described(), cache.changes());
  ASSERT_TRUE(cache.Find(kCachedTable));
  EXPECT_EQ((**cache.Find(kCachedTable))->name(), kCachedTable);
  const TableName missing{"default", "missing"};
  cache.Keep(missing, Status(StatusCode::kTableNotFound, "no"), cache.changes());
  EXPECT_EQ(cache.Find(missing)->status().code(), StatusCode::kTableNotFound);
}

TEST(DescriptionCache, KeepsNoFailure) {
  Cache cache(hours(1));
  cache.Keep(kCachedTable, Status(StatusCode::kUnavailable, "later"), cache.changes());
  EXPECT_FALSE(cache.Find(kCachedTable));
}

TEST(DescriptionCache, DescriptionsGrowOld) {
  Cache cache(milliseconds(1));
  cache.Keep(kCachedTable, Described(), cache.changes());
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_FALSE(cache.Find(kCachedTable));
}

TEST(DescriptionCache, WhatIsChangedMeanwhileIsAskedForAnew) {
  Cache cache(hours(1));
  const uint64_t before = cache.changes();
  cache.Forget(kCachedTable);
  cache.Keep(kCachedTable, Described(), before);
  EXPECT_FALSE(cache.Find(kCachedTable));
  cache.Keep(kCachedTable, Described(), cache.changes());
  cache.Forget(kCachedTable);
  EXPECT_FALSE(cache.Find(kCachedTable));
}

}  // namespace
}  // namespace cellfs
