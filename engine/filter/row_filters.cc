// SPDX-License-Identifier: MIT
//
// Filters that look at rows alone and may end the read.
#include <utility>

#include "engine/filters.h"

namespace cellfs {
namespace {

class PageFilter : public Filter {
 public:
  explicit PageFilter(int64_t page_size) : page_size_(page_size) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<PageFilter>(page_size_);
  }
  bool FilterAllRemaining() override { return rows_ >= page_size_; }
  bool HasFilterRow() const override { return true; }
  bool FilterRow() override { return ++rows_ > page_size_; }

 private:
  const int64_t page_size_;
  int64_t rows_ = 0;
};

class PrefixFilter : public Filter {
 public:
  explicit PrefixFilter(std::string prefix) : prefix_(std::move(prefix)) {}

  std::unique_ptr<Filter> Clone() const override { return std::make_unique<PrefixFilter>(prefix_); }
  void Reset() override { filter_row_ = true; }
  bool FilterRowKey(std::string_view row) override {
    if (passed_ || row.size() < prefix_.size()) return true;
    const auto order = row.substr(0, prefix_.size()) <=> std::string_view(prefix_);
    if (reversed_ ? order < 0 : order > 0) passed_ = true;
    filter_row_ = order != 0;
    return filter_row_;
  }
  bool FilterAllRemaining() override { return passed_; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    return filter_row_ ? FilterReturn::kNextRow : FilterReturn::kInclude;
  }
  bool FilterRow() override { return filter_row_; }
  void SetReversed(bool reversed) override { reversed_ = reversed; }

 private:
  const std::string prefix_;
  bool reversed_ = false;
  bool passed_ = false;
  bool filter_row_ = true;
};

class InclusiveStopFilter : public Filter {
 public:
  explicit InclusiveStopFilter(std::string stop_row) : stop_row_(std::move(stop_row)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<InclusiveStopFilter>(stop_row_);
  }
  bool FilterRowKey(std::string_view row) override {
    if (!done_) done_ = reversed_ ? row < stop_row_ : row > stop_row_;
    return done_;
  }
  bool FilterAllRemaining() override { return done_; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    return done_ ? FilterReturn::kNextRow : FilterReturn::kInclude;
  }
  void SetReversed(bool reversed) override { reversed_ = reversed; }

 private:
  const std::string stop_row_;
  bool reversed_ = false;
  bool done_ = false;
};

}  // namespace

FilterOr MakePageFilter(int64_t page_size) {
  if (page_size < 0) {
    return Status(StatusCode::kIllegalArgument,
                  "PageFilter: page size " + std::to_string(page_size) + " is negative");
  }
  return FilterPtr(std::make_shared<PageFilter>(page_size));
}

FilterOr MakePrefixFilter(std::string prefix) {
  return FilterPtr(std::make_shared<PrefixFilter>(std::move(prefix)));
}

FilterOr MakeInclusiveStopFilter(std::string stop_row) {
  return FilterPtr(std::make_shared<InclusiveStopFilter>(std::move(stop_row)));
}

}  // namespace cellfs
