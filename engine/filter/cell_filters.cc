// SPDX-License-Identifier: MIT
//
// Filters that look at a cell's place in its row or its timestamp, and KeyOnlyFilter, which looks
// at nothing.
#include <algorithm>
#include <utility>

#include "engine/filters.h"

namespace cellfs {
namespace {

class FirstKeyOnlyFilter : public Filter {
 public:
  std::unique_ptr<Filter> Clone() const override { return std::make_unique<FirstKeyOnlyFilter>(); }
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
  explicit KeyOnlyFilter(bool length_as_value) : length_as_value_(length_as_value) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<KeyOnlyFilter>(length_as_value_);
  }
  void TransformCell(Cell& cell) const override {
    cell.value = length_as_value_ ? LengthAsValue(cell.value_length) : "";
    cell.value_length = cell.value.size();
  }

 private:
  const bool length_as_value_;
};

class TimestampsFilter : public Filter {
 public:
  TimestampsFilter(std::set<Timestamp> timestamps, bool can_hint)
      : timestamps_(std::move(timestamps)), can_hint_(can_hint) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<TimestampsFilter>(timestamps_, can_hint_);
  }

  FilterReturn FilterCell(const CellView& cell) override {
    if (timestamps_.contains(cell.timestamp)) return FilterReturn::kInclude;
    const Timestamp smallest = timestamps_.empty() ? kLatestTimestamp : *timestamps_.begin();
    if (cell.timestamp < smallest) return FilterReturn::kNextColumn;
    return can_hint_ ? FilterReturn::kSeekNextUsingHint : FilterReturn::kSkip;
  }

  std::optional<CellHint> GetNextCellHint(const CellView& cell) override {
    if (!can_hint_) return std::nullopt;
    const auto not_below = timestamps_.lower_bound(cell.timestamp);
    // -1 is behind every version of the column.
    const Timestamp next = not_below == timestamps_.begin() ? -1 : *std::prev(not_below);
    return CellHint{std::string(cell.row), std::string(cell.family), std::string(cell.qualifier),
                    next};
  }
  bool IsHinting() const override { return true; }

 private:
  const std::set<Timestamp> timestamps_;
  const bool can_hint_;
};

}  // namespace

FilterOr MakeFirstKeyOnlyFilter() { return FilterPtr(std::make_shared<FirstKeyOnlyFilter>()); }

FilterOr MakeKeyOnlyFilter(bool length_as_value) {
  return FilterPtr(std::make_shared<KeyOnlyFilter>(length_as_value));
}

FilterOr MakeTimestampsFilter(std::set<Timestamp> timestamps, bool can_hint) {
  if (!timestamps.empty() && *timestamps.begin() < 0) {
    return Status(
        StatusCode::kIllegalArgument,
        "TimestampsFilter: timestamp " + std::to_string(*timestamps.begin()) + " is negative");
  }
  return FilterPtr(std::make_shared<TimestampsFilter>(std::move(timestamps), can_hint));
}

}  // namespace cellfs
