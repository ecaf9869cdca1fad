// SPDX-License-Identifier: MIT
#include "engine/hbase/tables.h"

#include <hbase.pb.h>

#include <algorithm>

#include "engine/hbase/reads.h"
#include "engine/hbase/schemas.h"

namespace cellfs::hbase {
namespace {

constexpr char kTableFamily[] = "table";  // of hbase:meta
constexpr char kStateQualifier[] = "state";

// The text of many exceptions about a table is its name alone.
Status Told(const Status& status, const TableName& table) {
  const auto say = [&](std::string_view what) {
    return Status(status.code(), "table '" + table.ToString() + "' " + std::string(what));
  };
  switch (status.code()) {
    case StatusCode::kTableNotFound: return say("does not exist");
    case StatusCode::kTableExists: return say("exists");
    case StatusCode::kTableNotEnabled: return say("is disabled");
    case StatusCode::kTableNotDisabled: return say("is enabled");
    default: return status;
  }
}

Status ToldOfNamespace(const Status& status, const std::string& name) {
  if (status.code() == StatusCode::kNamespaceNotFound)
    return {status.code(), "namespace '" + name + "' does not exist"};
  if (status.code() == StatusCode::kNamespaceExists)
    return {status.code(), "namespace '" + name + "' exists"};
  return status;
}

// What hbase:meta has of a table now.
struct InMeta {
  std::vector<Region> regions;  // in the order of their keys
  int64_t state_set_at = 0;
};

// The row of its state lies just before those of its regions.
StatusOr<InMeta> ReadMeta(Regions& regions, const TableName& table, const Patience& patience) {
  InMeta found;
  if (table == kMetaTable) {
    CELLFS_ASSIGN_OR_RETURN(Region meta, regions.Find(table, "", patience));
    found.regions.push_back(std::move(meta));
    return found;
  }
  Scan scan;
  scan.columns["info"];
  scan.columns[kTableFamily] = {kStateQualifier};
  scan.start_row = table.ToString();
  scan.stop_row = EndOfMetaRows(table);
  const auto within = patience.deadline - SteadyClock::now();
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, OpenScanner(regions, kMetaTable, scan, within));
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({.cancelled = patience.cancelled}));
    for (const RowCells& row : rows) {
      if (row.front().family == kTableFamily) {
        found.state_set_at = row.front().timestamp;
        continue;
      }
      CELLFS_ASSIGN_OR_RETURN(auto region, RegionInMeta(row));
      if (region) found.regions.push_back(*std::move(region));
    }
  }
  return found;
}

TableIncarnation IncarnationOf(const InMeta& in_meta) {
  TableIncarnation incarnation;
  incarnation.state = in_meta.state_set_at;
  auto& made = incarnation.regions;
  for (const Region& region : in_meta.regions) made.push_back(static_cast<int64_t>(region.id));
  std::ranges::sort(made);
  made.erase(std::unique(made.begin(), made.end()), made.end());
  if (made.size() > TableIncarnation::kMostRegions) made.resize(TableIncarnation::kMostRegions);
  return incarnation;
}

// HBase's client refuses them; a server's answer is that it cannot read the request.
Status CheckFamilyNames(const TableSchema& schema) {
  for (const auto& [name, family] : schema.families)
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(name));
  return {};
}

}  // namespace

// ---- Tables -------------------------------------------------------------------------------------

template <typename Request>
Status Tables::Do(std::string_view procedure, const TableName& table, Request& request,
                  const Patience& patience) {
  const Status done = master_.Do(procedure, request, patience);
  schemas_.Forget(table);
  return Told(done, table);
}

template <typename Request>
Status Tables::DoUndisturbed(std::string_view procedure, const TableName& table, Request& request,
                             const Patience& patience) {
  constexpr SteadyClock::duration kPause = std::chrono::milliseconds(20);
  for (;;) {
    Status done = Do(procedure, table, request, patience);
    if (done.code() != StatusCode::kUnavailable || !Wait(kPause, patience)) return done;
  }
}

Status Tables::Create(const TableSchema& schema, const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckTableName(schema.name()));
  CELLFS_RETURN_IF_ERROR(CheckFamilyNames(schema));
  pb::CreateTableRequest request;
  Write(schema, *request.mutable_table_schema());
  for (const std::string& key : schema.split_keys) request.add_split_keys(key);
  std::sort(request.mutable_split_keys()->begin(), request.mutable_split_keys()->end());
  return Do("CreateTable", schema.name(), request, patience);
}

