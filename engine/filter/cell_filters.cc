// SPDX-License-Identifier: MIT
//
// Filters that look at a cell's place in its row or its timestamp, and KeyOnlyFilter, which looks
// at nothing.
#include <algorithm>
#include <utility>

#include "engine/filter_parameters.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

class FirstKeyOnlyFilter : public Filter {
 public:
  std::unique_ptr<Filter> Clone() const override { return std::make_unique<FirstKeyOnlyFilter>(); }
  FilterParameters Parameters() const override { return {parameters::FirstKeyOnly()}; }
  void Reset() override { found_ = false; }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    return std::exchange(found_, true) ? FilterReturn::kNextRow : FilterReturn::kInclude;
  }

 private:
  bool found_ = false;
};

// Four bytes, big end first.
std::string LengthAsValue(uint64_t length) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(length >> shift));
  return bytes;
}

class KeyOnlyFilter : public Filter {
 public:
  explicit KeyOnlyFilter(parameters::KeyOnly parameters) : parameters_(parameters) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<KeyOnlyFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }
  void TransformCell(Cell& cell) const override {
    cell.value = parameters_.length_as_value ? LengthAsValue(cell.value_length) : "";
    cell.value_length = cell.value.size();
  }

 private:
  const parameters::KeyOnly parameters_;
};

class TimestampsFilter : public Filter {
 public:
  explicit TimestampsFilter(parameters::Timestamps parameters)
      : parameters_(std::move(parameters)) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<TimestampsFilter>(parameters_);
  }
  FilterParameters Parameters() const override { return {parameters_}; }

  FilterReturn FilterCell(const CellView& cell) override {
    const std::set<Timestamp>& timestamps = parameters_.timestamps;
    if (timestamps.contains(cell.timestamp)) return FilterReturn::kInclude;
    const Timestamp smallest = timestamps.empty() ? kLatestTimestamp : *timestamps.begin();
    if (cell.timestamp < smallest) return FilterReturn::kNextColumn;
    return parameters_.can_hint ? FilterReturn::kSeekNextUsingHint : FilterReturn::kSkip;
  }

  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    if (!parameters_.can_hint) return std::nullopt;
    const auto not_below = parameters_.timestamps.lower_bound(cell.timestamp);
    // -1 is behind every version of the column.
    const Timestamp next = not_below == parameters_.timestamps.begin() ? -1 : *std::prev(not_below);
    return CellHint{std::string(cell.row), std::string(cell.family), std::string(cell.qualifier),
                    next};
  }
  bool IsHinting() const override { return true; }

 private:
  const parameters::Timestamps parameters_;
};

}  // namespace

FilterOr MakeFirstKeyOnlyFilter() { return FilterPtr(std::make_shared<FirstKeyOnlyFilter>()); }

FilterOr MakeKeyOnlyFilter(bool length_as_value) {
  return FilterPtr(std::make_shared<KeyOnlyFilter>(parameters::KeyOnly{length_as_value}));
}

FilterOr MakeTimestampsFilter(std::set<Timestamp> timestamps, bool can_hint) {
  if (!timestamps.empty() && *timestamps.begin() < 0) {
    return Status(
        StatusCode::kIllegalArgument,
        "TimestampsFilter: timestamp " + std::to_string(*timestamps.begin()) + " is negative");
  }
  return FilterPtr(std::make_shared<TimestampsFilter>(
      parameters::Timestamps{std::move(timestamps), can_hint}));
}

}  // namespace cellfs
