// SPDX-License-Identifier: MIT
#include "fs/store/raw_cells.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/filter.h"
#include "engine/filters.h"

namespace cellfs::fs {
namespace {

// Lets one column through, and the family tombstones, which stand at the empty qualifier. Neither
// costs more for what lies between them.
class ColumnAndFamilyTombstones : public Filter {
 public:
  explicit ColumnAndFamilyTombstones(std::string qualifier) : qualifier_(std::move(qualifier)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnAndFamilyTombstones>(qualifier_);
  }
  FilterReturn FilterCell(const CellView& cell) override {
    if (IsFamilyTombstone(cell.type) || cell.qualifier == qualifier_) return FilterReturn::kInclude;
    if (cell.qualifier > qualifier_) return FilterReturn::kNextRow;
    // Tombstones may lie behind the cells of the empty column.
    return cell.qualifier.empty() ? FilterReturn::kSkip : FilterReturn::kSeekNextUsingHint;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return CellHint{std::string(cell.row), std::string(cell.family), qualifier_};
  }
  std::string_view FirstColumn() const override { return qualifier_; }
  std::optional<std::string> OnlyColumn() const override { return qualifier_; }

 private:
  const std::string qualifier_;
};

// The same in HBase's words, which a server understands: it goes straight to the column, and counts
// the versions. What else lies at the empty qualifier comes along. A list takes the smallest step
// that any of its filters asks for, so the one for the tombstones has to end behind them.
FilterPtr InHBasesWords(const std::string& qualifier) {
  const auto at = [](const std::string& name) {
    return *MakeColumnRangeFilter(name, true, name, true);
  };
  if (qualifier.empty()) return at(qualifier);
  return *MakeFilterList(ListOperator::kMustPassOne,
                         {*MakeWhileMatchFilter(at("")), at(qualifier)});
}

// Whether filters run far away, where ours are not known. That is of one family; and a limit counts
// cells, so nothing may come along.
bool IsForServers(const StoreTraits& traits, const RawCellsQuery& query) {
  return !traits.stamps_above_column && !query.family.empty() && query.limit < 0;
}

}  // namespace

StatusOr<RowCells> RawCells(Store& store, const Caller& caller, const RawCellsQuery& query,
                            FilterPtr filter) {
  Scan scan;
  scan.start_row = scan.stop_row = query.row;
  scan.include_stop_row = true;
  scan.raw = true;
  scan.max_versions = query.max_versions;
  if (!query.family.empty()) scan.columns[query.family];
  scan.filter = std::move(filter);
  scan.time_range = query.times;
  scan.store_limit = query.limit;
  scan.lengths_only = query.lengths_only;
  scan.table_id = query.table_id;
  scan.moment = query.moment;
  // Where rights hide something it is no part that was asked for of what a caller reads.
  std::atomic<bool> passed_over = false;
  scan.passed_over = &passed_over;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, store.OpenScanner(caller, query.table, scan));
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({.max_rows = 1}));
  return rows.empty() ? RowCells() : std::move(rows.front());
}

StatusOr<RowCells> RawCellsOfColumn(Store& store, const Caller& caller, const RawCellsQuery& query,
                                    const std::string& qualifier) {
  if (!IsForServers(store.traits(), query))
    return RawCells(store, caller, query, std::make_shared<ColumnAndFamilyTombstones>(qualifier));
  CELLFS_ASSIGN_OR_RETURN(RowCells cells,
                          RawCells(store, caller, query, InHBasesWords(qualifier)));
  std::erase_if(cells, [&](const Cell& cell) {
    return cell.qualifier != qualifier && !IsFamilyTombstone(cell.type);
  });
  return cells;
}

}  // namespace cellfs::fs
