// SPDX-License-Identifier: MIT
#include "fs/operations/callers_store.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "engine/filters.h"
#include "fs/operations/row_change.h"
#include "fs/requests/long_work.h"
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

constexpr size_t kRowsUntold = 256;  // of which the kernel need not have been told

Status NoTable(const TableName& table) {
  return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' does not exist"};
}

Status CheckIsShown(const TableName& table) {
  return table.namespace_name == kHiddenNamespace ? NoTable(table) : Status();
}

Status CheckIsShown(const std::string& name_space) {
  if (name_space != kHiddenNamespace) return {};
  return {StatusCode::kNamespaceNotFound, "namespace '" + name_space + "' does not exist"};
}

Status CheckIsShown(const GrantScope& scope) {
  return scope.table ? CheckIsShown(*scope.table) : CheckIsShown(scope.namespace_name);
}

// As the mount leaves them out of the tables of the catalog.
FilterPtr WithoutHiddenRows(const TableName& table, const FilterPtr& filter) {
  return MakeVisibleCellsFilter(
      [table](const CellView& cell) { return !IsHiddenRow(table, cell.row); }, filter);
}

// As the caller may read, and by turns with the long work of others: between two batches it holds
// none of their turns, however long the caller takes to read what he got.
class CallersScanner : public Scanner {
 public:
  // `rights`: null where they do not matter.
  CallersScanner(ScanSlots& slots, bool is_of_one_row, std::unique_ptr<Scanner> scanner,
                 std::shared_ptr<FilterRights> rights)
      : slots_(slots),
        may_be_short_(is_of_one_row),
        scanner_(std::move(scanner)),
        rights_(std::move(rights)) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    LongWork work(slots_, std::exchange(may_be_short_, false) ? LongWork::Kind::kMayBeShort
                                                              : LongWork::Kind::kIsLong);
    if (const Outcome turn = work.Step(); !turn.ok()) return NoTurn(turn);
    if (rights_ != nullptr) {
      if (const Outcome begun = rights_->BeginStep(); !begun.ok()) return Unreadable(begun);
    }
    ScanBatch step = batch;
    step.max_time = std::min<ScanBatch::Duration>(step.max_time, kLongestStep);
    auto rows = scanner_->Next(step);
    if (rights_ != nullptr && !rights_->failure().ok()) return Unreadable(rights_->failure());
    return rows;
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  static Status NoTurn(const Outcome& outcome) {
    if (outcome.error() == EINTR) return {StatusCode::kCancelled, "who asked has given up waiting"};
    return {StatusCode::kUnavailable, outcome.reason()};
  }
  static Status Unreadable(const Outcome& outcome) {
    return {StatusCode::kIoError, "owners and modes cannot be read: " + outcome.reason()};
  }

  ScanSlots& slots_;
  bool may_be_short_;  // the next step
  const std::unique_ptr<Scanner> scanner_;
  const std::shared_ptr<FilterRights> rights_;
};

}  // namespace

// ---- Cells --------------------------------------------------------------------------------------

StatusOr<RowCells> CallersStore::Read(const Caller& caller, const TableName& table,
                                      const Get& get) {
  CELLFS_ASSIGN_OR_RETURN(const auto reader, OpenReader(caller, table, get));
  ScanBatch whole{.max_rows = 1};
  whole.cancelled = get.cancelled;
  CELLFS_ASSIGN_OR_RETURN(auto rows, reader->Next(whole));
  return rows.empty() ? RowCells() : std::move(rows.front());
}

// A Get of the column alone is the store's own word on its rights. One of several columns, or a raw
// scan, may leave it out instead.
Status CallersStore::CheckMayRead(const Caller& caller, const Place& place) const {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayRead(place));
  if (caller.is_superuser() || !place.IsColumn()) return {};
  Get get;
  get.row = place.row;
  get.columns[place.family].insert(place.qualifier);
  get.lengths_only = true;
  const Status read = store_.Read(caller, place.table, get).status();
  return read.code() == StatusCode::kAccessDenied ? read : Status();
}

