// SPDX-License-Identifier: MIT
//
// Filters that choose columns by qualifier or by count.
#include <utility>

#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

Status Negative(std::string_view filter, std::string_view what, int64_t value) {
  return Status(StatusCode::kIllegalArgument, std::string(filter) + ": " + std::string(what) + " " +
                                                  std::to_string(value) + " is negative");
}

// The first cell of `qualifier` in the cell's row and family.
CellHint FirstOfColumn(const CellView& cell, const std::string& qualifier) {
  return {std::string(cell.row), std::string(cell.family), qualifier, kLatestTimestamp};
}

class ColumnCountGetFilter : public Filter {
 public:
  explicit ColumnCountGetFilter(parameters::ColumnCountGet parameters) : parameters_(parameters) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnCountGetFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  void Reset() override { count_ = 0; }
  bool FilterAllRemaining() override { return count_ > parameters_.limit; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    ++count_;
    return FilterAllRemaining() ? FilterReturn::kNextColumn : FilterReturn::kIncludeAndNextColumn;
  }

 private:
  const parameters::ColumnCountGet parameters_;
  int64_t count_ = 0;
};

class ColumnPaginationFilter : public Filter {
 public:
  explicit ColumnPaginationFilter(parameters::ColumnPagination parameters)
      : parameters_(parameters) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnPaginationFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  void Reset() override { count_ = 0; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    // The sum wraps in HBase: the largest limit with any offset gives nothing.
    const auto end =
        static_cast<int32_t>(static_cast<uint32_t>(parameters_.offset) +
                             static_cast<uint32_t>(parameters_.limit));
    if (count_ >= end) return FilterReturn::kNextRow;
    return count_++ < parameters_.offset ? FilterReturn::kNextColumn
                                         : FilterReturn::kIncludeAndNextColumn;
  }

 private:
  const parameters::ColumnPagination parameters_;
  int32_t count_ = 0;
};

class ColumnPrefixFilter : public Filter {
 public:
  explicit ColumnPrefixFilter(parameters::ColumnPrefix parameters)
      : parameters_(std::move(parameters)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnPrefixFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  FilterReturn FilterCell(const CellView& cell) override {
    if (cell.qualifier.starts_with(parameters_.prefix)) return FilterReturn::kInclude;
    return cell.qualifier < parameters_.prefix ? FilterReturn::kSeekNextUsingHint
                                               : FilterReturn::kNextRow;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return FirstOfColumn(cell, parameters_.prefix);
  }
  bool IsHinting() const override { return true; }

 private:
  const parameters::ColumnPrefix parameters_;
};

class MultipleColumnPrefixFilter : public Filter {
 public:
  explicit MultipleColumnPrefixFilter(parameters::MultipleColumnPrefix parameters)
      : parameters_(std::move(parameters)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<MultipleColumnPrefixFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }

  // Of the prefixes only the largest one not above the qualifier is looked at: with 'a' and 'ab',
  // 'abc' is judged by 'ab', and 'ac' by 'ab' as well, which turns it down. So does HBase.
  FilterReturn FilterCell(const CellView& cell) override {
    const auto& prefixes = parameters_.prefixes;
    if (prefixes.empty()) return FilterReturn::kInclude;
    const auto above = prefixes.upper_bound(cell.qualifier);
    if (above != prefixes.begin() && cell.qualifier.starts_with(*std::prev(above))) {
      return FilterReturn::kInclude;
    }
    if (above == prefixes.end()) return FilterReturn::kNextRow;
    hint_ = *above;
    return FilterReturn::kSeekNextUsingHint;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    if (!hint_) return std::nullopt;
    return FirstOfColumn(cell, *hint_);
  }
  bool IsHinting() const override { return true; }

 private:
  const parameters::MultipleColumnPrefix parameters_;
  std::optional<std::string> hint_;
};

class ColumnRangeFilter : public Filter {
 public:
  explicit ColumnRangeFilter(parameters::ColumnRange range) : range_(std::move(range)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnRangeFilter>(range_);
  }
  FilterParameters Parameters() const override { return {range_}; }
  FilterReturn FilterCell(const CellView& cell) override {
    if (range_.min && cell.qualifier < *range_.min) return FilterReturn::kSeekNextUsingHint;
    if (range_.min && !range_.min_inclusive && cell.qualifier == *range_.min) {
      return FilterReturn::kNextColumn;
    }
    if (!range_.max || cell.qualifier < *range_.max) return FilterReturn::kInclude;
    if (range_.max_inclusive && cell.qualifier == *range_.max) return FilterReturn::kInclude;
    return FilterReturn::kNextRow;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return FirstOfColumn(cell, range_.min.value_or(""));
  }
  bool IsHinting() const override { return true; }
  std::string_view FirstColumn() const override {
    return range_.min ? std::string_view(*range_.min) : std::string_view();
  }

 private:
  const parameters::ColumnRange range_;
};

}  // namespace

FilterOr MakeColumnCountGetFilter(int32_t limit) {
  if (limit < 0) return Negative("ColumnCountGetFilter", "limit", limit);
  return FilterPtr(std::make_shared<ColumnCountGetFilter>(parameters::ColumnCountGet{limit}));
}

FilterOr MakeColumnPaginationFilter(int32_t limit, int32_t offset) {
  if (limit < 0) return Negative("ColumnPaginationFilter", "limit", limit);
  if (offset < 0) return Negative("ColumnPaginationFilter", "offset", offset);
  return FilterPtr(
      std::make_shared<ColumnPaginationFilter>(parameters::ColumnPagination{limit, offset}));
}

FilterOr MakeColumnPrefixFilter(std::string prefix) {
  return FilterPtr(
      std::make_shared<ColumnPrefixFilter>(parameters::ColumnPrefix{std::move(prefix)}));
}

FilterOr MakeMultipleColumnPrefixFilter(std::vector<std::string> prefixes) {
  std::set<std::string, std::less<>> distinct(prefixes.begin(), prefixes.end());
  if (distinct.size() < prefixes.size()) {
    return Status(StatusCode::kIllegalArgument,
                  "MultipleColumnPrefixFilter: a prefix is given twice");
  }
  return FilterPtr(std::make_shared<MultipleColumnPrefixFilter>(
      parameters::MultipleColumnPrefix{std::move(distinct)}));
}

FilterOr MakeColumnRangeFilter(std::optional<std::string> min, bool min_inclusive,
                               std::optional<std::string> max, bool max_inclusive) {
  return FilterPtr(std::make_shared<ColumnRangeFilter>(
      parameters::ColumnRange{std::move(min), min_inclusive, std::move(max), max_inclusive}));
}

}  // namespace cellfs
