// SPDX-License-Identifier: MIT
//
// Opening, and cells. Tables are in embedded_store_tables.cc, their schemas in
// embedded_store_schemas.cc; namespaces, quotas and rights in embedded_store_rights.cc; flushes,
// compactions and statistics in embedded_store_maintenance.cc.
#include "engine/embedded/embedded_store.h"

#include <algorithm>

#include "engine/catalog/access_control.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_history.h"
#include "engine/catalog/emptied.h"
#include "engine/catalog/space_quotas.h"
#include "engine/catalog/system_tables.h"
#include "engine/table/request_check.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

// A scan asks before each batch whether its table is still there, the same and enabled.
class TableScanner : public Scanner {
 public:
  TableScanner(std::shared_ptr<StorageEngine> engine, std::shared_ptr<TableDirectory> directory,
               std::shared_ptr<const TableHandle> table, bool is_by_id,
               std::unique_ptr<Scanner> scanner)
      : engine_(std::move(engine)),
        directory_(std::move(directory)),
        table_(std::move(table)),
        is_by_id_(is_by_id),
        scanner_(std::move(scanner)) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    CELLFS_RETURN_IF_ERROR(CheckTable());
    return scanner_->Next(batch);
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  Status CheckTable() const {
    if (is_by_id_) return directory_->FindEnabled(table_->id).status();
    const TableName& name = table_->schema->name();
    CELLFS_ASSIGN_OR_RETURN(const auto present, directory_->FindEnabled(name));
    if (present->id == table_->id) return {};
    return {StatusCode::kTableNotFound,
            "table '" + name.ToString() + "' was dropped and made anew during the scan"};
  }

  const std::shared_ptr<StorageEngine> engine_;  // outlives what is below
  const std::shared_ptr<TableDirectory> directory_;
  const std::shared_ptr<const TableHandle> table_;
  const bool is_by_id_;
  const std::unique_ptr<Scanner> scanner_;
};

class EmptyScanner : public Scanner {
 public:
  StatusOr<std::vector<RowCells>> Next(const ScanBatch& /*batch*/) override {
    return std::vector<RowCells>();
  }
  bool at_end() const override { return true; }
};

StatusCode CodeOf(const Status& status) { return status.code(); }
template <typename T>
StatusCode CodeOf(const StatusOr<T>& answer) {
  return answer.status().code();
}

}  // namespace

template <typename Operation>
auto EmbeddedStore::WithRoom(const Operation& operation) {
  auto done = operation();
  while (CodeOf(done) == StatusCode::kStoreFull && MakeRoom(engine_->BytesLackedByPuts()))
    done = operation();
  return done;
}

// Rows that were written are not written again.
std::vector<StatusOr<MutationResult>> EmbeddedStore::BatchWithRoom(
    const std::shared_ptr<Region>& region, const std::vector<RowMutations>& rows) {
  std::vector<StatusOr<MutationResult>> answers = region->Batch(rows);
  while (true) {
    std::vector<size_t> left;
    std::vector<RowMutations> again;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (CodeOf(answers[i]) != StatusCode::kStoreFull) continue;
      left.push_back(i);
      again.push_back(rows[i]);
    }
    if (left.empty() || !MakeRoom(engine_->BytesLackedByPuts())) return answers;
    std::vector<StatusOr<MutationResult>> later = region->Batch(again);
    for (size_t i = 0; i < left.size(); ++i) answers[left[i]] = std::move(later[i]);
  }
}

EmbeddedStore::EmbeddedStore(std::unique_ptr<StorageEngine> engine, StoreOptions options)
    : engine_(std::move(engine)),
      options_(std::move(options)),
      directory_(std::make_shared<TableDirectory>()) {}

StatusOr<std::unique_ptr<ControlledStore>> EmbeddedStore::Open(
    std::unique_ptr<StorageEngine> engine, StoreOptions options) {
  std::unique_ptr<EmbeddedStore> store(new EmbeddedStore(std::move(engine), std::move(options)));
  CELLFS_RETURN_IF_ERROR(store->Load());
  return std::unique_ptr<ControlledStore>(std::move(store));
}