Status CallersStore::CheckMayRead(const Caller& caller, const TableName& table,
                                  const std::string& row, const Columns& columns) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  if (columns.empty()) return CheckMayRead(caller, RowPlace(table, row));
  for (const auto& [family, qualifiers] : columns) {
    if (qualifiers.empty())
      CELLFS_RETURN_IF_ERROR(CheckMayRead(caller, FamilyPlace(table, row, family)));
    for (const std::string& qualifier : qualifiers)
      CELLFS_RETURN_IF_ERROR(CheckMayRead(caller, CellPlace(table, row, family, qualifier)));
  }
  return {};
}

StatusOr<std::unique_ptr<Scanner>> CallersStore::OpenReader(const Caller& caller,
                                                            const TableName& table,
                                                            const Get& get) {
  CELLFS_RETURN_IF_ERROR(CheckMayRead(caller, table, get.row, get.columns));
  const bool names_all = !get.columns.empty() &&
                         std::none_of(get.columns.begin(), get.columns.end(),
                                      [](const auto& family) { return family.second.empty(); });
  return Open(caller, table, ScanOf(get), names_all ? nullptr : rights_.OfRead(table));
}

namespace {

// The columns of one row that the scan says are all that it may show: then they need not be listed.
bool NamesColumns(const Scan& scan) {
  if (!scan.IsOfOneRow() || scan.columns.empty()) return false;
  if (scan.filter != nullptr && scan.filter->OnlyColumn()) return true;
  return std::none_of(scan.columns.begin(), scan.columns.end(),
                      [](const auto& family) { return family.second.empty(); });
}

}  // namespace

StatusOr<std::unique_ptr<Scanner>> CallersStore::OpenScanner(const Caller& caller,
                                                             const TableName& table,
                                                             const Scan& scan) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(scan.IsOfOneRow() ? rights_.CheckReach(table)
                                           : rights_.CheckMayList(table));
  return Open(caller, table, scan,
              NamesColumns(scan) ? rights_.OfNamedColumns(table) : rights_.OfRead(table));
}

StatusOr<std::unique_ptr<Scanner>> CallersStore::Open(const Caller& caller, const TableName& table,
                                                      Scan scan,
                                                      std::shared_ptr<FilterRights> rights) {
  if (table.IsSystemTable()) scan.filter = WithoutHiddenRows(table, scan.filter);
  if (rights != nullptr) {
    rights->TellHidden(has_passed_over_);
    scan.filter = rights->Narrow(scan.filter);
  }
  scan.passed_over = &has_passed_over_;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, store_.OpenScanner(caller, table, scan));
  return std::unique_ptr<Scanner>(std::make_unique<CallersScanner>(
      parts_.scan_slots, scan.IsOfOneRow(), std::move(scanner), std::move(rights)));
}

Status CallersStore::CheckWritable() const {
  if (!parts_.options.read_only) return {};
  return {StatusCode::kReadOnly, "the mount is read-only"};
}

StatusOr<MutationResult> CallersStore::Change(const Caller& caller, const TableName& table,
                                              const RowMutations& mutations) {
  RowChange change(filesystem_, store_, rights_, umask_, table, mutations.row);
  CELLFS_RETURN_IF_ERROR(change.Begin(mutations.mutations));
  auto result = store_.Mutate(caller, table, mutations);
  change.Ended(result.status());
  return result;
}

Status CallersStore::CheckMayChange(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  return rights_.CheckReach(table);
}

StatusOr<MutationResult> CallersStore::Mutate(const Caller& caller, const TableName& table,
                                              const RowMutations& mutations) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(table));
  auto result = Change(caller, table, mutations);
  filesystem_.AwaitKernel();
  return result;
}

