// SPDX-License-Identifier: MIT
#include "fs/schema/toml_files.h"

#include "fs/schema/schema_file.h"

namespace cellfs::fs {

namespace {

Outcome Refused(std::string reason) { return {EINVAL, std::move(reason)}; }

OutcomeOr<TableFile> DescribeTable(MountContext& mount, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, mount.store.DescribeTable(table));
  TableFile file;
  file.schema = *schema;
  CELLFS_ASSIGN_OR_RETURN(file.enabled, mount.store.IsTableEnabled(table));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, mount.store.TableSpaceQuota(table));
  return file;
}

OutcomeOr<NamespaceFile> DescribeNamespace(MountContext& mount, const std::string& name) {
  NamespaceFile file;
  CELLFS_ASSIGN_OR_RETURN(file.schema, mount.store.DescribeNamespace(name));
  CELLFS_ASSIGN_OR_RETURN(file.space_quota, mount.store.NamespaceSpaceQuota(name));
  return file;
}

// What the file may not ask of a table with families.
Outcome CheckChange(const TableFile& file, const TableSchema& present) {
  for (const auto& [name, family] : present.families) {
    if (file.schema.FindFamily(name) == nullptr && !file.dropped.contains(name)) {
      return Refused("family '" + name + "' exists and is left out; to drop it with its data say " +
                     "drop = true in [families." + name + "]");
    }
  }
  if (file.has_splits && file.schema.split_keys != present.split_keys) {
    return Refused("splits: the split keys of a table cannot be changed");
  }
  return {};
}

// Whether no cell, nor any tombstone, lies in the table.
OutcomeOr<bool> IsEmpty(MountContext& mount, const Caller& caller, const TableName& table) {
  Scan scan;
  scan.raw = true;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, mount.store.OpenScanner(caller, table, scan));
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({1, 1}));
  return rows.empty();
}

// A table without cells is made anew where that is what it takes to split it.
Outcome Recreate(MountContext& mount, const Caller& caller, const TableFile& file,
                 const TableFile& present) {
  const TableName& table = file.schema.name();
  if (present.enabled) CELLFS_RETURN_IF_FAILED(mount.store.DisableTable(caller, table));
  CELLFS_RETURN_IF_FAILED(mount.store.DropTable(caller, table));
  Status created = mount.store.CreateTable(caller, file.schema);
  if (!created.ok()) static_cast<void>(mount.store.CreateTable(caller, present.schema));
  return created;
}

Outcome ApplyTable(MountContext& mount, const Caller& caller, const TableName& table,
                   std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(TableFile file, ReadTableFile(text, table));
  CELLFS_ASSIGN_OR_RETURN(TableFile present, DescribeTable(mount, table));
  const bool splits = file.has_splits && file.schema.split_keys != present.schema.split_keys;
  bool anew = present.schema.families.empty();
  // A copy makes rows and families before it brings the schema to its place.
  if (!anew && splits && IsOpen(present.schema)) {
    CELLFS_ASSIGN_OR_RETURN(anew, IsEmpty(mount, caller, table));
  }
  if (anew) {
    // A copy of a table that has no families yet says nothing new.
    if (file.schema.families.empty() && IsOpen(file.schema)) return {};
    if (splits) {
      CELLFS_RETURN_IF_FAILED(Recreate(mount, caller, file, present));
      present.enabled = true;
    } else {
      CELLFS_RETURN_IF_FAILED(mount.store.AlterTable(caller, file.schema));
    }
  } else {
    CELLFS_RETURN_IF_FAILED(CheckChange(file, present.schema));
    file.schema.split_keys = present.schema.split_keys;
    TableFile as_present = present;
    as_present.schema = file.schema;
    // Writing a copy of what is there, as rsync and editors do, changes nothing.
    if (WriteTableFile(as_present) != WriteTableFile(present)) {
      CELLFS_RETURN_IF_FAILED(mount.store.AlterTable(caller, file.schema));
      for (const std::string& family : file.dropped) mount.unstored.RemoveFamily(table, family);
    }
  }
  if (file.space_quota != present.space_quota) {
    CELLFS_RETURN_IF_FAILED(mount.store.SetTableSpaceQuota(caller, table, file.space_quota));
  }
  if (file.enabled != present.enabled) {
    CELLFS_RETURN_IF_FAILED(file.enabled ? mount.store.EnableTable(caller, table)
                                         : mount.store.DisableTable(caller, table));
  }
  return {};
}

Outcome ApplyNamespace(MountContext& mount, const Caller& caller, const std::string& name,
                       std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(NamespaceFile file, ReadNamespaceFile(text, name));
  CELLFS_ASSIGN_OR_RETURN(NamespaceFile present, DescribeNamespace(mount, name));
  if (file.schema.properties != present.schema.properties) {
    CELLFS_RETURN_IF_FAILED(mount.store.AlterNamespace(caller, file.schema));
  }
  if (file.space_quota != present.space_quota) {
    CELLFS_RETURN_IF_FAILED(mount.store.SetNamespaceSpaceQuota(caller, name, file.space_quota));
  }
  return {};
}

}  // namespace

OutcomeOr<std::string> TomlText(MountContext& mount, const Place& file) {
  if (file.kind == PlaceKind::kNamespaceFile) {
    CELLFS_ASSIGN_OR_RETURN(auto described, DescribeNamespace(mount, file.table.namespace_name));
    return WriteNamespaceFile(described);
  }
  CELLFS_ASSIGN_OR_RETURN(auto described, DescribeTable(mount, file.table));
  return WriteTableFile(described);
}

Outcome ApplyToml(MountContext& mount, const Caller& caller, const Place& file,
                  std::string_view text, std::optional<timespec> mtime) {
  const bool is_table = file.kind == PlaceKind::kSchemaFile;
  const std::lock_guard lock(mount.schema_changes);
  CELLFS_RETURN_IF_FAILED(is_table
                              ? ApplyTable(mount, caller, file.table, text)
                              : ApplyNamespace(mount, caller, file.table.namespace_name, text));
  mount.RecordFailure("setattr", file, NoteTomlChanged(mount, file.Parent(), mtime));
  mount.unstored.ShowToml(file.Parent());
  return {};
}

void TellTomlApplied(MountContext& mount, const Place& file) {
  if (file.kind == PlaceKind::kSchemaFile) mount.kernel.TableChanged(file.table);
}

Status NoteTomlChanged(MountContext& mount, const Place& place, std::optional<timespec> mtime) {
  AttributeUpdate update;
  update.ctime = ToTimespec(mount.clock->Now());
  update.mtime = mtime.value_or(*update.ctime);
  return mount.attributes.Update(
      place.As(place.kind == PlaceKind::kTable ? PlaceKind::kSchemaFile
                                               : PlaceKind::kNamespaceFile),
      update);
}

}  // namespace cellfs::fs
