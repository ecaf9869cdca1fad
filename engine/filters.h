// SPDX-License-Identifier: MIT
//
// The filters of HBase 2.6 by their class names, and the language that names them
// (org.apache.hadoop.hbase.filter; ParseFilter).
#ifndef CELLFS_ENGINE_FILTERS_H_
#define CELLFS_ENGINE_FILTERS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/filter.h"
#include "engine/status_or.h"

namespace cellfs {

enum class CompareOperator {
  kLess,
  kLessOrEqual,
  kEqual,
  kNotEqual,
  kGreaterOrEqual,
  kGreater,
  kNoOp,
};

// The operator that says the same of the two the other way round.
CompareOperator Turned(CompareOperator op);
// STORED op GIVEN, where the order of the two is `order` = STORED <=> GIVEN. kNoOp never holds.
bool Holds(CompareOperator op, std::strong_ordering order);

// A substring is sought without regard to case. A regular expression has Java's syntax, is sought
// anywhere in the stored bytes read as UTF-8 (bytes that are not count as U+FFFD), and its dot
// takes line ends too. Either is equal where found and orders the stored bytes below where not.
struct Comparator {
  enum class Kind { kBinary, kBinaryPrefix, kSubstring, kRegexString, kRegexStringNoCase };
  Kind kind = Kind::kBinary;
  std::string value;
};

// kIllegalArgument where the parameters are refused as HBase's constructors refuse them.
using FilterOr = StatusOr<FilterPtr>;

FilterOr MakeColumnCountGetFilter(int32_t limit);
FilterOr MakeTimestampsFilter(std::set<Timestamp> timestamps, bool can_hint = false);
FilterOr MakeColumnPrefixFilter(std::string prefix);
FilterOr MakeMultipleColumnPrefixFilter(std::vector<std::string> prefixes);
// An absent bound is an empty optional in HBase's null sense.
FilterOr MakeColumnRangeFilter(std::optional<std::string> min, bool min_inclusive,
                               std::optional<std::string> max, bool max_inclusive);
FilterOr MakeColumnPaginationFilter(int32_t limit, int32_t offset);
FilterOr MakePageFilter(int64_t page_size);
FilterOr MakeFirstKeyOnlyFilter();
FilterOr MakeKeyOnlyFilter(bool length_as_value);
FilterOr MakePrefixFilter(std::string prefix);
FilterOr MakeInclusiveStopFilter(std::string stop_row);
FilterOr MakeRowFilter(CompareOperator op, Comparator comparator);
FilterOr MakeFamilyFilter(CompareOperator op, Comparator comparator);
FilterOr MakeQualifierFilter(CompareOperator op, Comparator comparator);
FilterOr MakeValueFilter(CompareOperator op, Comparator comparator);
// Only the cells of one column whose value compares so.
FilterOr MakeColumnValueFilter(std::string family, std::string qualifier, CompareOperator op,
                               Comparator comparator);
FilterOr MakeDependentColumnFilter(std::string family, std::string qualifier,
                                   bool drop_dependent_column, CompareOperator op,
                                   std::optional<Comparator> comparator);

struct SingleColumnValue {
  std::string family;
  std::string qualifier;
  CompareOperator op = CompareOperator::kEqual;
  Comparator comparator;
  bool filter_if_missing = false;
  bool latest_version_only = true;
};
FilterOr MakeSingleColumnValueFilter(SingleColumnValue column);
FilterOr MakeSingleColumnValueExcludeFilter(SingleColumnValue column);

FilterOr MakeSkipFilter(const FilterPtr& inner);
FilterOr MakeWhileMatchFilter(const FilterPtr& inner);
// Before the filter stands what a reader may see: the filter never sees another cell, and nothing
// comes back of it (HBase's AccessControlFilter). `inner` may be null. Each clone has a copy of
// `may_see`; it is asked for each cell.
FilterPtr MakeVisibleCellsFilter(std::function<bool(const CellView&)> may_see,
                                 const FilterPtr& inner);
enum class ListOperator { kMustPassAll, kMustPassOne };
FilterOr MakeFilterList(ListOperator op, const std::vector<FilterPtr>& filters);

// HBase's filter language: "PrefixFilter('row') AND (TimestampsFilter(1,2) OR KeyOnlyFilter())".
// kIllegalArgument with the position of what is not understood; for an argument that is the start
// of its filter. Also for texts over 64 KiB and for filters in filters deeper than 100.
FilterOr ParseFilter(std::string_view text);
// Those that it knows.
std::vector<std::string> FilterNames();

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTERS_H_