Status CallersStore::CheckMayMutate(const Caller& caller, const TableName& table,
                                    const RowMutations& mutations) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(table));
  const auto check = [&](const std::string& family, const std::string& qualifier) {
    return store_.CheckMayPut(caller, table, family, qualifier);  // HBase's W deletes as well
  };
  for (const Mutation& mutation : mutations.mutations) {
    if (const auto* put = std::get_if<Put>(&mutation)) {
      for (const PutCell& cell : put->cells)
        CELLFS_RETURN_IF_ERROR(check(cell.family, cell.qualifier));
    } else if (const auto* remove = std::get_if<Delete>(&mutation)) {
      for (const DeleteMarker& marker : remove->markers)
        CELLFS_RETURN_IF_ERROR(check(marker.family, marker.qualifier));
    }
  }
  return RowChange(filesystem_, store_, rights_, umask_, table, mutations.row)
      .Begin(mutations.mutations);
}

StatusOr<CheckAndMutateResult> CallersStore::CheckAndMutate(const Caller& caller,
                                                            const TableName& table,
                                                            const cellfs::CheckAndMutate& check) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(table));
  if (const auto* column = std::get_if<ColumnCondition>(&check.condition)) {
    CELLFS_RETURN_IF_ERROR(
        rights_.CheckMayRead(CellPlace(table, check.row, column->family, column->qualifier)));
  } else {
    CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  }
  auto result = ChangeIf(caller, table, check);
  filesystem_.AwaitKernel();
  return result;
}

StatusOr<CheckAndMutateResult> CallersStore::ChangeIf(const Caller& caller, const TableName& table,
                                                      const cellfs::CheckAndMutate& check) {
  RowChange change(filesystem_, store_, rights_, umask_, table, check.row);
  CELLFS_RETURN_IF_ERROR(change.Begin(check.action.mutations));
  auto result = store_.CheckAndMutate(caller, table, check);
  if (result.ok() && !result->done) return result;
  change.Ended(result.status());
  return result;
}

std::vector<StatusOr<MutationResult>> CallersStore::Batch(const Caller& caller,
                                                          const TableName& table,
                                                          const std::vector<RowMutations>& rows) {
  std::vector<StatusOr<MutationResult>> results;
  results.reserve(rows.size());
  Status stopped = CheckMayChange(table);
  for (const RowMutations& row : rows) {
    if (!stopped.ok()) {
      results.emplace_back(stopped);
      continue;
    }
    results.push_back(Change(caller, table, row));
    if (results.size() % kRowsUntold == 0) filesystem_.AwaitKernel();
    if (!results.back().ok())
      stopped = Status(StatusCode::kUnavailable, "not tried, for a row before it failed");
  }
  filesystem_.AwaitKernel();
  return results;
}

// ---- Namespaces and tables ----------------------------------------------------------------------

Status CallersStore::Made(const Place& place, Status done,
                          const std::function<Status()>& unmake) {
  if (!IsInForce(done)) return done;
  AttributeUpdate update;
  update.uid = rights_.asker().uid;
  if (!rights_.asker().groups.empty()) update.gid = rights_.asker().groups.front();
  update.mtime = update.ctime = ToTimespec(parts_.clock->Now());
  update.mode = 0777 & ~umask_;
  update.anew = true;
  if (const Outcome stored = parts_.attributes.Update(place, update); !stored.ok()) {
    done = unmake();
    if (done.ok()) return {StatusCode::kIoError, "its owner and mode: " + stored.reason()};
    done = {StatusCode::kOutcomeUnknown,
            "it is made, but its owner and mode are not stored: " + stored.reason()};
  }
  parts_.errors.Record("create", place, parts_.schemas.NoteChanged(place));
  parts_.tree.unstored.ShowToml(place);
  filesystem_.NamesChanged(place.Parent());
  if (place.kind == PlaceKind::kTable) {
    parts_.tree.declared.Forget(place.table);
    parts_.tree.kernel.TableChanged(place.table);
  } else {
    parts_.tree.kernel.NamespaceChanged(place.table.namespace_name);
  }
  return done;
}

