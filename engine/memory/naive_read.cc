// SPDX-License-Identifier: MIT
#include "engine/memory/naive_read.h"

#include <algorithm>

namespace cellfs {
namespace {

// The visible puts (of a raw scan: cells) of one column, in order.
class ColumnRead {
 public:
  ColumnRead(const FamilySchema& family, const Scan& scan, const TimeRange& range,
             bool explicit_columns, Timestamp now)
      : family_(family),
        scan_(scan),
        range_(range),
        explicit_(explicit_columns),
        now_(now),
        oldest_alive_(OldestAlive(family, now)) {}

  CellList Raw(const CellList& cells) const {
    CellList seen;
    const int32_t limit = scan_.filter ? kAllVersions : scan_.max_versions;
    int32_t puts = 0;
    for (const Cell* cell : cells) {
      if (!range_.Contains(cell->timestamp)) continue;
      if (!seen.empty() && seen.back()->timestamp == cell->timestamp &&
          seen.back()->type == cell->type) {
        continue;
      }
      if (!IsTombstone(cell->type)) ++puts;
      if (puts > limit) break;
      seen.push_back(cell);
    }
    return seen;
  }

  // Without NEW_VERSION_BEHAVIOR. `tombstones`: the row's that the time range lets work.
  CellList Ordinary(const CellList& cells, const CellList& tombstones) const {
    const int32_t limit = scan_.filter ? family_.max_versions() : VersionsAsked();
    CellList seen;
    for (const Cell* put : Unexpired(cells)) {
      const bool hidden = std::any_of(tombstones.begin(), tombstones.end(), [&](const Cell* one) {
        return Covers(*one, put->qualifier, put->timestamp);
      });
      if (hidden || !range_.Contains(put->timestamp)) continue;
      if (!seen.empty() && seen.back()->timestamp == put->timestamp) continue;
      const int32_t count = static_cast<int32_t>(seen.size()) + 1;
      if (explicit_) {
        // Takes the cell with which the count is full, an expired one too.
        seen.push_back(put);
        if (count >= limit || (count >= family_.min_versions() && Expired(*put))) break;
      } else {
        if (count > limit || (count > family_.min_versions() && Expired(*put))) break;
        seen.push_back(put);
      }
    }
    return seen;
  }

  CellList NewBehavior(const CellList& cells, const CellList& family_tombstones) const {
    CellList writings;
    for (const CellList* list : {&cells, &family_tombstones}) {
      for (const Cell* cell : *list) {
        if (list == &cells && IsFamilyTombstone(cell->type)) continue;
        if (!OutlivedItself(*cell, now_)) writings.push_back(cell);
      }
    }
    const std::string& column = cells.front()->qualifier;
    const auto left = LeftByRewriting(writings, column, family_.max_versions());
    CellList seen;
    int32_t count = 0;
    for (const Cell* put : cells) {
      if (!left.contains(put) || !range_.Contains(put->timestamp)) continue;
      ++count;
      if (Expired(*put) && count > family_.min_versions()) break;
      // HBase does not leave a column that was named, and takes the expired cell that makes up the
      // minimum, although more are not asked for.
      const bool fills = explicit_ && Expired(*put) && count == family_.min_versions();
      if (count <= VersionsAsked() || fills) seen.push_back(put);
    }
    return seen;
  }

  int32_t VersionsAsked() const { return std::min(scan_.max_versions, family_.max_versions()); }

 private:
  CellList Unexpired(const CellList& cells) const {
    CellList puts;
    for (const Cell* cell : cells) {
      if (IsTombstone(cell->type) || OutlivedItself(*cell, now_)) continue;
      if (family_.min_versions() == 0 && Expired(*cell)) continue;
      puts.push_back(cell);
    }
    return puts;
  }
  bool Expired(const Cell& cell) const { return cell.timestamp < oldest_alive_; }