Status Tables::Alter(const TableSchema& schema, const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckFamilyNames(schema));
  CELLFS_RETURN_IF_ERROR(CheckAllAreSeen(schema, patience));
  return Modify(schema, patience);
}

// A family that the schema leaves out goes with its data. Its maker left it out knowingly only if
// it was there when the table was described.
Status Tables::CheckAllAreSeen(const TableSchema& altered, const Patience& patience) {
  const auto seen = schemas_.FindLate(altered.name(), std::chrono::hours(1));
  if (!seen || !seen->ok()) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto present, Ask(altered.name(), patience));
  for (const auto& [name, family] : present->families) {
    if (altered.FindFamily(name) != nullptr || (**seen)->FindFamily(name) != nullptr) continue;
    schemas_.Forget(altered.name());
    return {StatusCode::kUnavailable, "another client has just declared family '" + name +
                                          "' of table '" + altered.name().ToString() +
                                          "', which this would drop"};
  }
  return {};
}

StatusOr<bool> Tables::SetReadOnly(const TableName& table, bool read_only,
                                   const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto present, Ask(table, patience));
  if (present->read_only() == read_only) return false;
  TableSchema changed = *present;
  CELLFS_RETURN_IF_ERROR(changed.Set("READONLY", read_only ? "true" : "false"));
  CELLFS_RETURN_IF_ERROR(Modify(changed, patience));
  return true;
}

Status Tables::Modify(const TableSchema& schema, const Patience& patience) {
  pb::ModifyTableRequest request;
  Write(schema.name(), *request.mutable_table_name());
  Write(schema, *request.mutable_table_schema());
  return Do("ModifyTable", schema.name(), request, patience);
}

Status Tables::Drop(const TableName& table, const Patience& patience) {
  pb::DeleteTableRequest request;
  Write(table, *request.mutable_table_name());
  const Status dropped = Do("DeleteTable", table, request, patience);
  regions_.ForgetTable(table);
  return dropped;
}

Status Tables::Truncate(const TableName& table, const Patience& patience) {
  pb::TruncateTableRequest request;
  Write(table, *request.mutable_table_name());
  request.set_preserve_splits(true);
  const Status truncated = Do("truncateTable", table, request, patience);
  regions_.ForgetTable(table);  // its regions are others now
  return truncated;
}

Status Tables::Enable(const TableName& table, const Patience& patience) {
  pb::EnableTableRequest request;
  Write(table, *request.mutable_table_name());
  return Do("EnableTable", table, request, patience);
}

Status Tables::Disable(const TableName& table, const Patience& patience) {
  pb::DisableTableRequest request;
  Write(table, *request.mutable_table_name());
  return Do("DisableTable", table, request, patience);
}

Status Tables::AddFamily(const TableName& table, const FamilySchema& family,
                         const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckFamilyName(family.name()));
  pb::AddColumnRequest request;
  Write(table, *request.mutable_table_name());
  Write(family, *request.mutable_column_families());
  return DoUndisturbed("AddColumn", table, request, patience);
}

Status Tables::ModifyFamily(const TableName& table, const FamilySchema& family,
                            const Patience& patience) {
  pb::ModifyColumnRequest request;
  Write(table, *request.mutable_table_name());
  Write(family, *request.mutable_column_families());
  return DoUndisturbed("ModifyColumn", table, request, patience);
}

Status Tables::DropFamily(const TableName& table, const std::string& family,
                          const Patience& patience) {
  pb::DeleteColumnRequest request;
  Write(table, *request.mutable_table_name());
  request.set_column_name(family);
  return DoUndisturbed("DeleteColumn", table, request, patience);
}

Status Tables::Split(const TableName& table, const std::string& key, const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const Region region, regions_.Find(table, key, patience));
  if (region.start_key == key) {
    return {StatusCode::kDoNotRetry,
            "table '" + table.ToString() + "' has a region that begins at that key"};
  }
  pb::SplitTableRegionRequest request;
  pb::RegionInfo& info = *request.mutable_region_info();
  info.set_region_id(region.id);
  Write(table, *info.mutable_table_name());
  info.set_start_key(region.start_key);
  info.set_end_key(region.end_key);
  request.set_split_row(key);
  const Status split = Do("SplitRegion", table, request, patience);
  regions_.ForgetTable(table);
  return split;
}

