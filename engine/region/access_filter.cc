// SPDX-License-Identifier: MIT
#include "engine/region/access_filter.h"

#include <algorithm>

namespace cellfs {
namespace {

// Lets everything through: what stands in where the query has no filter.
class PassFilter : public Filter {
 public:
  std::unique_ptr<Filter> Clone() const override { return std::make_unique<PassFilter>(); }
};

class AccessFilter : public Filter {
 public:
  AccessFilter(std::vector<GrantScope> readable, std::unique_ptr<Filter> inner)
      : readable_(std::move(readable)), inner_(std::move(inner)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<AccessFilter>(readable_, inner_->Clone());
  }

  FilterReturn FilterCell(const CellView& cell) override {
    return Readable(cell) ? inner_->FilterCell(cell) : FilterReturn::kSkip;
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
  // It lets through no more than its filter does.
  std::string_view FirstColumn() const override { return inner_->FirstColumn(); }
  std::optional<std::string> OnlyColumn() const override { return inner_->OnlyColumn(); }
  void SetReversed(bool reversed) override { inner_->SetReversed(reversed); }

 private:
  bool Readable(const CellView& cell) const {
    return std::any_of(readable_.begin(), readable_.end(), [&](const GrantScope& scope) {
      return scope.family == cell.family &&
             (!scope.qualifier || *scope.qualifier == cell.qualifier);
    });
  }

  const std::vector<GrantScope> readable_;
  const std::unique_ptr<Filter> inner_;
};

}  // namespace

FilterPtr MakeAccessFilter(std::vector<GrantScope> readable, FilterPtr inner) {
  return std::make_shared<AccessFilter>(
      std::move(readable), inner != nullptr ? inner->Clone() : std::make_unique<PassFilter>());
}

}  // namespace cellfs