Status EmbeddedStore::Load() {
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<const Catalog> catalog, saver_.Load());
  std::vector<StoredTable> stored;
  for (const auto& [name, table] : catalog->tables)
    stored.push_back({table.id, table.schema, DroppedFamilies(*catalog, name)});
  for (const CatalogDroppedTable& dropped : catalog->dropped_tables)
    stored.push_back({dropped.table.id, dropped.table.schema, DroppedFamilies(dropped)});
  CELLFS_ASSIGN_OR_RETURN(OpenedTables tables,
                          engine_->OpenTables(stored, catalog->next_table_id));
  if (tables.next_id != catalog->next_table_id) {
    auto with_next_id = std::make_shared<Catalog>(*catalog);
    with_next_id->next_table_id = tables.next_id;
    const Status saved = saver_.Save(with_next_id);
    if (!IsInForce(saved) && saved.code() != StatusCode::kReadOnly) return saved;
    catalog = std::move(with_next_id);
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    OpenedTable& opened = opened_[stored[i].id];
    StatusOr<std::shared_ptr<CellStorage>>& storage = tables.storages[i];
    if (storage.ok()) {
      opened.region = MakeRegion(stored[i].schema, *std::move(storage));
    } else {
      opened.unopened = storage.status();
    }
  }
  for (const CatalogDroppedTable& dropped : catalog->dropped_tables) {
    const std::shared_ptr<Region> region = opened_.at(dropped.table.id).region;
    if (region != nullptr) region->Close();
  }
  // The directory outlives the system tables, which it holds: they must not hold it in turn.
  const std::weak_ptr<TableDirectory> directory = directory_;
  for (const auto& schema : SystemTableSchemas()) {
    auto storage = MakeSystemTableStorage(
        schema, [directory] { return directory.lock()->catalog(); }, options_.clock);
    auto handle = std::make_shared<TableHandle>();
    handle->schema = schema;
    handle->region = MakeRegion(schema, std::move(storage));
    system_tables_.emplace(schema->name(), std::move(handle));
  }
  Publish(catalog);
  return {};
}

std::shared_ptr<Region> EmbeddedStore::MakeRegion(std::shared_ptr<const TableSchema> schema,
                                                  std::shared_ptr<CellStorage> storage) {
  return std::make_shared<Region>(std::move(storage), std::move(schema), options_);
}

EmbeddedStore::Act::Act(EmbeddedStore& store)
    : store_(store), lock_(TakeLock(store.admin_mutex_)) {}

// What could not be removed goes when the store is opened next.
EmbeddedStore::Act::~Act() {
  const std::vector<TableId> dropped = std::exchange(store_.dropped_, {});
  lock_.unlock();
  for (const TableId id : dropped) static_cast<void>(store_.engine_->DropTable(id));
}

Status EmbeddedStore::Commit(Catalog catalog, TableId forgotten) {
  const Timestamp now = Now();
  const Snapshot<Catalog> before = directory_->catalog();
  NotePast(*before, now, catalog);
  if (forgotten != 0) ForgetPast(forgotten, catalog);
  PrunePast(now, catalog);
  PruneEmptied(catalog);
  auto changed = std::make_shared<Catalog>(std::move(catalog));
  Status saved = saver_.Save(changed);
  if (IsInForce(saved)) Publish(changed);
  return saved;
}

std::shared_ptr<TableHandle> EmbeddedStore::MakeHandle(const CatalogTable& table) const {
  const OpenedTable& opened = opened_.at(table.id);
  auto handle = std::make_shared<TableHandle>();
  handle->id = table.id;
  handle->schema = table.schema;
  handle->region = opened.region;
  handle->unopened = opened.unopened;
  return handle;
}

void EmbeddedStore::Publish(const std::shared_ptr<const Catalog>& catalog) {
  static const Catalog kNothing;
  const Snapshot<Catalog> in_force = directory_->catalog();
  const Catalog& before = in_force != nullptr ? *in_force : kNothing;
  TableDirectory::Change change;
  if (in_force == nullptr) change.tables = system_tables_;
  const auto put = [&](const TableName& name) {
    const auto table = catalog->tables.find(name);
    if (table == catalog->tables.end()) return;
    auto handle = MakeHandle(table->second);
    handle->enabled = table->second.enabled;
    if (const auto found = catalog->violations.find(name); found != catalog->violations.end())
      handle->violation = found->second;
    change.tables.insert_or_assign(name, std::move(handle));
  };
  const auto tables = ChangeOf(before.tables, catalog->tables);
  for (const TableName* const name : tables.gone) change.gone.push_back(*name);
  for (const auto* const entry : tables.entries) put(entry->first);
  const auto violations = ChangeOf(before.violations, catalog->violations);
  for (const TableName* const name : violations.gone) put(*name);
  for (const auto* const entry : violations.entries) put(entry->first);
  const ListChange dropped = ChangeOf(before.dropped_tables, catalog->dropped_tables);
  for (const size_t place : dropped.gone)
    change.gone_dropped.push_back(before.dropped_tables[place].table.id);
  for (const size_t place : dropped.came)
    change.dropped.push_back(MakeHandle(catalog->dropped_tables[place].table));
  directory_->Replace(catalog, std::move(change));
}

