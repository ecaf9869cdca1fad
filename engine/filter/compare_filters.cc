// SPDX-License-Identifier: MIT
//
// Filters that compare one part of a cell: HBase's CompareFilter, what derives from it, and
// ColumnValueFilter, which does the same to one column.
#include <utility>

#include "engine/filter/comparator.h"
#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

using Part = parameters::Compare::Part;

FilterParameters ParametersOf(Part part, const Condition& condition) {
  return {parameters::Compare{part, condition.op(), condition.comparator()}};
}

class RowFilter : public Filter {
 public:
  explicit RowFilter(Condition condition) : condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override { return std::make_unique<RowFilter>(condition_); }
  FilterParameters Parameters() const override { return ParametersOf(Part::kRow, condition_); }
  void Reset() override { filter_row_ = false; }
  bool FilterRowKey(std::string_view row) override {
    if (!condition_.HoldsFor(row)) filter_row_ = true;
    return filter_row_;
  }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    return filter_row_ ? FilterReturn::kNextRow : FilterReturn::kInclude;
  }
  bool FilterRow() override { return filter_row_; }

 private:
  const Condition condition_;
  bool filter_row_ = false;
};

class FamilyFilter : public Filter {
 public:
  explicit FamilyFilter(Condition condition) : condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<FamilyFilter>(condition_);
  }
  FilterParameters Parameters() const override { return ParametersOf(Part::kFamily, condition_); }
  // Each family is read on its own, so "next row" ends the family.
  FilterReturn FilterCell(const CellView& cell) override {
    return condition_.HoldsFor(cell.family) ? FilterReturn::kInclude : FilterReturn::kNextRow;
  }

 private:
  const Condition condition_;
};

class QualifierFilter : public Filter {
 public:
  explicit QualifierFilter(Condition condition) : condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<QualifierFilter>(condition_);
  }
  FilterParameters Parameters() const override {
    return ParametersOf(Part::kQualifier, condition_);
  }
  FilterReturn FilterCell(const CellView& cell) override {
    return condition_.HoldsFor(cell.qualifier) ? FilterReturn::kInclude : FilterReturn::kSkip;
  }

 private:
  const Condition condition_;
};

class ValueFilter : public Filter {
 public:
  explicit ValueFilter(Condition condition) : condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ValueFilter>(condition_);
  }
  FilterParameters Parameters() const override { return ParametersOf(Part::kValue, condition_); }
  FilterReturn FilterCell(const CellView& cell) override {
    return condition_.HoldsFor(cell.value) ? FilterReturn::kInclude : FilterReturn::kSkip;
  }
  bool ReadsValues() const override { return true; }

 private:
  const Condition condition_;
};

class ColumnValueFilter : public Filter {
 public:
  ColumnValueFilter(std::string family, std::string qualifier, Condition condition)
      : family_(std::move(family)),
        qualifier_(std::move(qualifier)),
        condition_(std::move(condition)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnValueFilter>(family_, qualifier_, condition_);
  }
  FilterParameters Parameters() const override {
    return {parameters::ColumnValue{family_, qualifier_, condition_.op(), condition_.comparator()}};
  }
  void Reset() override { found_ = false; }
  FilterReturn FilterCell(const CellView& cell) override {
    if (cell.family != family_ || cell.qualifier != qualifier_) {
      return found_ ? FilterReturn::kNextRow : FilterReturn::kNextColumn;
    }
    found_ = true;
    return condition_.HoldsFor(cell.value) ? FilterReturn::kInclude : FilterReturn::kSkip;
  }
  bool IsFamilyEssential(std::string_view family) const override { return family == family_; }
  bool ReadsValues() const override { return true; }

 private:
  const std::string family_;
  const std::string qualifier_;
  const Condition condition_;
  bool found_ = false;
};

struct DependentColumn {
  std::string family;
  std::string qualifier;
  bool drop = false;
  std::optional<Condition> condition;
};

// Keeps the cells of a row that have the timestamp of a cell of the chosen column.
class DependentColumnFilter : public Filter {
 public:
  explicit DependentColumnFilter(DependentColumn column) : column_(std::move(column)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<DependentColumnFilter>(column_);
  }
  FilterParameters Parameters() const override {
    parameters::DependentColumn column{column_.family, column_.qualifier, column_.drop,
                                       CompareOperator::kNoOp, std::nullopt};
    if (column_.condition) {
      column.op = column_.condition->op();
      column.comparator = column_.condition->comparator();
    }
    return {std::move(column)};
  }
  void Reset() override { timestamps_.clear(); }
  FilterReturn FilterCell(const CellView& cell) override {
    if (cell.family != column_.family || cell.qualifier != column_.qualifier) {
      return FilterReturn::kInclude;  // judged at the row's end
    }
    if (column_.condition && !column_.condition->HoldsFor(cell.value)) return FilterReturn::kSkip;
    timestamps_.insert(cell.timestamp);
    return column_.drop ? FilterReturn::kSkip : FilterReturn::kInclude;
  }
  bool HasFilterRow() const override { return true; }
  void FilterRowCells(std::vector<Cell>& cells) override {
    std::erase_if(cells, [&](const Cell& cell) { return !timestamps_.contains(cell.timestamp); });
  }
  bool ReadsValues() const override { return true; }

 private:
  const DependentColumn column_;
  std::set<Timestamp> timestamps_;
};

template <typename T>
FilterOr MakeComparing(CompareOperator op, Comparator comparator) {
  CELLFS_ASSIGN_OR_RETURN(Condition condition, Condition::Create(op, std::move(comparator)));
  return FilterPtr(std::make_shared<T>(std::move(condition)));
}

}  // namespace

FilterOr MakeRowFilter(CompareOperator op, Comparator comparator) {
  return MakeComparing<RowFilter>(op, std::move(comparator));
}

FilterOr MakeFamilyFilter(CompareOperator op, Comparator comparator) {
  return MakeComparing<FamilyFilter>(op, std::move(comparator));
}

FilterOr MakeQualifierFilter(CompareOperator op, Comparator comparator) {
  return MakeComparing<QualifierFilter>(op, std::move(comparator));
}

FilterOr MakeValueFilter(CompareOperator op, Comparator comparator) {
  return MakeComparing<ValueFilter>(op, std::move(comparator));
}

FilterOr MakeColumnValueFilter(std::string family, std::string qualifier, CompareOperator op,
                               Comparator comparator) {
  CELLFS_ASSIGN_OR_RETURN(Condition condition, Condition::Create(op, std::move(comparator)));
  return FilterPtr(std::make_shared<ColumnValueFilter>(std::move(family), std::move(qualifier),
                                                       std::move(condition)));
}

FilterOr MakeDependentColumnFilter(std::string family, std::string qualifier,
                                   bool drop_dependent_column, CompareOperator op,
                                   std::optional<Comparator> comparator) {
  DependentColumn column{std::move(family), std::move(qualifier), drop_dependent_column, {}};
  if (comparator) {
    CELLFS_ASSIGN_OR_RETURN(column.condition, Condition::Create(op, *std::move(comparator)));
  }
  return FilterPtr(std::make_shared<DependentColumnFilter>(std::move(column)));
}

}  // namespace cellfs