// A server takes a name that no table can have for a wrong question.
Description Tables::Describe(const TableName& table, const Patience& patience) {
  if (!CheckTableName(table).ok()) return Told(Status(StatusCode::kTableNotFound, ""), table);
  if (auto known = schemas_.Find(table)) return *std::move(known);
  const uint64_t changes = schemas_.changes();
  Description description = Ask(table, patience);
  schemas_.Keep(table, description, changes);
  return description;
}

// Who has looked at the table just now has asked.
Status Tables::CheckMayPut(const TableName& table, const Patience& patience) {
  constexpr SteadyClock::duration kJustNow = std::chrono::seconds(1);
  const auto known = schemas_.FindLate(table, kJustNow);
  const Description schema = known ? *known : Describe(table, patience);
  if (!schema.ok() || !(*schema)->read_only()) return {};
  return {StatusCode::kReadOnly, "table '" + table.ToString() + "' is READONLY"};
}

Description Tables::Ask(const TableName& table, const Patience& patience) {
  pb::GetTableDescriptorsRequest request;
  Write(table, *request.add_table_names());
  request.set_include_sys_tables(true);
  pb::GetTableDescriptorsResponse response;
  CELLFS_RETURN_IF_ERROR(master_.Ask("GetTableDescriptors", request, response, patience));
  if (response.table_schema().empty()) {
    return Told(Status(StatusCode::kTableNotFound, ""), table);
  }
  auto schema = std::make_shared<TableSchema>(SchemaOf(response.table_schema(0)));
  CELLFS_ASSIGN_OR_RETURN(const InMeta in_meta, ReadMeta(regions_, table, patience));
  for (const Region& region : in_meta.regions) {
    if (!region.start_key.empty()) schema->split_keys.push_back(region.start_key);
  }
  schema->set_incarnation(IncarnationOf(in_meta));
  return std::shared_ptr<const TableSchema>(std::move(schema));
}

StatusOr<std::vector<TableName>> Tables::List(const std::string& namespace_name,
                                              const Patience& patience) {
  pb::ListTableNamesByNamespaceRequest request;
  request.set_namespace_name(namespace_name);
  pb::ListTableNamesByNamespaceResponse response;
  const Status asked = master_.Ask("ListTableNamesByNamespace", request, response, patience);
  if (!asked.ok()) return ToldOfNamespace(asked, namespace_name);
  std::vector<TableName> tables;
  for (const pb::TableName& table : response.table_name()) tables.push_back(TableNameOf(table));
  std::ranges::sort(tables);
  return tables;
}

StatusOr<std::vector<Region>> RegionsOf(Regions& regions, const TableName& table,
                                        const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(InMeta in_meta, ReadMeta(regions, table, patience));
  return std::move(in_meta.regions);
}

// ---- Namespaces ---------------------------------------------------------------------------------

Status Tables::CreateNamespace(const NamespaceSchema& schema, const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckNamespaceName(schema.name));
  pb::CreateNamespaceRequest request;
  Write(schema, *request.mutable_namespace_descriptor());
  return ToldOfNamespace(master_.Do("CreateNamespace", request, patience), schema.name);
}

Status Tables::AlterNamespace(const NamespaceSchema& schema, const Patience& patience) {
  pb::ModifyNamespaceRequest request;
  Write(schema, *request.mutable_namespace_descriptor());
  return ToldOfNamespace(master_.Do("ModifyNamespace", request, patience), schema.name);
}

Status Tables::DropNamespace(const std::string& name, const Patience& patience) {
  pb::DeleteNamespaceRequest request;
  request.set_namespace_name(name);
  return ToldOfNamespace(master_.Do("DeleteNamespace", request, patience), name);
}

StatusOr<NamespaceSchema> Tables::DescribeNamespace(const std::string& name,
                                                    const Patience& patience) {
  pb::GetNamespaceDescriptorRequest request;
  request.set_namespace_name(name);
  pb::GetNamespaceDescriptorResponse response;
  const Status asked = master_.Ask("GetNamespaceDescriptor", request, response, patience);
  if (!asked.ok()) return ToldOfNamespace(asked, name);
  return SchemaOf(response.namespace_descriptor());
}

StatusOr<std::vector<std::string>> Tables::ListNamespaces(const Patience& patience) {
  pb::ListNamespaceDescriptorsResponse response;
  CELLFS_RETURN_IF_ERROR(master_.Ask("ListNamespaceDescriptors",
                                     pb::ListNamespaceDescriptorsRequest(), response, patience));
  std::vector<std::string> names;
  for (const auto& descriptor : response.namespace_descriptor()) names.push_back(descriptor.name());
  std::ranges::sort(names);
  return names;
}

}  // namespace cellfs::hbase
