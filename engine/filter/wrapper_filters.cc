// SPDX-License-Identifier: MIT
//
// SkipFilter leaves out a row of which its filter leaves out a cell; WhileMatchFilter ends the read
// there. As in HBase they hand on only what is written here: not FilterRowCells, not hints, not the
// direction of the scan, and SkipFilter not even the row key.
#include <utility>

#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

class SkipFilter : public Filter {
 public:
  explicit SkipFilter(std::unique_ptr<Filter> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<SkipFilter>(inner_->Clone());
  }
  FilterParameters Parameters() const override { return {parameters::Skip{inner_->Clone()}}; }
  void Reset() override {
    inner_->Reset();
    filter_row_ = false;
  }
  FilterReturn FilterCell(const CellView& cell) override {
    const FilterReturn result = inner_->FilterCell(cell);
    if (result != FilterReturn::kInclude) filter_row_ = true;
    return result;
  }
  void TransformCell(Cell& cell) const override { inner_->TransformCell(cell); }
  bool HasFilterRow() const override { return true; }
  bool FilterRow() override { return filter_row_; }
  bool IsFamilyEssential(std::string_view family) const override {
    return inner_->IsFamilyEssential(family);
  }
  bool ReadsValues() const override { return inner_->ReadsValues(); }

 private:
  const std::unique_ptr<Filter> inner_;
  bool filter_row_ = false;
};

class WhileMatchFilter : public Filter {
 public:
  explicit WhileMatchFilter(std::unique_ptr<Filter> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<WhileMatchFilter>(inner_->Clone());
  }
  FilterParameters Parameters() const override { return {parameters::WhileMatch{inner_->Clone()}}; }
  void Reset() override { inner_->Reset(); }
  bool FilterAllRemaining() override { return ended_ || inner_->FilterAllRemaining(); }
  bool FilterRowKey(std::string_view row) override {
    return FilterAllRemaining() || EndIf(inner_->FilterRowKey(row));
  }
  FilterReturn FilterCell(const CellView& cell) override {
    const FilterReturn result = inner_->FilterCell(cell);
    EndIf(result != FilterReturn::kInclude);
    return result;
  }
  void TransformCell(Cell& cell) const override { inner_->TransformCell(cell); }
  bool HasFilterRow() const override { return true; }
  bool FilterRow() override { return EndIf(inner_->FilterRow()); }
  bool IsFamilyEssential(std::string_view family) const override {
    return inner_->IsFamilyEssential(family);
  }
  bool ReadsValues() const override { return inner_->ReadsValues(); }
  bool RemembersHiddenRows() const override { return true; }  // the first refused row ends it

 private:
  bool EndIf(bool filtered) {
    ended_ = ended_ || filtered;
    return filtered;
  }

  const std::unique_ptr<Filter> inner_;
  bool ended_ = false;
};

template <typename T>
FilterOr Wrap(const FilterPtr& inner) {
  if (inner == nullptr) {
    return Status(StatusCode::kIllegalArgument, "SkipFilter and WhileMatchFilter need a filter");
  }
  return FilterPtr(std::make_shared<T>(inner->Clone()));
}

}  // namespace

FilterOr MakeSkipFilter(const FilterPtr& inner) { return Wrap<SkipFilter>(inner); }

FilterOr MakeWhileMatchFilter(const FilterPtr& inner) { return Wrap<WhileMatchFilter>(inner); }

}  // namespace cellfs
