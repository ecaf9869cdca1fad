// SPDX-License-Identifier: MIT
#include "fs/schema/schema_changes.h"

#include <cassert>
#include <string>
#include <utility>

#include "fs/base/closest_word.h"
#include "fs/nodes/column_lock.h"
#include "fs/reading/change_rights.h"
#include "fs/requests/owner.h"
#include "fs/schema/schema_text.h"

namespace cellfs::fs {

namespace {

// Of a table, by mkdir. Each has store files of its own, and every change of any schema writes all
// that each table is and was.
constexpr size_t kMostDeclared = 256;

Outcome Refused(std::string reason) { return {EINVAL, std::move(reason)}; }

// The steps that a schema is applied in. Each is one call of the store, so one may fail after
// others are in force: its reason says which.
class Steps {
 public:
  Status Did(std::string what, const Status& step) {
    if (step.ok()) {
      done_ += (done_.empty() ? "" : ", ") + std::move(what);
      return step;
    }
    const std::string before = done_.empty() ? "nothing was applied" : "applied before: " + done_;
    return {step.code(), what + ": " + step.message() + " (" + before + ")"};
  }

 private:
  std::string done_;
};

// What the file may not ask of a table with families.
Outcome CheckChange(const TableFile& file, const TableSchema& present) {
  for (const auto& [name, family] : present.families) {
    if (file.schema.FindFamily(name) == nullptr && !file.dropped.contains(name)) {
      return Refused("family '" + name + "' exists and is left out; to drop it with its data say " +
                     "drop = true in [families." + name + "]");
    }
  }
  if (file.has_splits && file.schema.split_keys != present.split_keys) {
    return Refused("splits: the split keys of a table cannot be changed; 'cellfs split' adds one");
  }
  return {};
}

}  // namespace

// Hidden ones, tombstones, and those of others count as well: all of them would go. So it is no
// Get, and not the caller's look.
OutcomeOr<bool> SchemaChanges::HoldsCells(const TableName& table, const Columns& columns) const {
  Scan scan;
  scan.columns = columns;
  scan.raw = true;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, reading_.OpenScanner(Caller::Superuser(), table, scan));
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({1, 1}));
  return !rows.empty();
}

Outcome SchemaChanges::ApplyTable(const Caller& caller, const TableName& table,
                                  std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(TableFile file, ReadTableFile(text, table));
  CELLFS_ASSIGN_OR_RETURN(TableFile present, DescribeTable(reading_, TablePlace(table)));
  for (auto& [name, family] : file.schema.families)
    CELLFS_RETURN_IF_FAILED(SettleInheritance(family, present.schema.FindFamily(name)));
  const bool splits = file.has_splits && file.schema.split_keys != present.schema.split_keys;
  bool anew = present.schema.families.empty();
  // A copy makes rows and families before it brings the schema to its place.
  if (!anew && splits && IsOpen(present.schema)) {
    CELLFS_ASSIGN_OR_RETURN(const bool holds_cells, HoldsCells(table, {}));
    anew = !holds_cells;
  }
  Steps steps;
  const auto alter = [&] {
    return steps.Did("the schema", store_.AlterTable(caller, file.schema));
  };
  if (anew) {
    // A copy of a table that has no families yet says nothing new.
    if (file.schema.families.empty() && IsOpen(file.schema)) return {};
    CELLFS_ASSIGN_OR_RETURN(const auto share, shares_.Reserve(file.schema));
    const auto recreate = [&] {
      return steps.Did("the schema", store_.RecreateTable(caller, file.schema));
    };
    CELLFS_RETURN_IF_FAILED(splits ? recreate() : alter());
  } else {
    CELLFS_RETURN_IF_FAILED(CheckChange(file, present.schema));
    file.schema.split_keys = present.schema.split_keys;
    TableFile as_present = present;
    as_present.schema = file.schema;
    // Writing a copy of what is there, as rsync and editors do, changes nothing.
    if (WriteTableFile(as_present) != WriteTableFile(present)) {
      CELLFS_ASSIGN_OR_RETURN(const auto share, shares_.Reserve(file.schema));
      const Timestamp time = tree_.clock.Now();
      CELLFS_RETURN_IF_FAILED(open_files_.Drop(table, file.dropped, alter));
      for (const std::string& family : file.dropped) FamilyWent(table, family, time);
      HintAtLeftOut(present.schema, file.schema);
    }
  }
  if (file.space_quota != present.space_quota) {
    CELLFS_RETURN_IF_FAILED(
        steps.Did("the space quota", store_.SetTableSpaceQuota(caller, table, file.space_quota)));
  }
  if (file.enabled != present.enabled) {
    CELLFS_RETURN_IF_FAILED(file.enabled
                                ? steps.Did("enabling", store_.EnableTable(caller, table))
                                : steps.Did("disabling", store_.DisableTable(caller, table)));
  }
  return {};
}

