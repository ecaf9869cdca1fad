// SPDX-License-Identifier: MIT
#include "engine/filter/simple_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace cellfs {
namespace {

Status BadArguments(std::string_view what) {
  return Status(StatusCode::kIllegalArgument, std::string(what));
}

// The arguments of a simple expression: quoted ones with their quotes, which tell 'true' from true.
using Arguments = std::vector<std::string>;

bool EndsArgument(char c) { return c == ' ' || c == ',' || c == ')'; }

// The quoted argument at `at`, which moves to its closing quote.
StatusOr<std::string> QuotedArgument(std::string_view text, size_t& at) {
  std::string argument = "'";
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\'') {
      if (IsQuoteAlone(text, at)) return argument + "'";
      ++at;  // the second of two stands for both
    }
    argument.push_back(text[at]);
  }
  return BadArguments("a quote is not closed");
}

// `text` is a simple expression from its '(' on.
StatusOr<Arguments> SplitArguments(std::string_view text) {
  Arguments arguments;
  for (size_t at = 1; at < text.size(); ++at) {
    if (EndsArgument(text[at])) continue;
    if (text[at] == '\'') {
      CELLFS_ASSIGN_OR_RETURN(std::string argument, QuotedArgument(text, at));
      arguments.push_back(std::move(argument));
      ++at;  // whatever follows a quoted argument is taken for its comma
      continue;
    }
    const size_t start = at;
    while (at < text.size() && !EndsArgument(text[at])) ++at;
    arguments.emplace_back(text.substr(start, at - start));
  }
  return arguments;
}

// The readers of one argument each.

StatusOr<std::string> ToBytes(const std::string& argument) {
  if (argument.size() < 2 || argument.front() != '\'' || argument.back() != '\'') {
    return BadArguments("'" + argument + "' must be in quotes");
  }
  return argument.substr(1, argument.size() - 2);
}

StatusOr<int64_t> ToLong(const std::string& argument) {
  if (argument == "-") return int64_t{0};  // so HBase
  int64_t number = 0;
  const char* end = argument.data() + argument.size();
  const auto result = std::from_chars(argument.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    return BadArguments(argument + " is not a number of 64 bits");
  }
  return number;
}

StatusOr<int32_t> ToInt(const std::string& argument) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t number, ToLong(argument));
  if (number > std::numeric_limits<int32_t>::max() ||
      number < std::numeric_limits<int32_t>::min()) {
    return BadArguments(argument + " is not a number of 32 bits");
  }
  return static_cast<int32_t>(number);
}

StatusOr<bool> ToBool(const std::string& argument) {
  std::string lower = argument;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower == "true") return true;
  if (lower == "false") return false;
  return BadArguments(argument + " is neither true nor false");
}

StatusOr<CompareOperator> ToOperator(const std::string& argument) {
  if (argument == "<") return CompareOperator::kLess;
  if (argument == "<=") return CompareOperator::kLessOrEqual;
  if (argument == "=") return CompareOperator::kEqual;
  if (argument == "!=") return CompareOperator::kNotEqual;
  if (argument == ">=") return CompareOperator::kGreaterOrEqual;
  if (argument == ">") return CompareOperator::kGreater;
  return BadArguments(argument + " is not a comparison");
}

StatusOr<Comparator> ToComparator(const std::string& argument) {
  using Kind = Comparator::Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds = {{
      {"binary", Kind::kBinary},
      {"binaryprefix", Kind::kBinaryPrefix},
      {"regexstring", Kind::kRegexString},
      {"regexstringnocase", Kind::kRegexStringNoCase},
      {"substring", Kind::kSubstring},
  }};
  CELLFS_ASSIGN_OR_RETURN(const std::string text, ToBytes(argument));
  const size_t colon = text.find(':');
  for (const auto& [name, kind] : kKinds) {
    if (colon != std::string::npos && text.substr(0, colon) == name) {
      return Comparator{kind, text.substr(colon + 1)};
    }
  }
  return BadArguments("'" + text + "' is not a comparator, such as 'binary:value'");
}

struct Comparison {
  CompareOperator op = CompareOperator::kEqual;
  Comparator comparator;
};

StatusOr<Comparison> ToAnyComparison(const std::string& op, const std::string& comparator) {
  Comparison comparison;
  CELLFS_ASSIGN_OR_RETURN(comparison.op, ToOperator(op));
  CELLFS_ASSIGN_OR_RETURN(comparison.comparator, ToComparator(comparator));
  return comparison;
}

