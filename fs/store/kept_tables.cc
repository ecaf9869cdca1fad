// SPDX-License-Identifier: MIT
#include "fs/store/kept_tables.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cellfs::fs {
namespace {

class EmptyScanner : public Scanner {
 public:
  StatusOr<std::vector<RowCells>> Next(const ScanBatch& /*batch*/) override {
    return std::vector<RowCells>();
  }
  bool at_end() const override { return true; }
};

Status CheckNamesNoFamily(const Query& query, const TableName& table) {
  if (query.columns.empty()) return {};
  return {StatusCode::kNoSuchColumnFamily, "family '" + query.columns.begin()->first +
                                               "' of table '" + table.ToString() +
                                               "' does not exist"};
}

Status Exists(const TableName& table) {
  return {StatusCode::kTableExists, "table '" + table.ToString() + "' exists"};
}

Status CheckIsDisabled(bool is_enabled, const TableName& table) {
  if (!is_enabled) return {};
  return {StatusCode::kTableNotDisabled, "table '" + table.ToString() + "' is enabled"};
}

}  // namespace

// ---- What is kept -------------------------------------------------------------------------------

KeptTables::KeptPtr KeptTables::Find(const TableName& table) const {
  if (count_.load() == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(table);
  return found == kept_.end() ? nullptr : found->second;
}

std::vector<TableName> KeptTables::KeptIn(const std::string& namespace_name) const {
  std::vector<TableName> tables;
  if (count_.load() == 0) return tables;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, kept] : kept_) {
    if (name.namespace_name == namespace_name) tables.push_back(name);
  }
  return tables;
}

Status KeptTables::Keep(const TableSchema& schema, std::shared_ptr<MadeDirectory> counted) {
  const TableName& table = schema.name();
  CELLFS_RETURN_IF_ERROR(CheckTableName(table));
  CELLFS_RETURN_IF_ERROR(inner().DescribeNamespace(table.namespace_name).status());
  const Status described = inner().DescribeTable(table).status();
  if (described.ok()) return Exists(table);
  if (described.code() != StatusCode::kTableNotFound) return described;
  auto kept = std::make_shared<const KeptTable>(
      KeptTable{std::make_shared<const TableSchema>(schema), true, {}, std::move(counted)});
  const std::lock_guard lock(mutex_);
  if (!kept_.try_emplace(table, std::move(kept)).second) return Exists(table);
  ++count_;
  return {};
}

void KeptTables::Replace(const KeptPtr& kept, KeptTable by) {
  auto replacement = std::make_shared<const KeptTable>(std::move(by));
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(kept->schema->name());
  if (found != kept_.end() && found->second == kept) found->second = std::move(replacement);
}

void KeptTables::Forget(const KeptPtr& kept) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(kept->schema->name());
  if (found == kept_.end() || found->second != kept) return;
  kept_.erase(found);
  --count_;
}

Status KeptTables::Tell(const TableName& table, Status done) const {
  if (tell_of_made_) tell_of_made_(table);
  return done;
}

Status KeptTables::BecomeOf(const Caller& caller, const KeptPtr& kept, TableSchema schema) {
  if (schema.families.empty()) {
    KeptTable changed = *kept;
    changed.schema = std::make_shared<const TableSchema>(std::move(schema));
    Replace(kept, std::move(changed));
    return {};
  }
  const TableName& table = schema.name();
  const SeenTables::Making making(seen_, table);
  const Status made = inner().CreateTable(caller, schema);
  if (made.ok() || made.code() == StatusCode::kTableExists) Forget(kept);
  CELLFS_RETURN_IF_ERROR(made);
  CELLFS_RETURN_IF_ERROR(Tell(table, made));
  if (kept->quota) {
    CELLFS_RETURN_IF_ERROR(inner().SetTableSpaceQuota(caller, table, kept->quota));
  }
  return kept->is_enabled ? Status() : inner().DisableTable(caller, table);
}

// ---- Cells --------------------------------------------------------------------------------------

StatusOr<RowCells> KeptTables::Read(const Caller& caller, const TableName& table,
                                    const Get& get) {
  if (Find(table) == nullptr) return inner().Read(caller, table, get);
  CELLFS_RETURN_IF_ERROR(CheckNamesNoFamily(get, table));
  return RowCells();
}

StatusOr<std::unique_ptr<Scanner>> KeptTables::OpenScanner(const Caller& caller,
                                                           const TableName& table,
                                                           const Scan& scan) {
  if (Find(table) == nullptr) return inner().OpenScanner(caller, table, scan);
  CELLFS_RETURN_IF_ERROR(CheckNamesNoFamily(scan, table));
  return std::unique_ptr<Scanner>(std::make_unique<EmptyScanner>());
}

// ---- Namespaces and tables ----------------------------------------------------------------------

Status KeptTables::DropNamespace(const Caller& caller, const std::string& name) {
  if (KeptIn(name).empty()) return inner().DropNamespace(caller, name);
  return {StatusCode::kConstraint, "namespace '" + name + "' has tables"};
}

Status KeptTables::CreateTable(const Caller& caller, const TableSchema& schema) {
  if (Find(schema.name()) != nullptr) return Exists(schema.name());
  const SeenTables::Making making(seen_, schema.name());
  return inner().CreateTable(caller, schema);
}

