// SPDX-License-Identifier: MIT
//
// Fixtures that open an empty store of each kind in turn: StoreOfKind one in this process, with a
// clock set by hand and without background work; AnyStore also a cluster, which has neither.
#ifndef CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_
#define CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/hbase/hbase_store.h"
#include "engine/obkv/obkv_store.h"
#include "engine/open.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_cluster.h"
#include "tests/support/test_database.h"

namespace cellfs {

enum class Kind { kMemory, kLocal, kCluster, kDatabase };

inline StatusOr<std::unique_ptr<ControlledStore>> OpenStoreOfKind(
    Kind kind, const std::string& directory, const std::shared_ptr<const Clock>& clock) {
  StoreOptions options;
  options.clock = clock;
  options.background_maintenance = false;
  options.durability = Durability::kAsyncWal;
  if (kind == Kind::kMemory) return OpenMemoryStore(options);
  return OpenLocalStore(directory, options);
}

class StoreOfKind : public testing::TestWithParam<Kind> {
 protected:
  explicit StoreOfKind(Timestamp now) : clock_(std::make_shared<ManualClock>(now)) {}

  void SetUp() override {
    auto opened = OpenStoreOfKind(GetParam(), directory_.path(), clock_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }

  const std::shared_ptr<ManualClock> clock_;
  TemporaryDirectory directory_;
  std::unique_ptr<ControlledStore> store_;  // closed before its directory goes
};

// The cluster is the one that CELLFS_TEST_CLUSTER names by one of its servers, "host:port", the
// database that of CELLFS_TEST_DATABASE; what the tests leave there is removed by the next.
class AnyStore : public testing::TestWithParam<Kind> {
 protected:
  explicit AnyStore(Timestamp now) : clock_(std::make_shared<ManualClock>(now)) {}

  void SetUp() override {
    if (GetParam() == Kind::kCluster) return OpenCluster();
    if (GetParam() == Kind::kDatabase) return OpenDatabase();
    auto opened = OpenStoreOfKind(GetParam(), directory_.path(), clock_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }

  const std::shared_ptr<ManualClock> clock_;  // of a store whose cells this process stamps
  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;

 private:
  void OpenCluster() {
    const auto options = TestCluster();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_CLUSTER names no cluster";
    auto opened = hbase::HBaseStore::Open(*options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
    RemoveTables();
  }
  void OpenDatabase() {
    const auto options = TestDatabase();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_DATABASE names no database";
    StoreOptions store_options;
    store_options.clock = clock_;
    auto opened = obkv::ObkvStore::Open(*options, store_options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
    RemoveTables();
  }
  void RemoveTables() {
    const auto tables = store_->ListTables(std::string(kDefaultNamespace));
    ASSERT_TRUE(tables.ok()) << tables.status().ToString();
    for (const TableName& table : *tables) {
      const Status disabled = store_->DisableTable(Caller::Superuser(), table);
      ASSERT_TRUE(disabled.ok() || disabled.code() == StatusCode::kTableNotEnabled);
      ASSERT_TRUE(store_->DropTable(Caller::Superuser(), table).ok());
    }
  }
};

inline std::string NameOfKind(const testing::TestParamInfo<Kind>& kind) {
  switch (kind.param) {
    case Kind::kMemory: return "Memory";
    case Kind::kLocal: return "Local";
    case Kind::kCluster: return "Cluster";
    case Kind::kDatabase: return "Database";
  }
  return "";
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_CONTRACT_STORE_OF_KIND_H_