Outcome SchemaChanges::ApplyNamespace(const Caller& caller, const std::string& name,
                                      std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(NamespaceFile file, ReadNamespaceFile(text, name));
  CELLFS_ASSIGN_OR_RETURN(NamespaceFile present, DescribeNamespace(reading_, NamespacePlace(name)));
  Steps steps;
  if (file.schema.properties != present.schema.properties) {
    CELLFS_RETURN_IF_FAILED(
        steps.Did("the properties", store_.AlterNamespace(caller, file.schema)));
  }
  if (file.space_quota != present.space_quota) {
    CELLFS_RETURN_IF_FAILED(steps.Did(
        "the space quota", store_.SetNamespaceSpaceQuota(caller, name, file.space_quota)));
  }
  return {};
}

SchemaChanges::Turn SchemaChanges::TakeTurn(const TableName& table) {
  assert(!ColumnLock::IsAnyHeldHere());
  return turns_.Take(table);
}

Outcome SchemaChanges::Apply(const Caller& caller, const Place& file, std::string_view text,
                             std::optional<timespec> mtime) {
  return Apply(TakeTurn(file.table), caller, file, text, mtime);
}

Outcome SchemaChanges::Apply(const Turn& /*turn*/, const Caller& caller, const Place& file,
                             std::string_view text, std::optional<timespec> mtime) {
  const bool is_table = file.kind == PlaceKind::kSchemaFile;
  CELLFS_RETURN_IF_FAILED(is_table ? ApplyTable(caller, file.table, text)
                                   : ApplyNamespace(caller, file.table.namespace_name, text));
  if (is_table) {
    tree_.declared.Forget(file.table);
    HintAtNames(file);
  }
  errors_.Record("setattr", file, NoteChanged(file.Parent(), mtime));
  tree_.unstored.ShowToml(file.Parent());
  return {};
}

// HBase keeps whatever name as metadata, and says nothing.
void SchemaChanges::HintAtNames(const Place& file) {
  const auto names_of = [](const Attributes& attributes) {
    std::vector<std::string> names;
    for (const auto& [name, value] : attributes) names.push_back(name);
    return names;
  };
  static const std::vector<std::string> of_tables = names_of(TableAttributeDefaults());
  static const std::vector<std::string> of_families = names_of(FamilyAttributeDefaults());
  const auto hint = [&](const Attributes& said, const std::vector<std::string>& known) {
    for (const auto& [name, value] : said) {
      const std::string meant = MeantName(name, known);
      if (meant.empty()) continue;
      errors_.Hint("schema", file,
                   "'" + name + "' is kept as metadata; did you mean '" + meant + "'?");
    }
  };
  const auto schema = reading_.DescribeTable(file.Parent());
  if (!schema.ok()) return;
  hint((*schema)->attributes(), of_tables);
  for (const auto& [name, family] : (*schema)->families) hint(family.attributes(), of_families);
}

// Who writes a file of his own, and not the one that is there with a line changed, may take history
// from the table without a word.
void SchemaChanges::HintAtLeftOut(const TableSchema& before, const TableSchema& after) {
  const Place file = TablePlace(before.name()).As(PlaceKind::kSchemaFile);
  const auto hint = [&](const std::string& of, const Attributes& had, const Attributes& has) {
    std::string left_out;
    for (const auto& [name, value] : had) {
      if (has.contains(name)) continue;
      left_out += (left_out.empty() ? "" : ", ") + name + " (it was " + value + ")";
    }
    if (left_out.empty()) return;
    errors_.Hint("schema", file,
                 "the file says nothing of " + left_out + of +
                     ": HBase's default is in force; 'cellfs alter' keeps what is not named");
  };
  hint("", before.attributes(), after.attributes());
  for (const auto& [name, family] : before.families) {
    if (const FamilySchema* const is = after.FindFamily(name); is != nullptr)
      hint(" of family '" + name + "'", family.attributes(), is->attributes());
  }
}

void SchemaChanges::TellApplied(const Place& file) {
  if (file.kind == PlaceKind::kSchemaFile) tree_.kernel.TableChanged(file.table);
}

Outcome SchemaChanges::CheckMayDeclare(const Request& request, const Place& family,
                                       const TableSchema& schema) const {
  if (!IsOpen(schema)) {
    return {EPERM, "table '" + family.table.ToString() + "' has no family '" + family.family +
                       "' and is not open to new ones; declare it in .schema.toml"};
  }
  if (!CheckFamilyName(family.family).ok()) return EPERM;
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, reading_.FindOwner(TablePlace(family.table)));
  const bool is_owner = request.uid == owner.uid || IsOwnerOrRoot(request.uid);
  const size_t most = is_owner ? kMostDeclared : kMostDeclared / 2;
  if (schema.families.size() < most) return {};
  return {ENOSPC, "table '" + family.table.ToString() + "' has " +
                      std::to_string(schema.families.size()) + " families, and mkdir makes " +
                      std::to_string(most) + " at most" +
                      (is_owner ? "" : " for others than its owner") +
                      "; .schema.toml or 'cellfs alter' can make more"};
}

