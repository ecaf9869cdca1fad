// SPDX-License-Identifier: MIT
#include "engine/hbase/schema_cache.h"

#include <gtest/gtest.h>

#include <thread>

namespace cellfs::hbase {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const TableName kTable{"default", "t"};

Description Described() { return std::make_shared<const TableSchema>(kTable); }

TEST(SchemaCache, KnowsWhatWasAskedForLatelyAndWhatIsNotThere) {
  SchemaCache cache(hours(1));
  EXPECT_FALSE(cache.Find(kTable));
  cache.Keep(kTable, Described(), cache.changes());
  ASSERT_TRUE(cache.Find(kTable));
  EXPECT_EQ((**cache.Find(kTable))->name(), kTable);
  const TableName missing{"default", "missing"};
  cache.Keep(missing, Status(StatusCode::kTableNotFound, "no"), cache.changes());
  EXPECT_EQ(cache.Find(missing)->status().code(), StatusCode::kTableNotFound);
}

TEST(SchemaCache, KeepsNoFailure) {
  SchemaCache cache(hours(1));
  cache.Keep(kTable, Status(StatusCode::kUnavailable, "later"), cache.changes());
  EXPECT_FALSE(cache.Find(kTable));
}

TEST(SchemaCache, DescriptionsGrowOld) {
  SchemaCache cache(milliseconds(1));
  cache.Keep(kTable, Described(), cache.changes());
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_FALSE(cache.Find(kTable));
}

TEST(SchemaCache, WhatIsChangedMeanwhileIsAskedForAnew) {
  SchemaCache cache(hours(1));
  const uint64_t before = cache.changes();
  cache.Forget(kTable);
  cache.Keep(kTable, Described(), before);
  EXPECT_FALSE(cache.Find(kTable));
  cache.Keep(kTable, Described(), cache.changes());
  cache.Forget(kTable);
  EXPECT_FALSE(cache.Find(kTable));
}

}  // namespace
}  // namespace cellfs::hbase