Status CallersStore::Gone(const Place& place) {
  parts_.tree.unstored.RemoveBelow(place);
  parts_.tree.unstored.ShowToml(place);
  parts_.tree.directory_times.Forget(place);
  filesystem_.NamesChanged(place.Parent());
  if (place.kind == PlaceKind::kTable) {
    parts_.tree.kernel.TableChanged(place.table);
  } else {
    parts_.tree.kernel.NamespaceChanged(place.table.namespace_name);
  }
  filesystem_.AwaitKernel();
  return {};
}

Status CallersStore::CheckChangesTable(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  CELLFS_RETURN_IF_ERROR(store_.DescribeTable(table).status());
  return rights_.CheckOwns(TablePlace(table));
}

Status CallersStore::ChangeInTurn(const TableName& table, const std::function<Status()>& change) {
  const Place place = TablePlace(table);
  Status done;
  {
    const auto turn = parts_.schemas.TakeTurn(table);
    done = change();
    if (!IsInForce(done)) return done;
    parts_.tree.declared.Forget(table);  // before rmdir, which may undeclare one, gets its turn
    parts_.errors.Record("alter", place, parts_.schemas.NoteChanged(place));
  }
  parts_.tree.unstored.ShowToml(place);
  parts_.tree.kernel.TableChanged(table);
  filesystem_.AwaitKernel();
  return done;
}

Status CallersStore::CreateNamespace(const Caller& caller, const NamespaceSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(RootPlace()));
  return Made(NamespacePlace(schema.name), store_.CreateNamespace(caller, schema),
              [&] { return store_.DropNamespace(caller, schema.name); });
}

Status CallersStore::CheckChangesNamespace(const std::string& name) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(name));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(store_.DescribeNamespace(name).status());
  return rights_.CheckOwns(NamespacePlace(name));
}

Status CallersStore::AlterNamespace(const Caller& caller, const NamespaceSchema& schema) {
  return ChangeNamespace(caller, schema.name, [&](NamespaceSchema& changed) {
    changed = schema;
    return Status();
  });
}

Status CallersStore::ChangeNamespace(const Caller& caller, const std::string& name,
                                     const NamespaceChange& change) {
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  return ChangeNamespaceInTurn(name, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(NamespaceSchema schema, store_.DescribeNamespace(name));
    CELLFS_RETURN_IF_ERROR(change(schema));
    return store_.AlterNamespace(caller, schema);
  });
}

Status CallersStore::ChangeNamespaceInTurn(const std::string& name,
                                           const std::function<Status()>& change) {
  const Place place = NamespacePlace(name);
  {
    const auto turn = parts_.schemas.TakeTurn(place.table);
    CELLFS_RETURN_IF_ERROR(change());
    parts_.errors.Record("alter", place, parts_.schemas.NoteChanged(place));
  }
  parts_.tree.unstored.ShowToml(place);
  parts_.tree.kernel.NamespaceChanged(name);
  return {};
}

Status CallersStore::DropNamespace(const Caller& caller, const std::string& name) {
  const Place place = NamespacePlace(name);
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(RootPlace()));
  CELLFS_RETURN_IF_ERROR(store_.DropNamespace(caller, name));
  parts_.errors.Record("drop", place, parts_.attributes.DropNamespace(place));
  return Gone(place);
}

StatusOr<NamespaceSchema> CallersStore::DescribeNamespace(const std::string& name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReachNamespace(name));
  return store_.DescribeNamespace(name);
}

StatusOr<std::vector<std::string>> CallersStore::ListNamespaces() {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayListIn(RootPlace()));
  CELLFS_ASSIGN_OR_RETURN(auto names, store_.ListNamespaces());
  std::erase(names, kHiddenNamespace);
  return names;
}

