// SPDX-License-Identifier: MIT
#include "fs/reading/reading.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "engine/big_endian.h"
#include "fs/reading/deleted_values.h"
#include "fs/reading/filter_rights.h"
#include "fs/reading/row_scan.h"
#include "fs/store/raw_cells.h"
#include "fs/store/readable_timestamps.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

namespace {

TimeRange Intersect(const TimeRange& a, const TimeRange& b) {
  TimeRange range{std::max(a.min, b.min), std::min(a.max, b.max)};
  range.max = std::max(range.min, range.max);
  return range;
}

// The table as it was at the view's time; null: as it is.
std::shared_ptr<const PastTable> PastOf(const Place& place) {
  return place.view != nullptr ? place.view->FindPast(place.table) : nullptr;
}

// Those that the table had at the view's time; none: all that it has.
Columns PastFamilies(const Place& place) {
  Columns columns;
  const auto past = PastOf(place);
  if (past == nullptr) return columns;
  for (const auto& [name, family] : past->schema->families) columns[name];
  return columns;
}

// The view's columns, narrowed to the place's family and qualifier. False: the view shows none
// there.
bool NarrowColumns(const Place& place, Columns& columns) {
  if (place.family.empty()) {
    if (columns.empty()) columns = PastFamilies(place);
    return true;
  }
  if (WasUndeclared(place)) return false;
  std::set<std::string> wanted;
  if (place.IsColumn() || place.kind == PlaceKind::kVersionsColumn) wanted.insert(place.qualifier);
  if (!columns.empty()) {
    const auto it = columns.find(place.family);
    if (it == columns.end()) return false;
    if (!it->second.empty()) {
      if (wanted.empty()) {
        wanted = it->second;
      } else if (!it->second.contains(place.qualifier)) {
        return false;
      }
    }
  }
  columns.clear();
  columns.emplace(place.family, std::move(wanted));
  return true;
}

// A filter may look at columns other than those it lets through, so it is always shown the whole
// row of such a scan, and what is wanted is picked afterwards.
bool MustReadWholeRow(const Place& place) { return place.view != nullptr && place.view->Filters(); }

bool IsWanted(const Place& place, const Cell& cell) {
  if (!place.family.empty() && cell.family != place.family) return false;
  if (place.IsColumn() && cell.qualifier != place.qualifier) return false;
  if (place.kind == PlaceKind::kVersion || place.kind == PlaceKind::kVersionsFile) {
    return cell.timestamp == place.timestamp;
  }
  return true;
}

OutcomeOr<std::optional<Cell>> FirstWanted(const Reading& reading, const Caller& caller,
                                           const Place& place, const Get& get) {
  std::optional<Cell> first;
  CELLFS_RETURN_IF_FAILED(ReadRow(reading, caller, place, get, [&](Cell& cell) {
    if (IsWanted(place, cell)) first = std::move(cell);
    return !first;
  }));
  return first;
}

// When a TTL ends it; nullopt: never.
std::optional<Timestamp> ExpiryOf(Timestamp version, int64_t time_to_live,
                                  const FamilySchema* family) {
  std::optional<Timestamp> expiry;
  const auto end_after = [&](int64_t milliseconds) {
    if (version > std::numeric_limits<Timestamp>::max() - milliseconds) return;
    const Timestamp end = version + milliseconds;
    expiry = expiry ? std::min(*expiry, end) : end;
  };
  if (family != nullptr && family->time_to_live() != kForever) {
    end_after(int64_t{family->time_to_live()} * 1000);
  }
  if (time_to_live != kNoCellTtl) end_after(time_to_live);
  return expiry;
}

}  // namespace

Status Reading::CheckReadable(const Place& version) const {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, DescribeTable(version));
  const FamilySchema* const family = schema->FindFamily(version.family);
  if (family == nullptr) return {};  // who puts there hears of it
  return CheckReadableAt(store_, clock_.Now(), {version.table, version.row, version.family},
                         version.qualifier, *family, version.timestamp, kNoCellTtl);
}

StatusOr<bool> Reading::ShowsDeleted(const Place& column, Timestamp version) const {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  if (!AreModesEnforced() || request == nullptr || request->uid() == 0) return true;
  CELLFS_ASSIGN_OR_RETURN(const auto directories, attributes_.DirectoriesThen(column, version));
  if (directories.empty()) return true;
  const Credentials credentials = request->FindCredentials();
  return std::ranges::all_of(directories, [&](const OwnerAndMode& directory) {
    return Allows(directory, credentials, kReadPermission);
  });
}

