// SPDX-License-Identifier: MIT
//
// The catalog is in place and the sync of its directory fails: what is in force is what the next
// opening finds, for an acknowledged write would go with a table that the catalog does not name.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/embedded/embedded_store.h"
#include "engine/local/local_engine.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

const TableName kTable = ParseTableName("t");

TableSchema Schema(const std::vector<std::string>& families) {
  TableSchema schema(kTable);
  for (const std::string& family : families) schema.families.emplace(family, FamilySchema(family));
  return schema;
}

class CatalogSyncTest : public testing::Test {
 protected:
  using Act = std::function<Status()>;

  void Open() {
    store_.reset();
    StoreOptions options;
    options.background_maintenance = false;
    auto engine = LocalEngine::Open(directory_.path() + "/store", options, files_);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    auto store = EmbeddedStore::Open(*std::move(engine), options);
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    store_ = *std::move(store);
  }
  // The last sync of the act, which is that of the directory, fails.
  void ExpectUnknown(const Act& act, const Act& undo) {
    int changes = 0;
    int last_sync = 0;
    files_.SetChangeHook([&] { return ++changes, false; });
    files_.SetSyncedHook([&](const std::string&) { last_sync = changes; });
    ASSERT_TRUE(act().ok());
    files_.SetChangeHook(nullptr);
    files_.SetSyncedHook(nullptr);
    ASSERT_TRUE(undo().ok());
    files_.FailNth(last_sync);
    EXPECT_EQ(act().code(), StatusCode::kOutcomeUnknown);
    EXPECT_TRUE(files_.failed());
    files_.FailNth(0);
  }
  Status Put(const std::string& family, const std::string& value) {
    cellfs::Put put{"r", {{family, "q", kLatestTimestamp, value, {}}}};
    return store_->Mutate(root_, kTable, RowMutations::Of(std::move(put))).status();
  }
  std::string Value(const std::string& family) {
    Get get;
    get.row = "r";
    get.columns[family] = {"q"};
    const auto cells = store_->Read(root_, kTable, get);
    if (!cells.ok()) return cells.status().ToString();
    return cells->empty() ? "none" : cells->front().value;
  }

  const Caller& root_ = Caller::Superuser();
  TemporaryDirectory directory_;
  FaultyFiles files_;
  std::unique_ptr<Store> store_;
};

TEST_F(CatalogSyncTest, ATableThatWasMadeSoTakesWritesAndKeepsThem) {
  Open();
  ExpectUnknown([&] { return store_->CreateTable(root_, Schema({"f"})); },
                [&] {
                  const Status disabled = store_->DisableTable(root_, kTable);
                  return disabled.ok() ? store_->DropTable(root_, kTable) : disabled;
                });
  ASSERT_TRUE(Put("f", "kept").ok());
  Open();
  EXPECT_EQ(Value("f"), "kept");
}

TEST_F(CatalogSyncTest, ATableThatWasDroppedSoTakesNoWrites) {
  Open();
  ASSERT_TRUE(store_->CreateTable(root_, Schema({"f"})).ok());
  ExpectUnknown([&] { return store_->DropEmptyTable(root_, kTable).status(); },
                [&] { return store_->CreateTable(root_, Schema({"f"})); });
  EXPECT_EQ(Put("f", "lost").code(), StatusCode::kTableNotFound);
  Open();
  EXPECT_EQ(Put("f", "lost").code(), StatusCode::kTableNotFound);
}

TEST_F(CatalogSyncTest, AFamilyThatWasAddedSoTakesWritesAndKeepsThem) {
  Open();
  ASSERT_TRUE(store_->CreateTable(root_, Schema({"f"})).ok());
  ExpectUnknown(
      [&] {
        return store_->AlterTable(root_, Schema({"f", "g"}));
      },
      [&] { return store_->AlterTable(root_, Schema({"f"})); });
  ASSERT_TRUE(Put("g", "kept").ok());
  Open();
  EXPECT_EQ(Value("g"), "kept");
}

}  // namespace
}  // namespace cellfs