// ---- Cells ------------------------------------------------------------------------------------

Status EmbeddedStore::Require(const Caller& caller, std::string_view rights,
                              const GrantScope& scope) const {
  if (!options_.site.authorization) return {};
  const Snapshot<Catalog> catalog = directory_->catalog();
  return RequireRight(*catalog, caller, rights, scope);
}

Status EmbeddedStore::RequireWriteAndSpace(const Caller& caller, const TableName& table,
                                           const TableHandle& handle,
                                           const RowMutations& mutations) const {
  if (options_.site.authorization) {
    const Snapshot<Catalog> catalog = directory_->catalog();
    CELLFS_RETURN_IF_ERROR(RequireWrite(*catalog, caller, *handle.schema, mutations));
  }
  return CheckSpace(table, handle.violation, mutations);
}

template <typename Q>
StatusOr<std::optional<Q>> EmbeddedStore::Restricted(const Caller& caller,
                                                     const TableHandle& handle,
                                                     const Q& query) const {
  if (!options_.site.authorization || IsReadableByAll(handle.schema->name())) {
    return std::optional<Q>();
  }
  const Snapshot<Catalog> catalog = directory_->catalog();
  CELLFS_ASSIGN_OR_RETURN(FilterPtr filter, RequireRead(*catalog, caller, *handle.schema, query));
  if (filter == query.filter) return std::optional<Q>();
  std::optional<Q> restricted = query;
  restricted->filter = std::move(filter);
  return restricted;
}

StatusOr<std::shared_ptr<const TableHandle>> EmbeddedStore::FindToRead(const TableName& table,
                                                                       const Query& query) const {
  if (query.table_id == 0) return directory_->FindEnabled(table);
  auto handle = directory_->FindEnabled(query.table_id);
  if (handle.status().code() != StatusCode::kTableNotFound) return handle;
  const Snapshot<Catalog> catalog = directory_->catalog();
  const auto& past = catalog->past_tables;
  const bool was_empty = std::any_of(past.begin(), past.end(), [&](const auto& state) {
    return state.state.id == query.table_id;
  });
  if (was_empty) return std::shared_ptr<const TableHandle>();
  // Not that it is not there: it was, and who reads on in it shall not take it for empty.
  return Status(StatusCode::kUnavailable, "the table was dropped since, and is not kept");
}

StatusOr<RowCells> EmbeddedStore::Read(const Caller& caller, const TableName& table,
                                       const Get& get) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, FindToRead(table, get));
  if (handle == nullptr) return RowCells();
  CELLFS_ASSIGN_OR_RETURN(const auto restricted, Restricted(caller, *handle, get));
  return handle->region->Read(restricted ? *restricted : get);
}

StatusOr<std::unique_ptr<Scanner>> EmbeddedStore::OpenScanner(const Caller& caller,
                                                              const TableName& table,
                                                              const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(auto handle, FindToRead(table, scan));
  if (handle == nullptr) return std::unique_ptr<Scanner>(std::make_unique<EmptyScanner>());
  CELLFS_ASSIGN_OR_RETURN(const auto restricted, Restricted(caller, *handle, scan));
  CELLFS_ASSIGN_OR_RETURN(auto scanner,
                          handle->region->OpenScanner(restricted ? *restricted : scan));
  return std::unique_ptr<Scanner>(std::make_unique<TableScanner>(
      engine_, directory_, std::move(handle), scan.table_id != 0, std::move(scanner)));
}

StatusOr<MutationResult> EmbeddedStore::Mutate(const Caller& caller, const TableName& table,
                                               const RowMutations& mutations) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  CELLFS_RETURN_IF_ERROR(RequireWriteAndSpace(caller, table, *handle, mutations));
  return WithRoom([&] { return handle->region->Mutate(mutations); });
}

