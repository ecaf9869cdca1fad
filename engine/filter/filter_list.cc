// SPDX-License-Identifier: MIT
//
// Lists of filters: all must pass (HBase's FilterListWithAND), or one (FilterListWithOR).
//
// A FilterReturn says two things: whether the cell is included, and how far the filter has made up
// its mind (this cell, its column, its row). A list combines the two apart. With AND the cell is
// included if all include it, and the decision that reaches furthest counts; with OR it is included
// if one does, and the shortest reach counts.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

enum class Reach { kCell, kColumn, kRow };

bool IsIncluded(FilterReturn code) {
  return code == FilterReturn::kInclude || code == FilterReturn::kIncludeAndNextColumn ||
         code == FilterReturn::kIncludeAndSeekNextRow;
}

Reach ReachOf(FilterReturn code) {
  switch (code) {
    case FilterReturn::kInclude:
    case FilterReturn::kSkip:
    case FilterReturn::kSeekNextUsingHint:
      return Reach::kCell;
    case FilterReturn::kIncludeAndNextColumn:
    case FilterReturn::kNextColumn:
      return Reach::kColumn;
    case FilterReturn::kIncludeAndSeekNextRow:
    case FilterReturn::kNextRow:
      return Reach::kRow;
  }
  return Reach::kCell;
}

FilterReturn CodeOf(bool included, Reach reach) {
  switch (reach) {
    case Reach::kCell:
      return included ? FilterReturn::kInclude : FilterReturn::kSkip;
    case Reach::kColumn:
      return included ? FilterReturn::kIncludeAndNextColumn : FilterReturn::kNextColumn;
    case Reach::kRow:
      return included ? FilterReturn::kIncludeAndSeekNextRow : FilterReturn::kNextRow;
  }
  return FilterReturn::kSkip;
}

// REQUIRES: `so_far` includes; the list stops asking where it does not.
FilterReturn MergeForAll(FilterReturn so_far, FilterReturn next) {
  if (next == FilterReturn::kSeekNextUsingHint) return next;
  return CodeOf(IsIncluded(next), std::max(ReachOf(so_far), ReachOf(next)));
}

FilterReturn MergeForOne(std::optional<FilterReturn> so_far, FilterReturn next) {
  if (!so_far || *so_far == next) return next;
  return CodeOf(IsIncluded(*so_far) || IsIncluded(next), std::min(ReachOf(*so_far), ReachOf(next)));
}

// A hint is before every cell of its own timestamp.
bool IsBefore(const CellHint& a, const CellHint& b) {
  return std::tie(a.row, a.family, a.qualifier, b.timestamp) <
         std::tie(b.row, b.family, b.qualifier, a.timestamp);
}

std::strong_ordering CompareToHint(const CellView& cell, const CellHint& hint) {
  if (auto order = cell.row <=> hint.row; order != 0) return order;
  if (auto order = cell.family <=> hint.family; order != 0) return order;
  if (auto order = cell.qualifier <=> hint.qualifier; order != 0) return order;
  return cell.timestamp > hint.timestamp ? std::strong_ordering::less
                                         : std::strong_ordering::greater;
}

using Filters = std::vector<std::unique_ptr<Filter>>;

Filters CloneAll(const Filters& filters) {
  Filters clones;
  for (const auto& filter : filters) clones.push_back(filter->Clone());
  return clones;
}

class FilterList : public Filter {
 public:
  explicit FilterList(Filters filters) : filters_(std::move(filters)) {}

  void FilterRowCells(std::vector<Cell>& cells) override {
    for (const auto& filter : filters_) filter->FilterRowCells(cells);
  }
  bool HasFilterRow() const override {
    return Any([](const Filter& filter) { return filter.HasFilterRow(); });
  }
  bool IsFamilyEssential(std::string_view family) const override {
    return filters_.empty() ||
           Any([&](const Filter& filter) { return filter.IsFamilyEssential(family); });
  }
  bool ReadsValues() const override {
    return Any([](const Filter& filter) { return filter.ReadsValues(); });
  }
  bool RemembersHiddenRows() const override {
    return Any([](const Filter& filter) { return filter.RemembersHiddenRows(); });
  }
  void SetReversed(bool reversed) override {
    reversed_ = reversed;
    for (const auto& filter : filters_) filter->SetReversed(reversed);
  }

