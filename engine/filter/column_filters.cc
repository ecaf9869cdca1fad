// SPDX-License-Identifier: MIT
//
// Filters that choose columns by qualifier or by count.
#include <utility>

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
  explicit ColumnCountGetFilter(int32_t limit) : limit_(limit) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnCountGetFilter>(limit_);
  }
  void Reset() override { count_ = 0; }
  bool FilterAllRemaining() override { return count_ > limit_; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    ++count_;
    return FilterAllRemaining() ? FilterReturn::kNextColumn : FilterReturn::kIncludeAndNextColumn;
  }

 private:
  const int32_t limit_;
  int64_t count_ = 0;
};

class ColumnPaginationFilter : public Filter {
 public:
  ColumnPaginationFilter(int32_t limit, int32_t offset) : limit_(limit), offset_(offset) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnPaginationFilter>(limit_, offset_);
  }
  void Reset() override { count_ = 0; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    // The sum wraps in HBase: the largest limit with any offset gives nothing.
    const auto end =
        static_cast<int32_t>(static_cast<uint32_t>(offset_) + static_cast<uint32_t>(limit_));
    if (count_ >= end) return FilterReturn::kNextRow;
    return count_++ < offset_ ? FilterReturn::kNextColumn : FilterReturn::kIncludeAndNextColumn;
  }

 private:
  const int32_t limit_;
  const int32_t offset_;
  int32_t count_ = 0;
};

class ColumnPrefixFilter : public Filter {
 public:
  explicit ColumnPrefixFilter(std::string prefix) : prefix_(std::move(prefix)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnPrefixFilter>(prefix_);
  }
  FilterReturn FilterCell(const CellView& cell) override {
    if (cell.qualifier.starts_with(prefix_)) return FilterReturn::kInclude;
    return cell.qualifier < prefix_ ? FilterReturn::kSeekNextUsingHint : FilterReturn::kNextRow;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    return FirstOfColumn(cell, prefix_);
  }
  bool IsHinting() const override { return true; }

 private:
  const std::string prefix_;
};

class MultipleColumnPrefixFilter : public Filter {
 public:
  explicit MultipleColumnPrefixFilter(std::set<std::string, std::less<>> prefixes)
      : prefixes_(std::move(prefixes)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<MultipleColumnPrefixFilter>(prefixes_);
  }

  // Of the prefixes only the largest one not above the qualifier is looked at: with 'a' and 'ab',
  // 'abc' is judged by 'ab', and 'ac' by 'ab' as well, which turns it down. So does HBase.
  FilterReturn FilterCell(const CellView& cell) override {
    if (prefixes_.empty()) return FilterReturn::kInclude;
    const auto above = prefixes_.upper_bound(cell.qualifier);
    if (above != prefixes_.begin() && cell.qualifier.starts_with(*std::prev(above))) {
      return FilterReturn::kInclude;
    }
    if (above == prefixes_.end()) return FilterReturn::kNextRow;
    hint_ = *above;
    return FilterReturn::kSeekNextUsingHint;
  }
  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    if (!hint_) return std::nullopt;
    return FirstOfColumn(cell, *hint_);
  }
  bool IsHinting() const override { return true; }

 private:
  const std::set<std::string, std::less<>> prefixes_;
  std::optional<std::string> hint_;
};

struct ColumnRange {
  std::optional<std::string> min;
  bool min_inclusive = true;
  std::optional<std::string> max;
  bool max_inclusive = false;
};

class ColumnRangeFilter : public Filter {
 public:
  explicit ColumnRangeFilter(ColumnRange range) : range_(std::move(range)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<ColumnRangeFilter>(range_);
  }
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
  const ColumnRange range_;
};

}  // namespace

FilterOr MakeColumnCountGetFilter(int32_t limit) {
  if (limit < 0) return Negative("ColumnCountGetFilter", "limit", limit);
  return FilterPtr(std::make_shared<ColumnCountGetFilter>(limit));
}

FilterOr MakeColumnPaginationFilter(int32_t limit, int32_t offset) {
  if (limit < 0) return Negative("ColumnPaginationFilter", "limit", limit);
  if (offset < 0) return Negative("ColumnPaginationFilter", "offset", offset);
  return FilterPtr(std::make_shared<ColumnPaginationFilter>(limit, offset));
}

FilterOr MakeColumnPrefixFilter(std::string prefix) {
  return FilterPtr(std::make_shared<ColumnPrefixFilter>(std::move(prefix)));
}

FilterOr MakeMultipleColumnPrefixFilter(std::vector<std::string> prefixes) {
  std::set<std::string, std::less<>> distinct(prefixes.begin(), prefixes.end());
  if (distinct.size() < prefixes.size()) {
    return Status(StatusCode::kIllegalArgument,
                  "MultipleColumnPrefixFilter: a prefix is given twice");
  }
  return FilterPtr(std::make_shared<MultipleColumnPrefixFilter>(std::move(distinct)));
}

FilterOr MakeColumnRangeFilter(std::optional<std::string> min, bool min_inclusive,
                               std::optional<std::string> max, bool max_inclusive) {
  return FilterPtr(std::make_shared<ColumnRangeFilter>(
      ColumnRange{std::move(min), min_inclusive, std::move(max), max_inclusive}));
}

}  // namespace cellfs