Status CallersStore::CreateTable(const Caller& caller, const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_RETURN_IF_ERROR(CheckIsShown(schema.name()));
  const Place name_space = NamespacePlace(schema.name().namespace_name);
  CELLFS_RETURN_IF_ERROR(store_.DescribeNamespace(schema.name().namespace_name).status());
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayMakeIn(name_space));
  for (const auto& [name, family] : schema.families)
    CELLFS_RETURN_IF_ERROR(CheckInheritance(family));
  CELLFS_RETURN_IF_ERROR(parts_.schemas.CheckShare(schema));
  return Made(TablePlace(schema.name()), store_.CreateTable(caller, schema), [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const bool dropped, store_.DropEmptyTable(caller, schema.name()));
    return dropped ? Status() : Status(StatusCode::kUnavailable, "somebody has put a cell");
  });
}

Status CallersStore::AlterTable(const Caller& caller, const TableSchema& schema) {
  return ChangeTable(caller, schema.name(), [&](TableSchema& changed) {
    changed = schema;
    return Status();
  });
}

Status CallersStore::ChangeTable(const Caller& caller, const TableName& table,
                                 const SchemaChange& change) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto before, store_.DescribeTable(table));
    TableSchema schema = *before;
    CELLFS_RETURN_IF_ERROR(change(schema));
    for (const auto& [name, family] : schema.families)
      CELLFS_RETURN_IF_ERROR(CheckInheritance(family));
    CELLFS_RETURN_IF_ERROR(parts_.schemas.CheckShare(schema));
    std::set<std::string> dropped;
    for (const auto& [name, family] : before->families) {
      if (schema.FindFamily(name) == nullptr) dropped.insert(name);
    }
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(
        table, dropped, [&] { return store_.AlterTable(caller, schema); });
    if (IsInForce(done)) {
      for (const std::string& family : dropped) parts_.schemas.FamilyWent(table, family, time);
    }
    return done;
  });
}

Status CallersStore::RecreateTable(const Caller& caller, const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(schema.name()));
  return ChangeInTurn(schema.name(), [&]() -> Status {
    CELLFS_RETURN_IF_ERROR(parts_.schemas.CheckShare(schema));
    return store_.RecreateTable(caller, schema);
  });
}

Status CallersStore::SplitTable(const Caller& caller, const TableName& table,
                                const std::string& key) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_ASSIGN_OR_RETURN(const auto present, store_.DescribeTable(table));
    TableSchema split = *present;
    split.split_keys.push_back(key);
    CELLFS_RETURN_IF_ERROR(parts_.schemas.CheckShare(split));
    return store_.SplitTable(caller, table, key);
  });
}

Status CallersStore::CheckShareWith(const TableName& table, const FamilySchema& family) {
  CELLFS_ASSIGN_OR_RETURN(const auto present, store_.DescribeTable(table));
  TableSchema schema = *present;
  schema.families.insert_or_assign(family.name(), family);
  return parts_.schemas.CheckShare(schema);
}

Status CallersStore::AddFamily(const Caller& caller, const TableName& table,
                               const FamilySchema& family) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  CELLFS_RETURN_IF_ERROR(CheckInheritance(family));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_RETURN_IF_ERROR(CheckShareWith(table, family));
    return store_.AddFamily(caller, table, family);
  });
}

Status CallersStore::ModifyFamily(const Caller& caller, const TableName& table,
                                  const FamilySchema& family) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  CELLFS_RETURN_IF_ERROR(CheckInheritance(family));
  return ChangeInTurn(table, [&]() -> Status {
    CELLFS_RETURN_IF_ERROR(CheckShareWith(table, family));
    return store_.ModifyFamily(caller, table, family);
  });
}

Status CallersStore::WhileDisabled(const Caller& caller, const TableName& table,
                                   const std::function<Status()>& act) {
  const Status disabled = store_.DisableTable(caller, table);
  const bool was_disabled = disabled.code() == StatusCode::kTableNotEnabled;
  if (!was_disabled) CELLFS_RETURN_IF_ERROR(disabled);
  const Status done = act();
  if (!done.ok() && !was_disabled) static_cast<void>(store_.EnableTable(caller, table));
  return done;
}