  const FamilySchema& family_;
  const Scan& scan_;
  const TimeRange range_;
  const bool explicit_;
  const Timestamp now_;
  const Timestamp oldest_alive_;
};

bool IsBefore(const Cell& cell, const CellHint& hint) {
  if (cell.row != hint.row) return cell.row < hint.row;
  if (cell.family != hint.family) return cell.family < hint.family;
  if (cell.qualifier != hint.qualifier) return cell.qualifier < hint.qualifier;
  return cell.timestamp > hint.timestamp;
}

}  // namespace

NaiveReader::NaiveReader(const Scan& scan, std::shared_ptr<const TableSchema> schema,
                         int64_t max_row_size)
    : scan_(scan),
      schema_(std::move(schema)),
      max_row_size_(max_row_size),
      filter_(scan.filter ? scan.filter->Clone() : nullptr) {
  if (filter_) filter_->SetReversed(scan.reversed);
}

Status NaiveReader::Check() const {
  const bool named = std::any_of(scan_.columns.begin(), scan_.columns.end(),
                                 [](const auto& family) { return !family.second.empty(); });
  if (scan_.raw && named) return {StatusCode::kDoNotRetry, "a raw scan takes whole families only"};
  if (!scan_.reversed) return {};
  for (const auto& [name, family] : schema_->families) {
    if ((scan_.columns.empty() || scan_.columns.contains(name)) && !IsEssential(name)) {
      return {StatusCode::kDoNotRetry, "a reversed scan cannot load families on demand"};
    }
  }
  return {};
}

bool NaiveReader::IsAsked(const std::string& family) const {
  return !closed_.contains(family) && (scan_.columns.empty() || scan_.columns.contains(family));
}

bool NaiveReader::IsEssential(const std::string& family) const {
  return IsAsked(family) &&
         (!filter_ || !scan_.load_families_on_demand || filter_->IsFamilyEssential(family));
}

StatusOr<RowCells> NaiveReader::ReadRow(const std::string& row,
                                        const std::map<std::string, CellList>& families,
                                        Timestamp now) {
  RowCells result;
  if (filter_ && (filter_->FilterAllRemaining() || filter_->FilterRowKey(row))) {
    done_ = filter_->FilterAllRemaining();
    // HBase goes over such a row cell by cell and shows them to the filter; backward it seeks.
    if (!done_ && !scan_.reversed) {
      CELLFS_RETURN_IF_ERROR(ReadEssential(families, now, result));
    }
    LeaveRow();
    return RowCells{};
  }
  CELLFS_RETURN_IF_ERROR(ReadEssential(families, now, result));
  if (IsRowExcluded(result)) {
    LeaveRow();
    return RowCells{};
  }
  for (const auto& [family, cells] : families) {
    if (IsAsked(family) && !IsEssential(family)) {
      CELLFS_RETURN_IF_ERROR(ReadFamily(family, cells, now, result));
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Cell& a, const Cell& b) { return a.family < b.family; });
  LeaveRow();
  if (filter_ && !result.empty()) done_ = filter_->FilterAllRemaining();
  if (scan_.lengths_only) {
    for (Cell& cell : result) cell.value.clear();
  }
  return result;
}

Status NaiveReader::ReadEssential(const std::map<std::string, CellList>& families, Timestamp now,
                                  RowCells& result) {
  for (const auto& [family, cells] : families) {
    if (IsEssential(family)) CELLFS_RETURN_IF_ERROR(ReadFamily(family, cells, now, result));
  }
  return {};
}

bool NaiveReader::IsRowExcluded(RowCells& cells) {
  if (!filter_) return cells.empty();
  if (!filter_->HasFilterRow()) return cells.empty() || filter_->FilterRow();
  const bool was_empty = cells.empty();
  filter_->FilterRowCells(cells);
  // A row that FilterRowCells has emptied is not judged, so families loaded on demand may follow.
  return was_empty || (!cells.empty() && filter_->FilterRow());
}

void NaiveReader::LeaveRow() {
  if (filter_) filter_->Reset();
}

Status NaiveReader::ReadFamily(const std::string& family, const CellList& cells, Timestamp now,
                               RowCells& result) {
  const FamilySchema* schema = schema_->FindFamily(family);
  if (schema == nullptr || cells.empty()) return {};
  return Judge(*schema, Visible(*schema, cells, now), result);
}

CellList NaiveReader::Visible(const FamilySchema& family, const CellList& cells,
                              Timestamp now) const {
  const auto asked = scan_.columns.find(family.name());
  const bool named = asked != scan_.columns.end() && !asked->second.empty();
  const auto own_range = scan_.family_time_ranges.find(family.name());
  const TimeRange range =
      own_range == scan_.family_time_ranges.end() ? scan_.time_range : own_range->second;
  CellList tombstones;
  CellList family_tombstones;
  for (const Cell* cell : cells) {
    if (!IsTombstone(cell->type)) continue;
    const bool works = family.keep_deleted_cells() == KeepDeletedCells::kFalse
                           ? cell->timestamp >= range.min
                           : range.Contains(cell->timestamp);
    if (!works) continue;
    tombstones.push_back(cell);
    if (IsFamilyTombstone(cell->type)) family_tombstones.push_back(cell);
  }
  const ColumnRead column(family, scan_, range, named, now);
  CellList visible;
  for (const auto& [name, list] : ByColumn(cells)) {
    if (named && !asked->second.contains(name)) continue;
    const CellList seen = scan_.raw ? column.Raw(list)
                          : family.new_version_behavior()
                              ? column.NewBehavior(list, family_tombstones)
                              : column.Ordinary(list, tombstones);
    visible.insert(visible.end(), seen.begin(), seen.end());
  }
  return visible;
}

Status NaiveReader::Judge(const FamilySchema& family, const CellList& visible, RowCells& result) {
  const auto asked = scan_.columns.find(family.name());
  const bool named = asked != scan_.columns.end() && !asked->second.empty();
  // There HBase seeks to the column that it is in.
  const bool stays_in_column = named && family.new_version_behavior() && !scan_.raw;
  const int32_t versions =
      scan_.raw ? scan_.max_versions : std::min(scan_.max_versions, family.max_versions());
  int64_t bytes = 0;
  int32_t passed = 0;    // of the family
  int32_t included = 0;  // of the column
  const std::string* column = nullptr;
  const std::string* left_column = nullptr;
  std::optional<CellHint> hint;
  for (const Cell* cell : visible) {
    if (hint && IsBefore(*cell, *hint)) continue;
    if (left_column != nullptr && cell->qualifier == *left_column) continue;
    if (column == nullptr || *column != cell->qualifier) included = 0;
    column = &cell->qualifier;
    FilterReturn answer = FilterReturn::kInclude;
    if (filter_) {
      if (filter_->FilterAllRemaining()) break;
      answer = filter_->FilterCell(ViewOf(*cell));
    }
    if (answer == FilterReturn::kNextRow) break;
    const bool next_column =
        answer == FilterReturn::kNextColumn || answer == FilterReturn::kIncludeAndNextColumn;
    // The column of the empty qualifier is never left: family tombstones may follow (HBASE-18471).
    if (next_column && !stays_in_column && !column->empty()) left_column = column;
    if (answer == FilterReturn::kSkip || answer == FilterReturn::kNextColumn) continue;
    if (answer == FilterReturn::kSeekNextUsingHint) {
      if (!scan_.reversed) hint = filter_->GetNextCellHint(ViewOf(*cell));
      continue;
    }
    if (!filter_ || ++included <= versions) {
      Cell copy = *cell;
      if (filter_) filter_->TransformCell(copy);
      if (++passed > scan_.store_offset) {
        bytes += static_cast<int64_t>(cell->row.size() + cell->family.size() +
                                      cell->qualifier.size() + cell->value.size() + 20);
        if (max_row_size_ > 0 && bytes > max_row_size_) {
          return {StatusCode::kDoNotRetry, "row is larger than hbase.table.max.rowsize"};
        }
        result.push_back(std::move(copy));
        // As a seek to the next row, before the filter is asked whether it has had enough.
        if (scan_.store_limit >= 0 && passed >= scan_.store_limit + scan_.store_offset) return {};
      }
    } else if (!stays_in_column && !column->empty()) {
      left_column = column;
    }
    if (answer == FilterReturn::kIncludeAndSeekNextRow) break;
  }
  if (filter_ && filter_->FilterAllRemaining()) closed_.insert(family.name());
  return {};
}

}  // namespace cellfs
