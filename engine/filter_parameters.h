// SPDX-License-Identifier: MIT
//
// What a filter is made of, as a value: a filter that has one can be written down and made again
// elsewhere, as by the servers of a cluster. A struct for each filter of HBase, under its name.
#ifndef CELLFS_ENGINE_FILTER_PARAMETERS_H_
#define CELLFS_ENGINE_FILTER_PARAMETERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/filters.h"

namespace cellfs {
namespace parameters {

struct ColumnCountGet {
  int32_t limit = 0;
};
struct ColumnPagination {
  int32_t limit = 0;
  int32_t offset = 0;
};
struct ColumnPrefix {
  std::string prefix;
};
struct MultipleColumnPrefix {
  std::set<std::string, std::less<>> prefixes;
};
struct ColumnRange {
  std::optional<std::string> min;
  bool min_inclusive = true;
  std::optional<std::string> max;
  bool max_inclusive = false;
};
struct Timestamps {
  std::set<Timestamp> timestamps;
  bool can_hint = false;
};
struct FirstKeyOnly {};
struct KeyOnly {
  bool length_as_value = false;
};
struct Page {
  int64_t page_size = 0;
};
struct Prefix {
  std::string prefix;
};
struct InclusiveStop {
  std::string stop_row;
};
// RowFilter, FamilyFilter, QualifierFilter, ValueFilter.
struct Compare {
  enum class Part { kRow, kFamily, kQualifier, kValue };
  Part part = Part::kRow;
  CompareOperator op = CompareOperator::kEqual;
  Comparator comparator;
};
struct ColumnValue {
  std::string family;
  std::string qualifier;
  CompareOperator op = CompareOperator::kEqual;
  Comparator comparator;
};
struct DependentColumn {
  std::string family;
  std::string qualifier;
  bool drop = false;
  CompareOperator op = CompareOperator::kNoOp;
  std::optional<Comparator> comparator;
};
// SingleColumnValueFilter, and SingleColumnValueExcludeFilter where it excludes.
struct ColumnJudgesRow {
  SingleColumnValue column;
  bool excludes_column = false;
};
struct Skip {
  FilterPtr inner;
};
struct WhileMatch {
  FilterPtr inner;
};
struct List {
  ListOperator op = ListOperator::kMustPassAll;
  std::vector<FilterPtr> filters;
};

}  // namespace parameters

struct FilterParameters {
  // std::monostate: the filter is code alone, and runs nowhere else.
  std::variant<std::monostate, parameters::ColumnCountGet, parameters::ColumnPagination,
               parameters::ColumnPrefix, parameters::MultipleColumnPrefix, parameters::ColumnRange,
               parameters::Timestamps, parameters::FirstKeyOnly, parameters::KeyOnly,
               parameters::Page, parameters::Prefix, parameters::InclusiveStop, parameters::Compare,
               parameters::ColumnValue, parameters::DependentColumn, parameters::ColumnJudgesRow,
               parameters::Skip, parameters::WhileMatch, parameters::List>
      value;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_PARAMETERS_H_
