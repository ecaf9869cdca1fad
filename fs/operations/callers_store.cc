// SPDX-License-Identifier: MIT
//
// Cells. Namespaces and tables are in callers_store_tables.cc; maintenance, quotas and grants in
// callers_store_rights.cc.
#include "fs/operations/callers_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/filters.h"
#include "fs/operations/bulk_change.h"
#include "fs/operations/callers_scanner.h"
#include "fs/operations/row_change.h"
#include "fs/operations/shown_tables.h"
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

constexpr size_t kRowsUntold = 256;  // of which the kernel need not have been told

// As the mount leaves them out of the tables of the catalog.
FilterPtr WithoutHiddenRows(const TableName& table, const FilterPtr& filter) {
  return MakeVisibleCellsFilter(
      [table](const CellView& cell) { return !IsHiddenRow(table, cell.row); }, filter);
}

}  // namespace

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
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
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
  if (!names_all) return Open(caller, table, ScanOf(get), rights_.OfRead(table));
  const bool sees_history = get.max_versions > 1 || get.time_range != TimeRange();
  return Open(caller, table, ScanOf(get),
              sees_history ? rights_.OfNamedColumns(table) : nullptr);
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
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(scan.IsOfOneRow() ? rights_.CheckReach(table)
                                           : rights_.CheckMayList(table));
  return Open(caller, table, scan,
              NamesColumns(scan) ? rights_.OfNamedColumns(table) : rights_.OfRead(table));
}

namespace {

// All that is stored, so that nothing of a column seems to be gone, and no bytes of it.
bool TellsNoValues(const Scan& scan) {
  return scan.raw && scan.lengths_only &&
         (scan.filter == nullptr || !scan.filter->ReadsValues());
}

}  // namespace

StatusOr<std::unique_ptr<Scanner>> CallersStore::Open(const Caller& caller, const TableName& table,
                                                      Scan scan,
                                                      std::shared_ptr<FilterRights> rights) {
  if (table.IsSystemTable()) scan.filter = WithoutHiddenRows(table, scan.filter);
  if (scan.passed_over == nullptr) scan.passed_over = &has_passed_over_;
  if (rights != nullptr) {
    rights->TellHidden(*scan.passed_over);
    if (TellsNoValues(scan)) rights->ShowsClosedVersions();
    // A filter may seek to what it wants of a column.
    if (scan.raw || scan.filter != nullptr || scan.time_range != TimeRange())
      rights->BeginsInHistory();
    scan.filter = rights->Narrow(scan.filter);
  }
  scan.table_id = 0;  // the rights are those of the name
  CELLFS_ASSIGN_OR_RETURN(auto scanner, store_.OpenScanner(caller, table, scan));
  return std::unique_ptr<Scanner>(std::make_unique<CallersScanner>(
      parts_.scan_slots, scan.IsOfOneRow(), std::move(scanner), std::move(rights)));
}

Status CallersStore::CheckWritable() const {
  if (!parts_.options.read_only) return {};
  return {StatusCode::kReadOnly, "the mount is read-only"};
}

namespace {

// What lacks room waits for it with no column locked, and begins anew.
template <typename Change>
auto AwaitingRoom(const Change& make) {
  RoomToAwait room;
  while (true) {
    auto made = make(room);
    if (!room.Await()) return made;
  }
}

template <typename Call>
auto WithinRoom(RoomToAwait& room, const Call& call) {
  const RoomToAwait::Within within(&room);
  return call();
}

}  // namespace

StatusOr<MutationResult> CallersStore::Change(const Caller& caller, const TableName& table,
                                              const RowMutations& mutations,
                                              NewNames new_names) {
  return AwaitingRoom([&](RoomToAwait& room) -> StatusOr<MutationResult> {
    RowChange change(filesystem_, store_, rights_, umask_, table, mutations.row, new_names);
    CELLFS_RETURN_IF_ERROR(change.Begin(mutations.mutations, &room));
    auto result = WithinRoom(room, [&] { return store_.Mutate(caller, table, mutations); });
    if (!room.is_lacking()) change.Ended(result.status());
    return result;
  });
}

Status CallersStore::CheckMayChange(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  return rights_.CheckReach(table);
}

StatusOr<MutationResult> CallersStore::Mutate(const Caller& caller, const TableName& table,
                                              const RowMutations& mutations) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(table));
  auto result = Change(caller, table, mutations, NewNames::kAreTheCallers);
  filesystem_.AwaitKernel();
  return result;
}

Status CallersStore::CheckMayMutate(const Caller& caller, const TableName& table,
                                    const RowMutations& mutations) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(table));
  RowChange change(filesystem_, store_, rights_, umask_, table, mutations.row);
  CELLFS_RETURN_IF_ERROR(change.Begin(mutations.mutations));
  return store_.CheckMayMutate(caller, table, mutations);
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
  return AwaitingRoom([&](RoomToAwait& room) -> StatusOr<CheckAndMutateResult> {
    RowChange change(filesystem_, store_, rights_, umask_, table, check.row);
    CELLFS_RETURN_IF_ERROR(change.Begin(check.action.mutations, &room));
    auto result = WithinRoom(room, [&] { return store_.CheckAndMutate(caller, table, check); });
    const bool is_made = !result.ok() || result->done;
    if (is_made && !room.is_lacking()) change.Ended(result.status());
    return result;
  });
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
    results.push_back(Change(caller, table, row, NewNames::kAreTheCallers));
    if (results.size() % kRowsUntold == 0) filesystem_.AwaitKernel();
    if (!results.back().ok())
      stopped = Status(StatusCode::kUnavailable, "not tried, for a row before it failed");
  }
  filesystem_.AwaitKernel();
  return results;
}

std::vector<StatusOr<MutationResult>> CallersStore::Import(const Caller& caller,
                                                           const TableName& table,
                                                           const std::vector<RowMutations>& rows) {
  if (const Status may = CheckMayChange(table); !may.ok())
    return std::vector<StatusOr<MutationResult>>(rows.size(), may);
  BulkChange bulk(filesystem_, store_, table);
  const NewNames new_names =
      rights_.matter() ? NewNames::kAreTheCallers : NewNames::kInherit;  // as BulkChange's are
  const auto is_alone = [&](const RowMutations& row) {
    return rights_.matter() || bulk.IsKnown(row);
  };
  std::vector<StatusOr<MutationResult>> results;
  for (auto row = rows.begin(); row != rows.end();) {
    const auto next_alone = std::find_if(row, rows.end(), is_alone);
    if (next_alone == row) {
      results.push_back(Change(caller, table, *row++, new_names));
      if (results.size() % kRowsUntold == 0) filesystem_.AwaitKernel();
      continue;
    }
    const bool is_all = next_alone - row == std::ssize(rows);
    auto made = is_all ? bulk.Make(caller, rows) : bulk.Make(caller, {row, next_alone});
    row = next_alone;
    if (is_all) {
      results = std::move(made);
    } else {
      std::move(made.begin(), made.end(), std::back_inserter(results));
    }
  }
  filesystem_.AwaitKernel();
  return results;
}

}  // namespace cellfs::fs
