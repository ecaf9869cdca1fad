// SPDX-License-Identifier: MIT
//
// A fixture that opens an empty store of each kind in turn, with a clock set by hand and without
// background work.
#ifndef CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_
#define CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/open.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {

enum class Kind { kMemory, kLocal };

class StoreOfKind : public testing::TestWithParam<Kind> {
 protected:
  explicit StoreOfKind(Timestamp now) : clock_(std::make_shared<ManualClock>(now)) {}

  void SetUp() override {
    StoreOptions options;
    options.clock = clock_;
    options.background_maintenance = false;
    options.durability = Durability::kAsyncWal;
    if (GetParam() == Kind::kMemory) {
      store_ = OpenMemoryStore(options);
      return;
    }
    auto opened = OpenLocalStore(directory_.path(), options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }

  const std::shared_ptr<ManualClock> clock_;
  TemporaryDirectory directory_;
  std::unique_ptr<LocalStore> store_;  // closed before its directory goes
};

inline std::string NameOfKind(const testing::TestParamInfo<Kind>& kind) {
  return kind.param == Kind::kMemory ? "Memory" : "Local";
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_
