// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_saver.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/catalog/catalog_json.h"
#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

class CatalogSaverTest : public testing::Test {
 protected:
  CatalogSaverTest() {
    const auto loaded = saver_.Load();
    EXPECT_TRUE(loaded.ok());
    catalog_ = **loaded;
  }
  // One act more.
  StatusCode Save(size_t bytes = 0) {
    const auto after = std::make_shared<Catalog>(catalog_);
    ++after->next_table_id;
    after->freed_early = {std::string(bytes, 'x')};
    const Status saved = saver_.Save(after);
    if (IsInForce(saved)) catalog_ = *after;
    return saved.code();
  }
  size_t Edits() const { return state_->catalog.edits.size(); }
  void ExpectSaved() {
    const auto stored = DecodeCatalog(state_->catalog);
    ASSERT_TRUE(stored.ok());
    EXPECT_EQ(EncodeCatalog(*stored), EncodeCatalog(catalog_));
  }

  const std::shared_ptr<StoredState> state_ = std::make_shared<StoredState>();
  FaultyEngine engine_{state_, StoreOptions()};
  CatalogSaver saver_{engine_};
  Catalog catalog_;
};

TEST_F(CatalogSaverTest, EditsBecomeADocumentWhereTheyAreMany) {
  EXPECT_EQ(Save(), StatusCode::kOk);
  EXPECT_EQ(Edits(), 1u);
  EXPECT_EQ(state_->catalog.document, "");
  ExpectSaved();
  EXPECT_EQ(Save(CatalogSaver::kFewestEditBytes), StatusCode::kOk);
  EXPECT_EQ(Edits(), 0u);
  ExpectSaved();
  EXPECT_EQ(Save(), StatusCode::kOk);
  EXPECT_EQ(Edits(), 1u);
  ExpectSaved();
}

TEST_F(CatalogSaverTest, NoTwoDocumentsAreTheSame) {
  const auto save = [&](const std::string& why) {
    const auto catalog = std::make_shared<Catalog>(NewCatalog());
    catalog->freed_early = {why};
    EXPECT_TRUE(saver_.Save(catalog).ok());
    EXPECT_EQ(Edits(), 0u);
    return state_->catalog.document;
  };
  const std::string large(CatalogSaver::kFewestEditBytes, 'x');
  const std::string first = save(large);
  save(large + "y");
  EXPECT_NE(save(large), first);
}

// A full disk that has no room for the document may have some for what a drop changes.
TEST_F(CatalogSaverTest, WhereADocumentDoesNotFitAnEditIsSaved) {
  int saves = 0;
  state_->on_save = [&] {
    state_->save_error = ++saves == 1 ? Status(StatusCode::kStoreFull, "full") : Status();
  };
  EXPECT_EQ(Save(CatalogSaver::kFewestEditBytes), StatusCode::kOk);
  EXPECT_EQ(Edits(), 1u);
  ExpectSaved();
}

// Power loss may bring back the document before, for which later edits would not be.
TEST_F(CatalogSaverTest, AfterADocumentOfUnknownOutcomeComesADocument) {
  state_->save_error = {StatusCode::kOutcomeUnknown, "not synced"};
  EXPECT_EQ(Save(CatalogSaver::kFewestEditBytes), StatusCode::kOutcomeUnknown);
  EXPECT_EQ(Save(), StatusCode::kOutcomeUnknown);
  state_->save_error = {StatusCode::kStoreFull, "full"};
  EXPECT_EQ(Save(), StatusCode::kStoreFull);
  state_->save_error = {};
  EXPECT_EQ(Save(), StatusCode::kOk);
  EXPECT_EQ(Edits(), 0u);
  ExpectSaved();
  EXPECT_EQ(Save(), StatusCode::kOk);
  EXPECT_EQ(Edits(), 1u);
  ExpectSaved();
}

}  // namespace
}  // namespace cellfs