Status CallersStore::DropFamily(const Caller& caller, const TableName& table,
                                const std::string& family) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] {
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(
        table, std::set{family}, [&] { return store_.DropFamily(caller, table, family); });
    if (IsInForce(done)) parts_.schemas.FamilyWent(table, family, time);
    return done;
  });
}

Status CallersStore::CheckDropsTable(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return rights_.CheckMayMakeIn(NamespacePlace(table.namespace_name));
}

Status CallersStore::DropTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  return Drop(table, [&] { return store_.DropTable(caller, table); });
}

Status CallersStore::DisableAndDropTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  return Drop(table, [&] {
    return WhileDisabled(caller, table, [&] { return store_.DropTable(caller, table); });
  });
}

Status CallersStore::Drop(const TableName& table, const std::function<Status()>& act) {
  const Place place = TablePlace(table);
  CELLFS_ASSIGN_OR_RETURN(const DataTable data, parts_.attributes.BeginDropTable(place));
  const Status done = parts_.open_files.Drop(table, std::nullopt, act);
  if (!IsInForce(done)) return done;
  parts_.errors.Record("drop", place, parts_.attributes.DropTable(data));
  CELLFS_RETURN_IF_ERROR(Gone(place));
  return done;
}

StatusOr<bool> CallersStore::DropEmptyTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckDropsTable(table));
  const Place place = TablePlace(table);
  CELLFS_ASSIGN_OR_RETURN(const DataTable data, parts_.attributes.BeginDropTable(place));
  CELLFS_ASSIGN_OR_RETURN(const bool dropped, store_.DropEmptyTable(caller, table));
  if (!dropped) return false;
  parts_.errors.Record("drop", place, parts_.attributes.DropTable(data));
  CELLFS_RETURN_IF_ERROR(Gone(place));
  return true;
}

Status CallersStore::TruncateTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return Truncate(table, [&] { return store_.TruncateTable(caller, table); });
}

Status CallersStore::DisableAndTruncateTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return Truncate(table, [&] {
    return WhileDisabled(caller, table, [&] { return store_.TruncateTable(caller, table); });
  });
}

Status CallersStore::Truncate(const TableName& table, const std::function<Status()>& act) {
  return ChangeInTurn(table, [&] {
    const Timestamp time = parts_.clock->Now();
    const Status done = parts_.open_files.Drop(table, std::nullopt, act);
    if (IsInForce(done)) {
      const Place place = TablePlace(table);
      parts_.tree.unstored.RemoveBelow(place);
      parts_.errors.Record("truncate", place, parts_.attributes.Emptied(place, time));
    }
    return done;
  });
}

Status CallersStore::EnableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.EnableTable(caller, table); });
}

Status CallersStore::DisableTable(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.DisableTable(caller, table); });
}

StatusOr<std::shared_ptr<const TableSchema>> CallersStore::DescribeTable(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.DescribeTable(table);
}

Status CallersStore::CheckMayReadToml(const Place& place) {
  return rights_.CheckMayReadToml(place);
}

StatusOr<bool> CallersStore::IsTableEnabled(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.IsTableEnabled(table);
}

StatusOr<std::vector<TableName>> CallersStore::ListTables(const std::string& namespace_name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(namespace_name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayListIn(NamespacePlace(namespace_name)));
  return store_.ListTables(namespace_name);
}

// ---- Maintenance, quotas and rights -------------------------------------------------------------

Status CallersStore::Flush(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  const Status done = store_.Flush(caller, table);
  filesystem_.AwaitKernel();
  return done;
}

Status CallersStore::Compact(const Caller& caller, const TableName& table, CompactionKind kind) {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  const Status done = store_.Compact(caller, table, kind);
  filesystem_.AwaitKernel();
  return done;
}