Outcome SchemaChanges::Declare(const Request& request, const Place& family,
                               const Attributes& defaults) {
  const auto is_declared = [&](const TableSchema& schema) {
    return schema.FindFamily(family.family) != nullptr;
  };
  CELLFS_ASSIGN_OR_RETURN(auto schema, reading_.DescribeTable(family));
  // As a rule, and then nobody waits for another change.
  if (is_declared(*schema)) return CheckMayChange(reading_, *request.caller, family);
  // A copy may write the .schema.toml at the same time: its time is not to be overtaken by ours.
  const Turn turn = TakeTurn(family.table);
  FamilySchema declared(family.family);
  for (const auto& [attribute, value] : defaults) {
    CELLFS_RETURN_IF_FAILED(declared.Set(attribute, value));
  }
  const auto declare = [&]() -> Status {
    TableSchema grown = *schema;
    grown.families.emplace(family.family, declared);
    CELLFS_ASSIGN_OR_RETURN(const auto share, shares_.Reserve(grown));
    return store_.AddFamily(*request.caller, family.table, declared);
  };
  // Another client may make the table, or the family, at the same time: what it made counts.
  for (const bool is_last : {false, true}) {
    CELLFS_ASSIGN_OR_RETURN(schema, reading_.DescribeTable(family));
    if (is_declared(*schema)) return CheckMayChange(reading_, *request.caller, family);
    CELLFS_RETURN_IF_FAILED(CheckMayDeclare(request, family, *schema));
    const Status done = declare();
    if (done.ok()) break;
    const bool is_raced = done.code() == StatusCode::kTableExists ||
                          done.code() == StatusCode::kInvalidFamilyOperation;
    if (is_last || !is_raced) return done;
  }
  tree_.declared.Note(family);
  errors_.Record("mkdir", family, NoteChanged(TablePlace(family.table)));
  return {};
}

Outcome SchemaChanges::Undeclare(const Caller& caller, const Place& family) {
  if (reading_.traits().has_other_writers) return {};
  if (!tree_.declared.Has(family) || tree_.unstored.HasFamilyBeside(family)) return {};
  CELLFS_ASSIGN_OR_RETURN(const bool is_used, HoldsCells(family.table, {{family.family, {}}}));
  if (is_used) return {};
  const Timestamp time = tree_.clock.Now();
  CELLFS_ASSIGN_OR_RETURN(const bool is_dropped, DropIfEmpty(caller, family));
  if (!is_dropped) return {};
  FamilyWent(family.table, family.family, time);
  tree_.kernel.FamilyChanged(family.table, family.family);
  return {};
}

// What is put between the look and the drop would go with the family, so nothing is put then.
OutcomeOr<bool> SchemaChanges::DropIfEmpty(const Caller& caller, const Place& family) {
  const Turn turn = TakeTurn(family.table);
  if (!tree_.declared.Has(family)) return false;  // somebody has said meanwhile what it is
  const ColumnTable::ClosedColumns nothing_is_put(
      tree_.columns, {family.table, std::set<std::string>{family.family}, std::nullopt});
  CELLFS_ASSIGN_OR_RETURN(const bool is_used_now, HoldsCells(family.table, {{family.family, {}}}));
  if (is_used_now) return false;
  CELLFS_ASSIGN_OR_RETURN(auto present, reading_.DescribeTable(family));
  TableSchema schema = *present;
  if (schema.families.erase(family.family) == 0) return false;
  if (schema.families.empty() && !IsOpen(schema)) return false;
  CELLFS_RETURN_IF_FAILED(store_.AlterTable(caller, schema));
  return true;
}

void SchemaChanges::FamilyWent(const TableName& table, const std::string& family,
                               Timestamp time) {
  tree_.unstored.RemoveFamily(table, family);
  const Place place = TablePlace(table);
  errors_.Record("drop", place, attributes_.DropFamily(place, family, time));
}

Status SchemaChanges::NoteChanged(const Place& place, std::optional<timespec> mtime) {
  AttributeUpdate update;
  update.ctime = ToTimespec(tree_.clock.Now());
  update.mtime = mtime.value_or(*update.ctime);
  return attributes_.Update(place.As(place.kind == PlaceKind::kTable ? PlaceKind::kSchemaFile
                                                                     : PlaceKind::kNamespaceFile),
                            update);
}

}  // namespace cellfs::fs