Status KeptTables::AlterTable(const Caller& caller, const TableSchema& schema) {
  const KeptPtr kept = Find(schema.name());
  if (kept == nullptr) return inner().AlterTable(caller, schema);
  TableSchema altered = schema;
  altered.split_keys = kept->schema->split_keys;
  return BecomeOf(caller, kept, std::move(altered));
}

Status KeptTables::RecreateTable(const Caller& caller, const TableSchema& schema) {
  const KeptPtr kept = Find(schema.name());
  if (kept == nullptr) {
    const SeenTables::Making making(seen_, schema.name());
    CELLFS_RETURN_IF_ERROR(Tell(schema.name(), {}));
    return Tell(schema.name(), inner().RecreateTable(caller, schema));
  }
  return BecomeOf(caller, kept, schema);
}

Status KeptTables::SplitTable(const Caller& caller, const TableName& table,
                              const std::string& key) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().SplitTable(caller, table, key);
  TableSchema split = *kept->schema;
  const auto at = std::ranges::lower_bound(split.split_keys, key);
  if (key.empty() || (at != split.split_keys.end() && *at == key)) {
    return {StatusCode::kDoNotRetry,
            "table '" + table.ToString() + "' has a region that begins at that key"};
  }
  split.split_keys.insert(at, key);
  return BecomeOf(caller, kept, std::move(split));
}

Status KeptTables::AddFamily(const Caller& caller, const TableName& table,
                             const FamilySchema& family) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().AddFamily(caller, table, family);
  TableSchema grown = *kept->schema;
  grown.families.emplace(family.name(), family);
  return BecomeOf(caller, kept, std::move(grown));
}

Status KeptTables::DropTable(const Caller& caller, const TableName& table) {
  const KeptPtr kept = Find(table);
  const SeenTables::Making dropping(seen_, table);
  if (kept == nullptr) return inner().DropTable(caller, table);
  CELLFS_RETURN_IF_ERROR(CheckIsDisabled(kept->is_enabled, table));
  Forget(kept);
  return {};
}

StatusOr<bool> KeptTables::DropEmptyTable(const Caller& caller, const TableName& table) {
  const KeptPtr kept = Find(table);
  const SeenTables::Making dropping(seen_, table);
  if (kept == nullptr) return inner().DropEmptyTable(caller, table);
  Forget(kept);
  return true;
}

Status KeptTables::TruncateTable(const Caller& caller, const TableName& table) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) {
    const SeenTables::Making making(seen_, table);
    CELLFS_RETURN_IF_ERROR(Tell(table, {}));
    return Tell(table, inner().TruncateTable(caller, table));
  }
  return CheckIsDisabled(kept->is_enabled, table);
}

Status KeptTables::EnableTable(const Caller& caller, const TableName& table) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().EnableTable(caller, table);
  CELLFS_RETURN_IF_ERROR(CheckIsDisabled(kept->is_enabled, table));
  KeptTable enabled = *kept;
  enabled.is_enabled = true;
  Replace(kept, std::move(enabled));
  return {};
}

Status KeptTables::DisableTable(const Caller& caller, const TableName& table) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().DisableTable(caller, table);
  if (!kept->is_enabled) {
    return {StatusCode::kTableNotEnabled, "table '" + table.ToString() + "' is disabled"};
  }
  KeptTable disabled = *kept;
  disabled.is_enabled = false;
  Replace(kept, std::move(disabled));
  return {};
}

// What was kept before the store is asked counts where it has none: it may be made meanwhile.
StatusOr<std::shared_ptr<const TableSchema>> KeptTables::DescribeTable(const TableName& table) {
  const KeptPtr kept = Find(table);
  auto described = inner().DescribeTable(table);
  if (kept == nullptr) {
    const bool is_none = described.status().code() == StatusCode::kTableNotFound;
    if (is_none ? seen_.IsGone(table) : described.ok() && seen_.IsAnother(**described)) {
      if (tell_of_gone_) tell_of_gone_(table);
    }
    return described;
  }
  if (described.ok()) Forget(kept);
  if (described.status().code() != StatusCode::kTableNotFound) return described;
  return kept->schema;
}

StatusOr<bool> KeptTables::IsTableEnabled(const TableName& table) {
  const KeptPtr kept = Find(table);
  return kept == nullptr ? inner().IsTableEnabled(table) : kept->is_enabled;
}

StatusOr<std::vector<TableName>> KeptTables::ListTables(const std::string& namespace_name) {
  const std::vector<TableName> kept = KeptIn(namespace_name);
  CELLFS_ASSIGN_OR_RETURN(std::vector<TableName> stored, inner().ListTables(namespace_name));
  if (kept.empty()) return stored;
  std::vector<TableName> all;
  std::ranges::set_union(stored, kept, std::back_inserter(all));
  return all;
}

// ---- Quotas -------------------------------------------------------------------------------------

Status KeptTables::SetTableSpaceQuota(const Caller& caller, const TableName& table,
                                      const std::optional<SpaceQuota>& quota) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().SetTableSpaceQuota(caller, table, quota);
  KeptTable changed = *kept;
  changed.quota = quota;
  Replace(kept, std::move(changed));
  return {};
}

StatusOr<std::optional<SpaceQuota>> KeptTables::TableSpaceQuota(const TableName& table) {
  const KeptPtr kept = Find(table);
  if (kept == nullptr) return inner().TableSpaceQuota(table);
  return kept->quota;
}

}  // namespace cellfs::fs