Statistics CallersStore::GetStatistics() {
  Statistics statistics = store_.GetStatistics();
  std::erase_if(statistics.tables, [this](const TableStatistics& table) {
    return table.table.namespace_name == kHiddenNamespace ||
           !rights_.CheckReach(table.table).ok();
  });
  std::erase_if(statistics.dropped, [this](const auto& table) {
    return table.first.namespace_name == kHiddenNamespace ||
           !rights_.CheckReachNamespace(table.first.namespace_name).ok();
  });
  if (!rights_.CheckMayAdminister().ok()) {
    statistics.lost_tables.clear();
    statistics.cut_off.clear();
  }
  return statistics;
}

// As a written .toml says one: of the table's or namespace's owner.
Status CallersStore::SetTableSpaceQuota(const Caller& caller, const TableName& table,
                                        const std::optional<SpaceQuota>& quota) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.SetTableSpaceQuota(caller, table, quota); });
}

Status CallersStore::SetNamespaceSpaceQuota(const Caller& caller, const std::string& name,
                                            const std::optional<SpaceQuota>& quota) {
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  return ChangeNamespaceInTurn(
      name, [&] { return store_.SetNamespaceSpaceQuota(caller, name, quota); });
}

StatusOr<std::optional<SpaceQuota>> CallersStore::TableSpaceQuota(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.TableSpaceQuota(table);
}

StatusOr<std::optional<SpaceQuota>> CallersStore::NamespaceSpaceQuota(const std::string& name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReachNamespace(name));
  return store_.NamespaceSpaceQuota(name);
}

std::map<TableName, bool> CallersStore::EnabledTables() {
  std::map<TableName, bool> tables;
  const auto namespaces = store_.ListNamespaces();
  if (!namespaces.ok()) return tables;
  for (const std::string& name : *namespaces) {
    const auto names = store_.ListTables(name);
    if (!names.ok()) continue;  // dropped meanwhile
    for (const TableName& table : *names) {
      const auto is_enabled = store_.IsTableEnabled(table);
      if (is_enabled.ok()) tables[table] = *is_enabled;
    }
  }
  return tables;
}

// A table over a quota that says so is disabled, and enabled again when it is not over it any more.
Status CallersStore::CheckSpaceQuotas() {
  const auto before = EnabledTables();
  const Status done = store_.CheckSpaceQuotas();
  if (!IsInForce(done)) return done;
  for (const auto& [table, is_enabled] : EnabledTables()) {
    const auto was = before.find(table);
    if (was != before.end() && was->second != is_enabled) parts_.tree.kernel.TableChanged(table);
  }
  return done;
}

Status CallersStore::GrantPermissions(const Caller& caller, const Grant& grant, bool merge) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(grant.scope));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  return store_.GrantPermissions(caller, grant, merge);
}

Status CallersStore::RevokePermissions(const Caller& caller, const std::string& user,
                                       const GrantScope& scope) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(scope));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  return store_.RevokePermissions(caller, user, scope);
}

// As HBase's AccessController lists them: to who has A at their scope. One's own are no secret.
bool CallersStore::MaySee(const Grant& grant, const std::vector<Grant>& grants) const {
  const std::string& user = parts_.callers.Of(rights_.asker().uid).user;
  if (grant.user == user) return true;
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& held) {
    return held.user == user && held.permissions.find('A') != std::string::npos &&
           Covers(held.scope, grant.scope);
  });
}

StatusOr<std::vector<Grant>> CallersStore::ListGrants() {
  const Status may_all = rights_.CheckMayAdminister();
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(may_all);
  CELLFS_ASSIGN_OR_RETURN(auto grants, store_.ListGrants());
  if (may_all.ok()) return grants;
  std::vector<Grant> seen;
  std::copy_if(grants.begin(), grants.end(), std::back_inserter(seen),
               [&](const Grant& grant) { return MaySee(grant, grants); });
  return seen;
}

}  // namespace cellfs::fs
