// SPDX-License-Identifier: MIT
//
// A Comparator made ready to compare: HBase's ByteArrayComparable with its operator.
#ifndef CELLFS_ENGINE_FILTER_COMPARATOR_H_
#define CELLFS_ENGINE_FILTER_COMPARATOR_H_

#include <compare>
#include <optional>
#include <string_view>

#include "engine/filter/regex.h"
#include "engine/filters.h"

namespace cellfs {

// Cheap to copy but for its value; thread-safe.
class Condition {
 public:
  // kIllegalArgument where the comparator's regular expression is none.
  static StatusOr<Condition> Create(CompareOperator op, Comparator comparator);

  CompareOperator op() const { return op_; }
  const Comparator& comparator() const { return comparator_; }

  // STORED op GIVEN.
  bool HoldsFor(std::string_view stored) const { return Holds(op_, Compare(stored)); }

 private:
  Condition(CompareOperator op, Comparator comparator, std::optional<Regex> regex);

  std::strong_ordering Compare(std::string_view stored) const;

  CompareOperator op_;
  Comparator comparator_;
  std::optional<Regex> regex_;  // for the kinds that search
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_COMPARATOR_H_