// Comparators that search know no order.
StatusOr<Comparison> ToComparison(const std::string& op, const std::string& comparator) {
  CELLFS_ASSIGN_OR_RETURN(Comparison comparison, ToAnyComparison(op, comparator));
  const bool compares_bytes = comparison.comparator.kind == Comparator::Kind::kBinary ||
                              comparison.comparator.kind == Comparator::Kind::kBinaryPrefix;
  if (!compares_bytes && comparison.op != CompareOperator::kEqual &&
      comparison.op != CompareOperator::kNotEqual) {
    return BadArguments("regexstring and substring go with = and != only");
  }
  return comparison;
}

// The readers of the arguments of one filter each; their number has been checked.

FilterOr ReadKeyOnly(const Arguments& arguments) {
  if (arguments.empty()) return MakeKeyOnlyFilter(false);
  CELLFS_ASSIGN_OR_RETURN(const bool length_as_value, ToBool(arguments[0]));
  return MakeKeyOnlyFilter(length_as_value);
}

FilterOr ReadFirstKeyOnly(const Arguments& /*arguments*/) { return MakeFirstKeyOnlyFilter(); }

template <FilterOr (*make)(std::string)>
FilterOr ReadBytes(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(std::string bytes, ToBytes(arguments[0]));
  return make(std::move(bytes));
}

FilterOr ReadMultipleColumnPrefix(const Arguments& arguments) {
  std::vector<std::string> prefixes;
  for (const std::string& argument : arguments) {
    CELLFS_ASSIGN_OR_RETURN(std::string prefix, ToBytes(argument));
    prefixes.push_back(std::move(prefix));
  }
  return MakeMultipleColumnPrefixFilter(std::move(prefixes));
}

FilterOr ReadColumnCountGet(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const int32_t limit, ToInt(arguments[0]));
  return MakeColumnCountGetFilter(limit);
}

FilterOr ReadPage(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t page_size, ToLong(arguments[0]));
  return MakePageFilter(page_size);
}

FilterOr ReadColumnPagination(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const int32_t limit, ToInt(arguments[0]));
  CELLFS_ASSIGN_OR_RETURN(const int32_t offset, ToInt(arguments[1]));
  return MakeColumnPaginationFilter(limit, offset);
}

FilterOr ReadTimestamps(const Arguments& arguments) {
  std::set<Timestamp> timestamps;
  for (const std::string& argument : arguments) {
    CELLFS_ASSIGN_OR_RETURN(const Timestamp timestamp, ToLong(argument));
    timestamps.insert(timestamp);
  }
  return MakeTimestampsFilter(std::move(timestamps));
}

template <FilterOr (*make)(CompareOperator, Comparator)>
FilterOr ReadCompare(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(Comparison comparison, ToComparison(arguments[0], arguments[1]));
  return make(comparison.op, std::move(comparison.comparator));
}

// An empty bound is no bound.
StatusOr<std::optional<std::string>> ToBound(const std::string& argument) {
  CELLFS_ASSIGN_OR_RETURN(std::string bytes, ToBytes(argument));
  if (bytes.empty()) return std::optional<std::string>();
  return std::optional<std::string>(std::move(bytes));
}

FilterOr ReadColumnRange(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(auto min, ToBound(arguments[0]));
  CELLFS_ASSIGN_OR_RETURN(const bool min_inclusive, ToBool(arguments[1]));
  CELLFS_ASSIGN_OR_RETURN(auto max, ToBound(arguments[2]));
  CELLFS_ASSIGN_OR_RETURN(const bool max_inclusive, ToBool(arguments[3]));
  return MakeColumnRangeFilter(std::move(min), min_inclusive, std::move(max), max_inclusive);
}

template <FilterOr (*make)(SingleColumnValue)>
FilterOr ReadSingleColumnValue(const Arguments& arguments) {
  if (arguments.size() == 5) return BadArguments("4 or 6 arguments expected");
  SingleColumnValue column;
  CELLFS_ASSIGN_OR_RETURN(column.family, ToBytes(arguments[0]));
  CELLFS_ASSIGN_OR_RETURN(column.qualifier, ToBytes(arguments[1]));
  CELLFS_ASSIGN_OR_RETURN(Comparison comparison, ToComparison(arguments[2], arguments[3]));
  column.op = comparison.op;
  column.comparator = std::move(comparison.comparator);
  if (arguments.size() == 6) {
    CELLFS_ASSIGN_OR_RETURN(column.filter_if_missing, ToBool(arguments[4]));
    CELLFS_ASSIGN_OR_RETURN(column.latest_version_only, ToBool(arguments[5]));
  }
  return make(std::move(column));
}