 protected:
  FilterParameters ParametersAs(ListOperator op) const {
    parameters::List list{op, {}};
    for (const auto& filter : filters_) list.filters.push_back(filter->Clone());
    return {std::move(list)};
  }

  template <typename Predicate>
  bool Any(Predicate predicate) const {
    return std::any_of(filters_.begin(), filters_.end(),
                       [&](const auto& filter) { return predicate(*filter); });
  }

  // In the order in which the list orders cells: turned round where the scan is.
  bool Precedes(const CellHint& a, const CellHint& b) const {
    return reversed_ ? IsBefore(b, a) : IsBefore(a, b);
  }

  const Filters filters_;
  bool reversed_ = false;
};

class PassAllList : public FilterList {
 public:
  using FilterList::FilterList;

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<PassAllList>(CloneAll(filters_));
  }
  FilterParameters Parameters() const override { return ParametersAs(ListOperator::kMustPassAll); }

  void Reset() override {
    for (const auto& filter : filters_) filter->Reset();
    hinting_.clear();
  }

  // All are asked, since some (PrefixFilter) learn of a new row here. A hinting filter that passes
  // the row keeps it in, so that its hint is heard.
  bool FilterRowKey(std::string_view row) override {
    bool filtered = false;
    bool hinting_passed = false;
    for (const auto& filter : filters_) {
      if (filter->FilterAllRemaining()) return true;
      if (filter->FilterRowKey(row)) {
        filtered = true;
      } else if (filter->IsHinting()) {
        hinting_passed = true;
      }
    }
    return filtered && !hinting_passed;
  }

  bool FilterAllRemaining() override {
    return Any([](Filter& filter) { return filter.FilterAllRemaining(); });
  }

  FilterReturn FilterCell(const CellView& cell) override {
    hinting_.clear();
    FilterReturn code = FilterReturn::kInclude;
    size_t next = 0;
    // A cell that is out is not shown to the filters behind: it would upset what they count.
    while (next < filters_.size() && IsIncluded(code)) {
      Filter& filter = *filters_[next++];
      code = filter.FilterAllRemaining() ? FilterReturn::kNextRow
                                         : MergeForAll(code, Ask(filter, cell));
    }
    for (; next < filters_.size(); ++next) {
      if (filters_[next]->IsHinting()) Ask(*filters_[next], cell);
    }
    return hinting_.empty() ? code : FilterReturn::kSeekNextUsingHint;
  }

  void TransformCell(Cell& cell) const override {
    for (const auto& filter : filters_) filter->TransformCell(cell);
  }

  // The furthest: what lies before any of the hints is out.
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    std::optional<CellHint> furthest;
    for (Filter* filter : hinting_) {
      if (filter->FilterAllRemaining()) continue;
      std::optional<CellHint> hint = filter->GetNextCellHint(cell);
      if (hint && (!furthest || Precedes(*furthest, *hint))) furthest = std::move(hint);
    }
    return furthest;
  }

  bool FilterRow() override {
    return Any([](Filter& filter) { return filter.FilterRow(); });
  }

 private:
  FilterReturn Ask(Filter& filter, const CellView& cell) {
    const FilterReturn code = filter.FilterCell(cell);
    if (code == FilterReturn::kSeekNextUsingHint) hinting_.push_back(&filter);
    return code;
  }

  std::vector<Filter*> hinting_;  // those that want to seek from the present cell
};

