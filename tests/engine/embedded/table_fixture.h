// SPDX-License-Identifier: MIT
//
// A store over the memory engine whose catalog can refuse to be saved and whose tables can refuse
// to open, and short words for what the tests of administration say.
#ifndef CELLFS_TESTS_ENGINE_EMBEDDED_TABLE_FIXTURE_H_
#define CELLFS_TESTS_ENGINE_EMBEDDED_TABLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/embedded/embedded_store.h"
#include "engine/memory/memory_engine.h"

namespace cellfs {

// Outlives the stores that are opened over it, as a directory does.
struct StoredState {
  SavedCatalog catalog;
  Status save_error;
  Status open_error;              // of every table
  std::function<void()> on_save;  // while an act is under way
  std::function<Status()> on_apply;   // before cells are written
  std::function<Status()> on_create;  // before a table is made
  std::function<Status()> on_compact;  // before a compaction
  std::function<void()> on_flush;     // before a flush
  uint64_t lacked = 0;                // of room, by the last put or compaction
  std::vector<TableId> created;
  std::vector<TableId> dropped;
};

// Hands on, but for writes that `on_apply` refuses.
class FaultyStorage : public CellStorage {
 public:
  FaultyStorage(std::shared_ptr<StoredState> state, std::shared_ptr<CellStorage> inner)
      : state_(std::move(state)), inner_(std::move(inner)) {}

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override { return inner_->Read(get, now); }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    return inner_->OpenScanner(scan);
  }
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override {
    return inner_->ReadColumnHead(row, family, qualifier);
  }
  Timestamp NewestTimestamp() const override { return inner_->NewestTimestamp(); }
  StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) override {
    if (state_->on_apply) CELLFS_RETURN_IF_ERROR(state_->on_apply());
    return inner_->Apply(batches, room);
  }
  Status CheckRoom(uint64_t bytes) override {
    if (state_->on_apply) CELLFS_RETURN_IF_ERROR(state_->on_apply());
    return inner_->CheckRoom(bytes);
  }
  Status Flush() override {
    if (state_->on_flush) state_->on_flush();
    return inner_->Flush();
  }
  Status Compact(CompactionKind kind) override {
    if (state_->on_compact) CELLFS_RETURN_IF_ERROR(state_->on_compact());
    return inner_->Compact(kind);
  }
  Status CompactSelected() override { return inner_->CompactSelected(); }
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override {
    return inner_->ReplaceSchema(std::move(schema));
  }
  Status Truncate() override { return inner_->Truncate(); }
  TableStatistics GetStatistics() override { return inner_->GetStatistics(); }

 private:
  const std::shared_ptr<StoredState> state_;
  const std::shared_ptr<CellStorage> inner_;
};

class FaultyEngine : public StorageEngine {
 public:
  FaultyEngine(std::shared_ptr<StoredState> state, const StoreOptions& options)
      : state_(std::move(state)), inner_(MakeMemoryEngine(options)) {}

  StatusOr<SavedCatalog> LoadCatalog() override { return state_->catalog; }
  Status SaveCatalog(std::string_view document) override {
    if (state_->on_save) state_->on_save();
    CELLFS_RETURN_IF_ERROR(state_->save_error);
    state_->catalog = {std::string(document), {}};
    return {};
  }
  Status SaveCatalogEdit(std::string_view edit) override {
    if (state_->on_save) state_->on_save();
    CELLFS_RETURN_IF_ERROR(state_->save_error);
    state_->catalog.edits.emplace_back(edit);
    return {};
  }
  StatusOr<OpenedTables> OpenTables(const std::vector<StoredTable>& tables,
                                    TableId next_id) override {
    if (state_->open_error.ok()) return inner_->OpenTables(tables, next_id);
    OpenedTables opened{{}, next_id};
    opened.storages.assign(tables.size(), state_->open_error);
    return opened;
  }
  StatusOr<std::shared_ptr<CellStorage>> CreateTable(const StoredTable& table) override {
    if (state_->on_create) CELLFS_RETURN_IF_ERROR(state_->on_create());
    state_->created.push_back(table.id);
    CELLFS_ASSIGN_OR_RETURN(auto storage, inner_->CreateTable(table));
    return std::shared_ptr<CellStorage>(
        std::make_shared<FaultyStorage>(state_, std::move(storage)));
  }
  Status DropTable(TableId id) override {
    state_->dropped.push_back(id);
    return inner_->DropTable(id);
  }
  Status Sync() override { return {}; }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override {
    return inner_->PinMoment(holder);
  }
  uint64_t BytesLackedByPuts() const override { return state_->lacked; }
  uint64_t TakeBytesLackedByCompactions() override { return state_->lacked; }
  void SetMaintenancePaused(bool) override {}
  void SetCacheBytes(int64_t) override {}
  void SetRewriteObserver(RewriteObserver* observer) override {
    inner_->SetRewriteObserver(observer);
  }
  Statistics GetStatistics() override { return inner_->GetStatistics(); }

 private:
  const std::shared_ptr<StoredState> state_;
  const std::unique_ptr<StorageEngine> inner_;
};

class TableFixture : public ::testing::Test {
 protected:
  TableFixture() {
    options_.clock = clock_;
    Reopen();
  }

  void Reopen() {
    store_.reset();
    auto opened = EmbeddedStore::Open(std::make_unique<FaultyEngine>(state_, options_), options_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }
  void TurnAuthorizationOn() {
    options_.site.authorization = true;
    Reopen();
  }

  static TableSchema Schema(std::string_view table, std::vector<std::string> families = {"f"}) {
    TableSchema schema(ParseTableName(table));
    for (const std::string& name : families) schema.families.emplace(name, FamilySchema(name));
    return schema;
  }
  static RowMutations PutOf(const std::string& column, const std::string& value) {
    return RowMutations::Of(Put{"r", {Named(column, value)}});
  }
  static PutCell Named(const std::string& column, const std::string& value) {
    const size_t colon = column.find(':');
    return {column.substr(0, colon), column.substr(colon + 1), kLatestTimestamp, value};
  }

  StatusCode Create(std::string_view table, std::vector<std::string> families = {"f"}) {
    return store_->CreateTable(root_, Schema(table, std::move(families))).code();
  }
  StatusCode PutAs(const std::string& user, std::string_view table, const std::string& column,
                   const std::string& value = "v") {
    return store_->Mutate({user}, ParseTableName(table), PutOf(column, value)).status().code();
  }
  StatusCode DeleteRow(std::string_view table, const std::string& user = "") {
    const RowMutations mutation = RowMutations::Of(Delete{"r"});
    return store_->Mutate({user}, ParseTableName(table), mutation).status().code();
  }
  // "f:q=v f:r=w" of row "r", or the code's name.
  std::string Get(std::string_view table, Columns columns = {}, const std::string& user = "") {
    cellfs::Get get;
    get.row = "r";
    get.columns = std::move(columns);
    const auto cells = store_->Read({user}, ParseTableName(table), get);
    if (!cells.ok()) return std::string(CodeName(cells.status().code()));
    std::string text;
    for (const Cell& cell : *cells) {
      text += (text.empty() ? "" : " ") + cell.family + ":" + cell.qualifier + "=" + cell.value;
    }
    return text;
  }
  StatusCode GrantTo(const std::string& user, const std::string& letters, GrantScope scope,
                     const std::string& by = "") {
    return store_->GrantPermissions({by}, {user, std::move(scope), letters}, true).code();
  }

  const Caller root_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1000000);
  const std::shared_ptr<StoredState> state_ = std::make_shared<StoredState>();
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_EMBEDDED_TABLE_FIXTURE_H_