FilterOr ReadColumnValue(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(std::string family, ToBytes(arguments[0]));
  CELLFS_ASSIGN_OR_RETURN(std::string qualifier, ToBytes(arguments[1]));
  CELLFS_ASSIGN_OR_RETURN(Comparison comparison, ToComparison(arguments[2], arguments[3]));
  return MakeColumnValueFilter(std::move(family), std::move(qualifier), comparison.op,
                               std::move(comparison.comparator));
}

FilterOr ReadDependentColumn(const Arguments& arguments) {
  if (arguments.size() == 4) return BadArguments("2, 3 or 5 arguments expected");
  CELLFS_ASSIGN_OR_RETURN(std::string family, ToBytes(arguments[0]));
  CELLFS_ASSIGN_OR_RETURN(std::string qualifier, ToBytes(arguments[1]));
  bool drop = false;
  if (arguments.size() > 2) {
    CELLFS_ASSIGN_OR_RETURN(drop, ToBool(arguments[2]));
  }
  CompareOperator op = CompareOperator::kNoOp;
  std::optional<Comparator> comparator;
  if (arguments.size() == 5) {
    // Alone among its kind it takes any operator with any comparator.
    CELLFS_ASSIGN_OR_RETURN(Comparison comparison, ToAnyComparison(arguments[3], arguments[4]));
    op = comparison.op;
    comparator = std::move(comparison.comparator);
  }
  return MakeDependentColumnFilter(std::move(family), std::move(qualifier), drop, op,
                                   std::move(comparator));
}

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

struct FilterWord {
  std::string_view name;
  size_t min_arguments;
  size_t max_arguments;
  FilterOr (*read)(const Arguments& arguments);
};

constexpr std::array<FilterWord, 19> kEntries = {{
    {"KeyOnlyFilter", 0, 1, ReadKeyOnly},
    {"FirstKeyOnlyFilter", 0, 0, ReadFirstKeyOnly},
    {"PrefixFilter", 1, 1, ReadBytes<MakePrefixFilter>},
    {"ColumnPrefixFilter", 1, 1, ReadBytes<MakeColumnPrefixFilter>},
    {"MultipleColumnPrefixFilter", 0, kAnyNumber, ReadMultipleColumnPrefix},
    {"ColumnCountGetFilter", 1, 1, ReadColumnCountGet},
    {"PageFilter", 1, 1, ReadPage},
    {"ColumnPaginationFilter", 2, 2, ReadColumnPagination},
    {"InclusiveStopFilter", 1, 1, ReadBytes<MakeInclusiveStopFilter>},
    {"TimestampsFilter", 0, kAnyNumber, ReadTimestamps},
    {"RowFilter", 2, 2, ReadCompare<MakeRowFilter>},
    {"FamilyFilter", 2, 2, ReadCompare<MakeFamilyFilter>},
    {"QualifierFilter", 2, 2, ReadCompare<MakeQualifierFilter>},
    {"ValueFilter", 2, 2, ReadCompare<MakeValueFilter>},
    {"ColumnRangeFilter", 4, 4, ReadColumnRange},
    {"SingleColumnValueFilter", 4, 6, ReadSingleColumnValue<MakeSingleColumnValueFilter>},
    {"SingleColumnValueExcludeFilter", 4, 6,
     ReadSingleColumnValue<MakeSingleColumnValueExcludeFilter>},
    {"DependentColumnFilter", 2, 5, ReadDependentColumn},
    {"ColumnValueFilter", 4, 4, ReadColumnValue},
}};

}  // namespace

bool IsQuoteAlone(std::string_view text, size_t quote) {
  return quote + 1 == text.size() || text[quote + 1] != '\'';
}

std::vector<std::string> FilterNames() {
  std::vector<std::string> names;
  for (const FilterWord& each : kEntries) names.emplace_back(each.name);
  return names;
}

FilterOr ReadSimpleFilter(std::string_view text) {
  const size_t name_length = text.find_first_of("( ");
  const std::string_view name = text.substr(0, name_length);
  const auto* entry = std::find_if(kEntries.begin(), kEntries.end(),
                                   [&](const FilterWord& each) { return each.name == name; });
  if (entry == kEntries.end()) return BadArguments("unknown filter '" + std::string(name) + "'");
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return BadArguments("no '(' after the name");
  CELLFS_ASSIGN_OR_RETURN(const Arguments arguments, SplitArguments(text.substr(open)));
  if (arguments.size() < entry->min_arguments || arguments.size() > entry->max_arguments) {
    return BadArguments(std::string(name) + " does not take " + std::to_string(arguments.size()) +
                        " arguments");
  }
  return entry->read(arguments);
}

}  // namespace cellfs
