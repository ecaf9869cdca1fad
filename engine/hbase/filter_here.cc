// SPDX-License-Identifier: MIT
#include "engine/hbase/filter_here.h"

#include <map>
#include <string>
#include <utility>

#include "engine/filters.h"
#include "engine/visibility/region_scanner.h"
#include "engine/visibility/vector_cursor.h"

namespace cellfs::hbase {
namespace {

// A RegionScanner works on a clone of its filter; here each row has a scanner of its own, and the
// filter has to stay the same one.
class Shared : public Filter {
 public:
  explicit Shared(std::shared_ptr<Filter> filter) : filter_(std::move(filter)) {}

  std::unique_ptr<Filter> Clone() const override { return std::make_unique<Shared>(filter_); }

  void Reset() override { filter_->Reset(); }
  bool FilterRowKey(std::string_view row) override { return filter_->FilterRowKey(row); }
  bool FilterAllRemaining() override { return filter_->FilterAllRemaining(); }
  FilterReturn FilterCell(const CellView& cell) override { return filter_->FilterCell(cell); }
  void TransformCell(Cell& cell) const override { filter_->TransformCell(cell); }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return filter_->GetNextCellHint(cell);
  }
  bool IsHinting() const override { return filter_->IsHinting(); }
  bool HasFilterRow() const override { return filter_->HasFilterRow(); }
  void FilterRowCells(std::vector<Cell>& cells) override { filter_->FilterRowCells(cells); }
  bool FilterRow() override { return filter_->FilterRow(); }
  bool IsFamilyEssential(std::string_view family) const override {
    return filter_->IsFamilyEssential(family);
  }
  bool ReadsValues() const override { return filter_->ReadsValues(); }
  std::string_view FirstColumn() const override { return filter_->FirstColumn(); }
  std::optional<std::string> OnlyColumn() const override { return filter_->OnlyColumn(); }
  void SetReversed(bool reversed) override { filter_->SetReversed(reversed); }

 private:
  const std::shared_ptr<Filter> filter_;
};

// The column, and where family tombstones lie.
FilterPtr OneColumn(const std::string& qualifier) {
  const auto is = [](const std::string& name) {
    return *MakeQualifierFilter(CompareOperator::kEqual, {.value = name});
  };
  return *MakeFilterList(ListOperator::kMustPassOne, {is(qualifier), is("")});
}

using CellsOfFamilies = std::map<std::string, std::shared_ptr<std::vector<Cell>>>;

// The servers have left out what is hidden or expired: nothing of these families hides anything.
std::shared_ptr<const TableSchema> SchemaOf(const CellsOfFamilies& cells) {
  auto schema = std::make_shared<TableSchema>();
  for (const auto& [name, of_family] : cells) {
    FamilySchema family(name);
    family.Keep("VERSIONS", std::to_string(kAllVersions));
    schema->families.emplace(name, std::move(family));
  }
  return schema;
}

}  // namespace

FilterHere::FilterHere(const Scan& scan)
    : filter_(scan.filter->Clone()), scan_(scan), asked_(scan) {
  const auto column = filter_->OnlyColumn();
  asked_.filter = column ? OneColumn(*column) : nullptr;
  asked_.max_versions = kAllVersions;
  asked_.store_limit = -1;
  asked_.store_offset = 0;
  asked_.limit = -1;
  asked_.lengths_only = scan.lengths_only && !filter_->ReadsValues();
  scan_.filter = std::make_shared<Shared>(filter_);
  scan_.include_start_row = scan_.include_stop_row = true;
  scan_.limit = -1;
  scan_.time_range = {};
  scan_.family_time_ranges.clear();
}

StatusOr<RowCells> FilterHere::Take(RowCells row) {
  if (row.empty() || is_over()) return RowCells();
  scan_.start_row = scan_.stop_row = row.front().row;
  CellsOfFamilies cells;
  for (Cell& cell : row) {
    auto& of_family = cells[cell.family];
    if (of_family == nullptr) of_family = std::make_shared<std::vector<Cell>>();
    of_family->push_back(std::move(cell));
  }
  const CursorSource source = [&](const std::string& family, bool /*lengths_only*/) {
    return StatusOr<std::unique_ptr<CellCursor>>(MakeVectorCursor(cells.at(family)));
  };
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, RegionScanner::Open(scan_, {SchemaOf(cells), 0}));
  constexpr Timestamp kBeforeAnythingExpires = 0;
  CELLFS_ASSIGN_OR_RETURN(auto rows,
                          scanner->Next({.max_rows = 1}, source, kBeforeAnythingExpires));
  return rows.empty() ? RowCells() : std::move(rows.front());
}

bool FilterHere::is_over() const { return filter_->FilterAllRemaining(); }

}  // namespace cellfs::hbase
