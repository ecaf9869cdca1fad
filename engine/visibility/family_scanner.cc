// SPDX-License-Identifier: MIT
#include "engine/visibility/family_scanner.h"

#include <algorithm>

namespace cellfs {
namespace {

constexpr int kStepsBeforeSeek = 6;
constexpr size_t kMostExpected = 256;  // cells of a row

CellView WithFamily(CellView cell, std::string_view family) {
  cell.family = family;
  return cell;
}

}  // namespace

FamilyScanner::FamilyScanner(const FamilySchema& family, const Query& query, ColumnNames columns,
                             Filter* filter, Timestamp now, const Options& options,
                             const WorkLimit& limit, std::unique_ptr<CellCursor> cursor)
    : family_name_(family.name()),
      limit_(&limit),
      cursor_(std::move(cursor)),
      matcher_(family, query, columns, options.raw, filter, now),
      filter_(filter),
      options_(options) {}

Status FamilyScanner::SeekToRow(const std::string& row, bool inclusive) {
  if (options_.single_row && inclusive) return SeekToOnlyRow(row);
  if (!options_.reversed) {
    if (inclusive || row.empty()) return cursor_->Seek({.row = row});
    return cursor_->Seek({.row = RowAfter(row)});
  }
  if (inclusive && !row.empty()) {
    CELLFS_RETURN_IF_ERROR(cursor_->Seek({.row = row}));
    if (cursor_->valid() && cursor_->cell().row == row) return {};
  }
  return cursor_->SeekToRowBefore(row);
}

Status FamilyScanner::SeekToOnlyRow(const std::string& row) {
  matcher_.SetToNewRow();
  CellPlace place{.row = row};
  const std::string_view first_column =
      filter_ != nullptr ? filter_->FirstColumn() : matcher_.ColumnHint().value_or("");
  if (!first_column.empty()) {
    CELLFS_ASSIGN_OR_RETURN(const bool may_be_hidden, cursor_->MayHaveFamilyTombstones(row));
    if (!may_be_hidden) place.qualifier = first_column;
  }
  CELLFS_RETURN_IF_ERROR(cursor_->Seek(place));
  // Neither the row behind nor, going backward, the row before is asked for.
  closed_ = !cursor_->valid() || cursor_->cell().row != row;
  return {};
}

Status FamilyScanner::NextRow(const std::string& row, size_t max_bytes, RowCells& cells) {
  bytes_read_ = 0;
  bytes_held_ = 0;
  if (!is_in_row()) {
    matcher_.SetToNewRow();
    count_in_row_ = 0;
  }
  next_in_row_.reset();
  while (true) {
    if (options_.reversed) CELLFS_RETURN_IF_ERROR(TurnBackFrom(row));
    if (!valid()) return {};
    // Asked at the first cell of the row to come too: a filter that has had enough closes the
    // family for good.
    if (filter_ != nullptr && filter_->FilterAllRemaining()) {
      closed_ = true;
      return {};
    }
    const CellView& cell = cursor_->cell();
    if (cell.row != row) return {};
    if (BreaksOff(row, max_bytes)) return {};
    if (limit_->IsCancelled()) return Cancelled();
    if (filter_ != nullptr && filter_->ReadsValues()) CELLFS_RETURN_IF_ERROR(cursor_->LoadValue());
    // A cursor may leave the family out, but a filter may ask for it.
    const MatchCode code =
        filter_ == nullptr ? matcher_.Match(cell) : matcher_.Match(WithFamily(cell, family_name_));
    switch (code) {
      case MatchCode::kInclude:
      case MatchCode::kIncludeAndSeekNextColumn:
      case MatchCode::kIncludeAndSeekNextRow: {
        CELLFS_RETURN_IF_ERROR(Include(cell, cells));
        const bool at_limit = options_.store_limit >= 0 && count_in_row_ > options_.store_offset &&
                              count_in_row_ >= options_.store_limit + options_.store_offset;
        if (at_limit) return PassRow(row);
        if (code == MatchCode::kInclude) {
          CELLFS_RETURN_IF_ERROR(cursor_->Next());
        } else if (code == MatchCode::kIncludeAndSeekNextColumn) {
          CELLFS_RETURN_IF_ERROR(SeekNextColumn(row));
        } else {
          CELLFS_RETURN_IF_ERROR(PassRow(row));
        }
        break;
      }
      case MatchCode::kSkip:
        CELLFS_RETURN_IF_ERROR(cursor_->Next());
        break;
      case MatchCode::kSeekNextColumn:
        CELLFS_RETURN_IF_ERROR(SeekNextColumn(row));
        break;
      case MatchCode::kSeekNextRow:
        CELLFS_RETURN_IF_ERROR(PassRow(row));
        break;
      case MatchCode::kSeekNextUsingHint:
        CELLFS_RETURN_IF_ERROR(FollowHint(row));
        break;
      case MatchCode::kDoneScan:
        closed_ = true;
        return {};
    }
  }
}

bool FamilyScanner::BreaksOff(const std::string& row, size_t max_bytes) {
  if (bytes_held_ == 0 || bytes_held_ < max_bytes) return false;
  const CellView& cell = cursor_->cell();
  next_in_row_ = Cell{.row = row,
                      .qualifier = std::string(cell.qualifier),
                      .timestamp = cell.timestamp,
                      .type = cell.type,
                      .sequence_id = cell.sequence_id};
  return true;
}

// The cell may have gone since.
Status FamilyScanner::GoOn(const WorkLimit& limit, std::unique_ptr<CellCursor> cursor) {
  limit_ = &limit;
  cursor_ = std::move(cursor);
  const CellView next = ViewOf(*next_in_row_);
  CELLFS_RETURN_IF_ERROR(cursor_->Seek(
      {.row = next.row, .qualifier = next.qualifier, .timestamp = next.timestamp}));
  while (cursor_->valid() && IsBefore(cursor_->cell(), next))
    CELLFS_RETURN_IF_ERROR(cursor_->Next());
  return {};
}

Status FamilyScanner::TurnBackFrom(const std::string& row) {
  const bool ran_forward = !closed_ && (!cursor_->valid() || cursor_->cell().row > row);
  return ran_forward ? cursor_->SeekToRowBefore(row) : Status();
}

Status FamilyScanner::PassRow(const std::string& row) {
  if (options_.single_row) {
    closed_ = true;
    return {};
  }
  if (options_.reversed) return cursor_->SeekToRowBefore(row);
  return StepOrSeek([&](const CellView& cell) { return cell.row == row; },
                    [&] { return cursor_->Seek({.row = RowAfter(row)}); });
}

Status FamilyScanner::Include(const CellView& cell, RowCells& cells) {
  ++count_in_row_;
  if (count_in_row_ <= options_.store_offset) return {};
  if (cells.empty() && options_.store_limit > 0) {
    cells.reserve(std::min(static_cast<size_t>(options_.store_limit), kMostExpected));
  }
  if (!options_.lengths_only) CELLFS_RETURN_IF_ERROR(cursor_->LoadValue());
  Cell& copy = cells.emplace_back();
  copy.row = std::string(cell.row);
  copy.family = family_name_;
  copy.qualifier = cell.qualifier;
  copy.timestamp = cell.timestamp;
  copy.type = cell.type;
  copy.sequence_id = cell.sequence_id;
  copy.time_to_live = cell.time_to_live;
  copy.value_length = cell.value_length;
  if (!options_.lengths_only) cursor_->TakeValue(&copy.value);
  if (filter_ != nullptr) filter_->TransformCell(copy);
  if (options_.lengths_only) copy.value.clear();  // KeyOnlyFilter may have put a length there
  bytes_read_ += static_cast<int64_t>(copy.row.size() + copy.family.size() +
                                      copy.qualifier.size() + copy.value.size() + 20);
  bytes_held_ += HeldBytes(copy);
  if (options_.max_row_size > 0 && bytes_read_ > options_.max_row_size) {
    return Status(StatusCode::kDoNotRetry,
                  "a read of one row gives more than hbase.table.max.rowsize (" +
                      std::to_string(options_.max_row_size) +
                      " bytes); read fewer columns at once");
  }
  return {};
}

Status FamilyScanner::SeekNextColumn(const std::string& row) {
  const CellView& cell = cursor_->cell();
  // Family tombstones may lie behind the cells of the empty column (HBASE-18471).
  if (cell.qualifier.empty()) return cursor_->Next();
  passed_column_ = cell.qualifier;
  if (auto hint = matcher_.ColumnHint()) {
    // Under NEW_VERSION_BEHAVIOR the column that is being walked stays wanted.
    if (*hint <= passed_column_) return cursor_->Next();
    const std::string wanted(*hint);
    return StepOrSeek([&](const CellView& c) { return c.row == row && c.qualifier < wanted; },
                      [&] { return cursor_->Seek({.row = row, .qualifier = wanted}); });
  }
  return StepOrSeek(
      [&](const CellView& c) { return c.row == row && c.qualifier == passed_column_; },
      [&] { return cursor_->Seek({.row = row, .qualifier = RowAfter(passed_column_)}); });
}

Status FamilyScanner::FollowHint(const std::string& row) {
  const CellView& cell = cursor_->cell();
  std::optional<CellHint> hint = filter_->GetNextCellHint(cell);
  if (!hint || options_.reversed) return cursor_->Next();
  const bool ahead = hint->row != row ? hint->row > row
                     : hint->family != family_name_ && !hint->family.empty()
                         ? hint->family > family_name_
                     : hint->qualifier != cell.qualifier ? hint->qualifier > cell.qualifier
                                                         : hint->timestamp < cell.timestamp;
  if (!ahead) return cursor_->Next();
  if (hint->row == row && !hint->family.empty() && hint->family != family_name_)
    return PassRow(row);
  return cursor_->Seek(
      {.row = hint->row, .qualifier = hint->qualifier, .timestamp = hint->timestamp});
}

template <typename IsPassed, typename Seek>
Status FamilyScanner::StepOrSeek(const IsPassed& is_passed, const Seek& seek) {
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    if (!cursor_->valid() || !is_passed(cursor_->cell())) return {};
    CELLFS_RETURN_IF_ERROR(cursor_->Next());
  }
  if (!cursor_->valid() || !is_passed(cursor_->cell())) return {};
  return seek();
}

}  // namespace cellfs
