// SPDX-License-Identifier: MIT
//
// Filters that look at rows alone and may end the read.
#include <utility>

#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

class PageFilter : public Filter {
 public:
  explicit PageFilter(parameters::Page parameters) : parameters_(parameters) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<PageFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  bool FilterAllRemaining() override { return rows_ >= parameters_.page_size; }
  bool HasFilterRow() const override { return true; }
  bool FilterRow() override { return ++rows_ > parameters_.page_size; }

 private:
  const parameters::Page parameters_;
  int64_t rows_ = 0;
};

class PrefixFilter : public Filter {
 public:
  explicit PrefixFilter(parameters::Prefix parameters) : parameters_(std::move(parameters)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<PrefixFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  void Reset() override { filter_row_ = true; }
  bool FilterRowKey(std::string_view row) override {
    const std::string_view prefix = parameters_.prefix;
    if (passed_ || row.size() < prefix.size()) return true;
    const auto order = row.substr(0, prefix.size()) <=> prefix;
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
  const parameters::Prefix parameters_;
  bool reversed_ = false;
  bool passed_ = false;
  bool filter_row_ = true;
};

class InclusiveStopFilter : public Filter {
 public:
  explicit InclusiveStopFilter(parameters::InclusiveStop parameters)
      : parameters_(std::move(parameters)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<InclusiveStopFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  bool FilterRowKey(std::string_view row) override {
    if (!done_) done_ = reversed_ ? row < parameters_.stop_row : row > parameters_.stop_row;
    return done_;
  }
  bool FilterAllRemaining() override { return done_; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    return done_ ? FilterReturn::kNextRow : FilterReturn::kInclude;
  }
  void SetReversed(bool reversed) override { reversed_ = reversed; }

 private:
  const parameters::InclusiveStop parameters_;
  bool reversed_ = false;
  bool done_ = false;
};

}  // namespace

FilterOr MakePageFilter(int64_t page_size) {
  if (page_size < 0) {
    return Status(StatusCode::kIllegalArgument,
                  "PageFilter: page size " + std::to_string(page_size) + " is negative");
  }
  return FilterPtr(std::make_shared<PageFilter>(parameters::Page{page_size}));
}

FilterOr MakePrefixFilter(std::string prefix) {
  return FilterPtr(std::make_shared<PrefixFilter>(parameters::Prefix{std::move(prefix)}));
}

FilterOr MakeInclusiveStopFilter(std::string stop_row) {
  return FilterPtr(
      std::make_shared<InclusiveStopFilter>(parameters::InclusiveStop{std::move(stop_row)}));
}

}  // namespace cellfs
