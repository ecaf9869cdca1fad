// SPDX-License-Identifier: MIT
//
// The filter that stands before another one and hides cells from it.
#include <utility>

#include "engine/filters.h"

namespace cellfs {
namespace {

// Lets everything through: what stands in where the query has no filter.
class PassFilter : public Filter {
 public:
  std::unique_ptr<Filter> Clone() const override { return std::make_unique<PassFilter>(); }
};

class VisibleCellsFilter : public Filter {
 public:
  VisibleCellsFilter(std::function<bool(const CellView&)> may_see, std::unique_ptr<Filter> inner)
      : may_see_(std::move(may_see)), inner_(std::move(inner)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<VisibleCellsFilter>(may_see_, inner_->Clone());
  }

  FilterReturn FilterCell(const CellView& cell) override {
    return may_see_(cell) ? inner_->FilterCell(cell) : FilterReturn::kSkip;
  }

  void Reset() override { inner_->Reset(); }
  bool FilterRowKey(std::string_view row) override { return inner_->FilterRowKey(row); }
  bool FilterAllRemaining() override { return inner_->FilterAllRemaining(); }
  void TransformCell(Cell& cell) const override { inner_->TransformCell(cell); }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return inner_->GetNextCellHint(cell);
  }
  bool IsHinting() const override { return inner_->IsHinting(); }
  bool HasFilterRow() const override { return inner_->HasFilterRow(); }
  void FilterRowCells(std::vector<Cell>& cells) override { inner_->FilterRowCells(cells); }
  bool FilterRow() override { return inner_->FilterRow(); }
  bool IsFamilyEssential(std::string_view family) const override {
    return inner_->IsFamilyEssential(family);
  }
  bool ReadsValues() const override { return inner_->ReadsValues(); }
  bool RemembersHiddenRows() const override { return inner_->RemembersHiddenRows(); }
  // It lets through no more than its filter does.
  std::string_view FirstColumn() const override { return inner_->FirstColumn(); }
  std::optional<std::string> OnlyColumn() const override { return inner_->OnlyColumn(); }
  void SetReversed(bool reversed) override { inner_->SetReversed(reversed); }

 private:
  const std::function<bool(const CellView&)> may_see_;
  const std::unique_ptr<Filter> inner_;
};

}  // namespace

FilterPtr MakeVisibleCellsFilter(std::function<bool(const CellView&)> may_see,
                                 const FilterPtr& inner) {
  return std::make_shared<VisibleCellsFilter>(
      std::move(may_see), inner != nullptr ? inner->Clone() : std::make_unique<PassFilter>());
}

}  // namespace cellfs