StatusOr<CheckAndMutateResult> EmbeddedStore::CheckAndMutate(const Caller& caller,
                                                             const TableName& table,
                                                             const cellfs::CheckAndMutate& check) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  CELLFS_RETURN_IF_ERROR(CheckSpace(table, handle->violation, check.action));
  if (!options_.site.authorization)
    return WithRoom([&] { return handle->region->CheckAndMutate(check, nullptr); });
  const Snapshot<Catalog> catalog = directory_->catalog();
  CELLFS_ASSIGN_OR_RETURN(FilterPtr filter,
                          RequireCheck(*catalog, caller, *handle->schema, check));
  const auto may_act = [&] {
    const Snapshot<Catalog> present = directory_->catalog();
    return RequireWrite(*present, caller, *handle->schema, check.action);
  };
  const auto* asked = std::get_if<FilterPtr>(&check.condition);
  if (asked == nullptr || *asked == filter)
    return WithRoom([&] { return handle->region->CheckAndMutate(check, may_act); });
  cellfs::CheckAndMutate restricted = check;
  restricted.condition = std::move(filter);
  return WithRoom([&] { return handle->region->CheckAndMutate(restricted, may_act); });
}

std::vector<StatusOr<MutationResult>> EmbeddedStore::Batch(const Caller& caller,
                                                           const TableName& table,
                                                           const std::vector<RowMutations>& rows) {
  const auto handle = directory_->FindEnabled(table);
  if (!handle.ok()) return std::vector<StatusOr<MutationResult>>(rows.size(), handle.status());
  std::vector<Status> refusals;
  bool refused = false;
  for (const RowMutations& row : rows) {
    refusals.push_back(RequireWriteAndSpace(caller, table, **handle, row));
    refused |= !refusals.back().ok();
  }
  const auto send = [&](const std::vector<RowMutations>& sent) {
    return BatchWithRoom((*handle)->region, sent);
  };
  if (!refused) return send(rows);

  std::vector<RowMutations> allowed;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (refusals[i].ok()) allowed.push_back(rows[i]);
  }
  std::vector<StatusOr<MutationResult>> results = send(allowed);
  std::vector<StatusOr<MutationResult>> answers;
  answers.reserve(refusals.size());
  auto next = results.begin();
  for (Status& refusal : refusals) {
    answers.push_back(refusal.ok() ? std::move(*next++) : std::move(refusal));
  }
  return answers;
}

Status EmbeddedStore::CheckMayPut(const Caller& caller, const TableName& table,
                                  const PutToCome& put) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  CELLFS_RETURN_IF_ERROR(CheckFamilyExists(*handle->schema, put.family));
  if (handle->schema->read_only())
    return {StatusCode::kReadOnly, "table '" + table.ToString() + "' is READONLY"};
  if (options_.site.authorization) {
    CELLFS_RETURN_IF_ERROR(Require(
        caller, "W", {"", table, std::string(put.family), std::string(put.qualifier)}));
  }
  if (put.bytes > 0) CELLFS_RETURN_IF_ERROR(CheckRoomIn(table, *handle, put.bytes));
  if (!put.above_column) return {};
  return handle->region->CheckTimestampLeft(put.row, put.family, put.qualifier);
}

Status EmbeddedStore::CheckMayMutate(const Caller& caller, const TableName& table,
                                     const RowMutations& mutations) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  CELLFS_RETURN_IF_ERROR(RequireWriteAndSpace(caller, table, *handle, mutations));
  return handle->region->CheckMayMutate(mutations);
}

Status EmbeddedStore::CheckMayAlter(const Caller& caller, const GrantScope& scope) {
  return scope.table ? Require(caller, "AC", scope) : Require(caller, "A", GlobalScope());
}

Status EmbeddedStore::CheckMayPutWithin(const Caller& caller, const GrantScope& scope) {
  if (!options_.site.authorization) return {};
  const Snapshot<Catalog> catalog = directory_->catalog();
  return RequireRightWithin(*catalog, caller, "W", scope);
}

Status EmbeddedStore::CheckRoom(const TableName& table, uint64_t bytes) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->FindEnabled(table));
  return CheckRoomIn(table, *handle, bytes);
}

Status EmbeddedStore::CheckRoomIn(const TableName& table, const TableHandle& handle,
                                  uint64_t bytes) {
  if (handle.violation) return SpaceLimiting(table, *handle.violation);
  return WithRoom([&] { return handle.region->CheckRoom(bytes); });
}

Status EmbeddedStore::CheckValueSize(const std::string& row, const std::string& family,
                                     const std::string& qualifier, uint64_t bytes) {
  return CheckCellSize(row, family, qualifier, bytes, options_.site);
}

}  // namespace cellfs
