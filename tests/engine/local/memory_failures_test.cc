// SPDX-License-Identifier: MIT
//
// Memory that runs out in the midst of a call: what it was to change is as before or as after, is
// read as it is stored, and the next call works.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "engine/open.h"
#include "tests/support/failing_memory.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr int64_t kMostAllocations = 5000;
constexpr int64_t kAllFollowing = INT64_MAX;

const Caller& Root() { return Caller::Superuser(); }
TableName Table() { return {.name = "t"}; }

RowMutations PutOf(const std::string& value) {
  Put put{.row = "r", .cells = {}};
  put.cells.push_back({.family = "f", .qualifier = "q", .value = value, .rewrites = {}});
  return RowMutations::Of(std::move(put));
}

class LocalMemoryTest : public testing::TestWithParam<int64_t> {
 protected:
  LocalMemoryTest() {
    options_.clock = clock_;
    options_.background_maintenance = false;
    options_.disk_reserve = 0;
  }
  void SetUp() override {
    Open();
    TableSchema schema(Table());
    schema.families.emplace("f", FamilySchema("f"));
    ASSERT_TRUE(store_->CreateTable(Root(), schema).ok());
  }
  void Open() {
    store_.reset();
    auto opened = OpenLocalStore(directory_.path() + "/store", options_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }
  void Put(const std::string& value) {
    clock_->Advance(10);
    const auto put = store_->Mutate(Root(), Table(), PutOf(value));
    ASSERT_TRUE(put.ok()) << put.status().ToString();
  }
  std::string Value() {
    Get get;
    get.row = "r";
    const auto cells = store_->Read(Root(), Table(), get);
    if (!cells.ok()) return cells.status().ToString();
    return cells->empty() ? "(none)" : cells->front().value;
  }

  // `call` is made again and again, an allocation later failing each time.
  void Try(const std::function<void()>& call, const std::vector<std::string>& values) {
    bool failed = true;
    for (int64_t first = 0; failed && first < kMostAllocations; first += kFailingMemoryStep) {
      if (first % 8 == 0) {  // few files, so that it takes no time
        ASSERT_TRUE(store_->Flush(Root(), Table()).ok());
        ASSERT_TRUE(store_->Compact(Root(), Table(), CompactionKind::kMajor).ok());
      }
      Put("before");
      {
        const FailingMemory failing(first, GetParam());
        try {
          call();
        } catch (const std::bad_alloc&) {
        }
        failed = failing.has_failed();
      }
      const std::string value = Value();
      ASSERT_NE(std::find(values.begin(), values.end(), value), values.end())
          << value << " at allocation " << first;
      if (first % 16 != 0) continue;
      Open();
      ASSERT_EQ(Value(), value) << "after opening, at allocation " << first;
    }
    ASSERT_FALSE(failed);
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1'000'000);
  TemporaryDirectory directory_;
  StoreOptions options_;
  std::unique_ptr<ControlledStore> store_;
};

TEST_P(LocalMemoryTest, Put) {
  Try([this] { static_cast<void>(store_->Mutate(Root(), Table(), PutOf("after"))); },
      {"before", "after"});
}

TEST_P(LocalMemoryTest, Delete) {
  cellfs::Delete remove{.row = "r", .markers = {}};
  remove.markers.push_back({CellType::kDeleteColumn, "f", "q", kLatestTimestamp});
  const RowMutations mutations = RowMutations::Of(remove);
  Try([&] { static_cast<void>(store_->Mutate(Root(), Table(), mutations)); },
      {"before", "(none)"});
}

TEST_P(LocalMemoryTest, Append) {
  Append append{.row = "r", .cells = {{"f", "q", "+"}}};
  const RowMutations mutations = RowMutations::Of(append);
  Try([&] { static_cast<void>(store_->Mutate(Root(), Table(), mutations)); },
      {"before", "before+"});
}

TEST_P(LocalMemoryTest, Scan) {
  Try(
      [this] {
        auto scanner = store_->OpenScanner(Root(), Table(), cellfs::Scan());
        if (scanner.ok()) static_cast<void>((*scanner)->Next({}));
      },
      {"before"});
}

TEST_P(LocalMemoryTest, FlushAndRead) {
  Try(
      [this] {
        static_cast<void>(store_->Flush(Root(), Table()));
        static_cast<void>(Value());
      },
      {"before"});
}

TEST_P(LocalMemoryTest, Compaction) {
  Try(
      [this] {
        static_cast<void>(store_->Flush(Root(), Table()));
        static_cast<void>(store_->Compact(Root(), Table(), CompactionKind::kMajor));
      },
      {"before"});
}

TEST_P(LocalMemoryTest, Moments) {
  Try(
      [this] {
        const auto moment = store_->PinMoment("");
        if (!moment.ok()) return;
        Get get;
        get.row = "r";
        get.moment = *moment;
        static_cast<void>(store_->Mutate(Root(), Table(), PutOf("after")));
        static_cast<void>(store_->Flush(Root(), Table()));
        static_cast<void>(store_->Read(Root(), Table(), get));
      },
      {"before", "after"});
}

TEST_P(LocalMemoryTest, Statistics) {
  Try([this] { static_cast<void>(store_->GetStatistics()); }, {"before"});
}

INSTANTIATE_TEST_SUITE_P(Failures, LocalMemoryTest, testing::Values(1, kAllFollowing));

}  // namespace
}  // namespace cellfs