class PassOneList : public FilterList {
 public:
  explicit PassOneList(Filters filters) : FilterList(std::move(filters)), asked_(filters_.size()) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<PassOneList>(CloneAll(filters_));
  }
  FilterParameters Parameters() const override { return ParametersAs(ListOperator::kMustPassOne); }

  void Reset() override {
    for (const auto& filter : filters_) filter->Reset();
    asked_.assign(filters_.size(), Asked());
  }

  bool FilterRowKey(std::string_view row) override {
    bool filtered = !filters_.empty();
    for (const auto& filter : filters_) {
      if (!filter->FilterAllRemaining() && !filter->FilterRowKey(row)) filtered = false;
    }
    return filtered;
  }

  bool FilterAllRemaining() override {
    return All([](Filter& filter) { return filter.FilterAllRemaining(); });
  }

  FilterReturn FilterCell(const CellView& cell) override {
    if (filters_.empty()) return FilterReturn::kInclude;
    std::optional<FilterReturn> code;
    for (size_t i = 0; i < filters_.size(); ++i) {
      Asked& asked = asked_[i];
      asked.included = false;
      if (filters_[i]->FilterAllRemaining()) continue;
      std::optional<FilterReturn> settled = StillSettled(*filters_[i], asked, cell);
      const FilterReturn answer = settled ? *settled : filters_[i]->FilterCell(cell);
      asked.answer = answer;
      asked.included = IsIncluded(answer);
      if (answer != FilterReturn::kInclude && answer != FilterReturn::kSkip) asked.SetCell(cell);
      code = MergeForOne(code, answer);
    }
    return code.value_or(FilterReturn::kSkip);
  }

  void TransformCell(Cell& cell) const override {
    for (size_t i = 0; i < filters_.size(); ++i) {
      if (asked_[i].included) filters_[i]->TransformCell(cell);
    }
  }

  // The nearest, and none where one filter has none.
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    std::optional<CellHint> nearest;
    for (const auto& filter : filters_) {
      if (filter->FilterAllRemaining()) continue;
      std::optional<CellHint> hint = filter->GetNextCellHint(cell);
      if (!hint) return std::nullopt;
      if (!nearest || Precedes(*hint, *nearest)) nearest = std::move(hint);
    }
    return nearest;
  }

  bool FilterRow() override {
    return All([](Filter& filter) { return filter.FilterRow(); });
  }

 private:
  // What a filter said last in this row, and of which cell.
  struct Asked {
    std::optional<FilterReturn> answer;
    Cell cell;  // without its value
    bool included = false;

    void SetCell(const CellView& view) {
      cell.row = view.row;
      cell.family = view.family;
      cell.qualifier = view.qualifier;
      cell.timestamp = view.timestamp;
      cell.type = view.type;
    }
  };

  // Never of an empty list, which filters nothing.
  template <typename Predicate>
  bool All(Predicate predicate) const {
    return !filters_.empty() && !Any([&](Filter& filter) { return !predicate(filter); });
  }

  // Another filter of the list keeps the read from going where this one wanted to go on. Until the
  // read gets there, the filter's answer stands and it is not shown the cells on the way.
  std::optional<FilterReturn> StillSettled(Filter& filter, const Asked& asked,
                                           const CellView& cell) const {
    if (!asked.answer) return std::nullopt;
    const bool same_family = cell.family == asked.cell.family;
    switch (*asked.answer) {
      case FilterReturn::kInclude:
      case FilterReturn::kSkip:
        return std::nullopt;
      case FilterReturn::kSeekNextUsingHint:
        if (!IsShortOfHint(filter, asked, cell)) return std::nullopt;
        return FilterReturn::kSeekNextUsingHint;
      case FilterReturn::kNextColumn:
      case FilterReturn::kIncludeAndNextColumn:
        if (!same_family || cell.qualifier != asked.cell.qualifier) return std::nullopt;
        return FilterReturn::kNextColumn;
      case FilterReturn::kNextRow:
      case FilterReturn::kIncludeAndSeekNextRow:
        if (!same_family) return std::nullopt;
        return FilterReturn::kNextRow;
    }
    return std::nullopt;
  }

  bool IsShortOfHint(Filter& filter, const Asked& asked, const CellView& cell) const {
    const std::optional<CellHint> hint = filter.GetNextCellHint(ViewOf(asked.cell));
    if (!hint) return false;
    const std::strong_ordering order = CompareToHint(cell, *hint);
    return reversed_ ? order > 0 : order < 0;
  }

  std::vector<Asked> asked_;  // one for each filter
};

}  // namespace

FilterOr MakeFilterList(ListOperator op, const std::vector<FilterPtr>& filters) {
  Filters clones;
  for (const FilterPtr& filter : filters) {
    if (filter == nullptr) {
      return Status(StatusCode::kIllegalArgument, "FilterList: a filter is null");
    }
    clones.push_back(filter->Clone());
  }
  if (op == ListOperator::kMustPassAll) {
    return FilterPtr(std::make_shared<PassAllList>(std::move(clones)));
  }
  return FilterPtr(std::make_shared<PassOneList>(std::move(clones)));
}

}  // namespace cellfs
