// SPDX-License-Identifier: MIT
//
// SingleColumnValueFilter judges a row by the value of one column, and its Exclude kind takes that
// column out of the answer.
#include <utility>

#include "engine/filter/comparator.h"
#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

class SingleColumnValueFilter : public Filter {
 public:
  SingleColumnValueFilter(SingleColumnValue column, Condition condition)
      : column_(std::move(column)), condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<SingleColumnValueFilter>(column_, condition_);
  }
  FilterParameters Parameters() const override {
    return {parameters::ColumnJudgesRow{column_, false}};
  }

  void Reset() override { found_ = matched_ = false; }

  FilterReturn FilterCell(const CellView& cell) override {
    if (matched_) return FilterReturn::kInclude;
    if (column_.latest_version_only && found_) return FilterReturn::kNextRow;
    if (!IsTested(cell.family, cell.qualifier)) return FilterReturn::kInclude;
    found_ = true;
    matched_ = condition_.HoldsFor(cell.value);
    return matched_ || !column_.latest_version_only ? FilterReturn::kInclude
                                                    : FilterReturn::kNextRow;
  }

  bool HasFilterRow() const override { return true; }
  bool FilterRow() override { return found_ ? !matched_ : column_.filter_if_missing; }

  bool IsFamilyEssential(std::string_view family) const override {
    return !column_.filter_if_missing || family == column_.family;
  }
  bool ReadsValues() const override { return true; }

 protected:
  bool IsTested(std::string_view family, std::string_view qualifier) const {
    return family == column_.family && qualifier == column_.qualifier;
  }

  const SingleColumnValue column_;
  const Condition condition_;

 private:
  bool found_ = false;
  bool matched_ = false;
};

class SingleColumnValueExcludeFilter : public SingleColumnValueFilter {
 public:
  using SingleColumnValueFilter::SingleColumnValueFilter;

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<SingleColumnValueExcludeFilter>(column_, condition_);
  }
  FilterParameters Parameters() const override {
    return {parameters::ColumnJudgesRow{column_, true}};
  }
  void FilterRowCells(std::vector<Cell>& cells) override {
    std::erase_if(cells, [&](const Cell& cell) { return IsTested(cell.family, cell.qualifier); });
  }
};

template <typename T>
FilterOr Make(SingleColumnValue column) {
  // HBase takes it and fails at the first cell it has to compare.
  if (column.op == CompareOperator::kNoOp) {
    return Status(StatusCode::kIllegalArgument, "SingleColumnValueFilter: NO_OP compares nothing");
  }
  CELLFS_ASSIGN_OR_RETURN(Condition condition, Condition::Create(column.op, column.comparator));
  return FilterPtr(std::make_shared<T>(std::move(column), std::move(condition)));
}

}  // namespace

FilterOr MakeSingleColumnValueFilter(SingleColumnValue column) {
  return Make<SingleColumnValueFilter>(std::move(column));
}

FilterOr MakeSingleColumnValueExcludeFilter(SingleColumnValue column) {
  return Make<SingleColumnValueExcludeFilter>(std::move(column));
}

}  // namespace cellfs