bool WasUndeclared(const Place& place) {
  const auto past = PastOf(place);
  return past != nullptr && past->schema->FindFamily(place.family) == nullptr;
}

Get GetOf(const Place& place, ReadDetail detail) {
  Get get;
  if (place.view != nullptr) {
    place.view->Narrow(get);
    get.table_id = place.view->IdOf(place.table);
  }
  get.row = place.row;
  get.lengths_only = detail == ReadDetail::kLengths;
  if (MustReadWholeRow(place)) return get;
  if (!NarrowColumns(place, get.columns)) get.time_range = {0, 0};
  if (place.kind == PlaceKind::kVersion || place.kind == PlaceKind::kVersionsFile) {
    get.time_range = Intersect(get.time_range, AtTimestamp(place.timestamp));
  }
  return get;
}

Outcome ReadRow(const Reading& reading, const Caller& caller, const Place& place, const Get& get,
                const std::function<bool(Cell& cell)>& see) {
  if (!MustReadWholeRow(place)) {
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, reading.Read(caller, place.table, get));
    static_cast<void>(std::all_of(cells.begin(), cells.end(), std::ref(see)));
    return {};
  }
  constexpr size_t kPiece = size_t{1} << 20;  // bytes
  CELLFS_ASSIGN_OR_RETURN(const auto scan, RowScan::Open(reading, caller, place, ScanOf(get)));
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(RowCells piece, scan->NextPiece(kPiece));
    if (piece.empty() || !std::all_of(piece.begin(), piece.end(), std::ref(see))) return {};
  }
}

OutcomeOr<std::optional<Cell>> ReadColumn(const Reading& reading, const Caller& caller,
                                          const Place& place, ReadDetail detail) {
  if (place.kind == PlaceKind::kDeletedCell) return DeletedValue(reading, caller, place, detail);
  return FirstWanted(reading, caller, place, GetOf(place, detail));
}

OutcomeOr<std::string> FileBytes(const Place& place, Cell cell) {
  if (place.kind != PlaceKind::kCounter) return std::move(cell.value);
  if (cell.value.size() != sizeof(int64_t)) {
    return Outcome(EINVAL, "a counter has 8 bytes, " + place.ToString() + " has " +
                               std::to_string(cell.value.size()));
  }
  const auto number = static_cast<int64_t>(ReadBigEndian<uint64_t>(cell.value));
  return std::to_string(number) + "\n";
}

bool IsOfHistory(const Place& place) {
  return place.kind == PlaceKind::kVersion || place.kind == PlaceKind::kVersionsFile ||
         place.kind == PlaceKind::kDeletedCell;
}

bool MayBeCached(const Reading& reading, const Caller& caller, const Place& place) {
  const bool is_plain = place.kind == PlaceKind::kRow || place.kind == PlaceKind::kFamily ||
                        place.kind == PlaceKind::kCell;
  return is_plain && reading.freshness().is_exact() && place.view == nullptr &&
         caller.is_superuser() && !place.table.IsSystemTable();
}

OutcomeOr<std::optional<Cell>> FirstVisibleCell(const Reading& reading, const Caller& caller,
                                                const Place& row_or_family) {
  Get get = GetOf(row_or_family, ReadDetail::kLengths);
  if (get.filter == nullptr) get.store_limit = 1;  // of each family
  return FirstWanted(reading, caller, row_or_family, get);
}

OutcomeOr<std::optional<Cell>> FirstVisibleCellBeside(const Reading& reading, const Caller& caller,
                                                      const Place& family) {
  const Place row = family.Parent();
  CELLFS_ASSIGN_OR_RETURN(const auto schema, reading.DescribeTable(row));
  Get get = GetOf(row, ReadDetail::kLengths);
  get.store_limit = 1;  // of each family
  for (const auto& [name, rules] : schema->families) {
    if (name != family.family) get.columns[name] = {};
  }
  if (get.columns.empty()) return std::optional<Cell>();  // there is no other
  return FirstWanted(reading, caller, row, get);
}

CachedCell CachedCellOf(const Cell& cell, const FamilySchema* family) {
  return CachedCellOf(cell.timestamp, cell.value_length, cell.time_to_live, family);
}

CachedCell CachedCellOf(Timestamp version, uint64_t size, int64_t time_to_live,
                        const FamilySchema* family) {
  return {version, size, ExpiryOf(version, time_to_live, family)};
}

}  // namespace cellfs::fs
