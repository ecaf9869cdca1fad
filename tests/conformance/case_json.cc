// SPDX-License-Identifier: MIT
#include "case_json.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "big_endian.h"

namespace cellfs::conformance {
namespace {

[[noreturn]] void Malformed(const std::string& what) { throw std::runtime_error(what); }

int64_t ParseNumber(std::string_view digits, int base) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    Malformed("not a number: " + std::string(digits));
  }
  return value;
}

bool IsReadable(std::string_view bytes) {
  for (const std::string_view prefix : {"hex:", "rep:", "long:"}) {
    if (bytes.starts_with(prefix)) return false;
  }
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
  }
  try {
    return !Json(std::string(bytes)).dump().empty();  // refuses what is not UTF-8
  } catch (const Json::exception&) {
    return false;
  }
}

Timestamp Stamp(const Json& object, Timestamp fallback = kLatestTimestamp) {
  return Number(object, "ts", fallback);
}

// The cells of a write: of its list, or the one that it is itself.
std::vector<Json> CellsOf(const Json& step) {
  if (!Has(step, "cells")) return {step};
  return step.at("cells").get<std::vector<Json>>();
}

std::vector<std::string> Texts(const Json& object, const char* key) {
  return Has(object, key) ? object.at(key).get<std::vector<std::string>>()
                          : std::vector<std::string>();
}

std::string Qualifier(const ColumnName& column) { return column.qualifier.value_or(""); }

Comparator ParseComparator(const Json& comparator) {
  if (comparator.is_string()) {
    return {Comparator::Kind::kBinary, BytesOf(comparator.get<std::string>())};
  }
  const std::string type = Text(comparator, "type", "binary");
  const std::string value = Text(comparator, "value");
  if (type == "binary") return {Comparator::Kind::kBinary, BytesOf(value)};
  if (type == "binaryprefix") return {Comparator::Kind::kBinaryPrefix, BytesOf(value)};
  if (type == "substring") return {Comparator::Kind::kSubstring, value};
  if (type == "regexstring") return {Comparator::Kind::kRegexString, value};
  Malformed("comparator " + type);
}

std::optional<std::string> OptionalBytes(const Json& object, const char* key) {
  if (!Has(object, key)) return std::nullopt;
  return BytesOf(Text(object, key));
}

FilterOr ParseDependent(const Json& filter) {
  const ColumnName column = ParseColumn(Text(filter, "col"));
  std::optional<Comparator> comparator;
  if (Has(filter, "comparator")) comparator = ParseComparator(filter.at("comparator"));
  const auto compare = ParseCompare(Text(filter, "compare", "NO_OP"));
  if (!compare) Malformed("compare " + Text(filter, "compare"));
  return MakeDependentColumnFilter(column.family, Qualifier(column),
                                   Truth(filter, "drop_dependent", false), *compare, comparator);
}

FilterOr ParseComparing(const std::string& type, const Json& filter) {
  const auto compare = ParseCompare(Text(filter, "compare"));
  if (!compare) Malformed("compare " + Text(filter, "compare"));
  const Comparator comparator = ParseComparator(filter.at("comparator"));
  if (type == "RowFilter") return MakeRowFilter(*compare, comparator);
  if (type == "FamilyFilter") return MakeFamilyFilter(*compare, comparator);
  if (type == "QualifierFilter") return MakeQualifierFilter(*compare, comparator);
  if (type == "ValueFilter") return MakeValueFilter(*compare, comparator);
  const ColumnName column = ParseColumn(Text(filter, "col"));
  if (type == "ColumnValueFilter") {
    return MakeColumnValueFilter(column.family, Qualifier(column), *compare, comparator);
  }
  const SingleColumnValue value{column.family,
                                Qualifier(column),
                                *compare,
                                comparator,
                                Truth(filter, "filter_if_missing", false),
                                Truth(filter, "latest_version_only", true)};
  if (type == "SingleColumnValueFilter") return MakeSingleColumnValueFilter(value);
  if (type == "SingleColumnValueExcludeFilter") return MakeSingleColumnValueExcludeFilter(value);
  Malformed("filter " + type);
}

FilterOr ParseFilterList(const Json& filter) {
  std::vector<FilterPtr> filters;
  for (const Json& one : filter.at("filters")) {
    CELLFS_ASSIGN_OR_RETURN(FilterPtr inner, ParseCaseFilter(one));
    filters.push_back(std::move(inner));
  }
  const bool one = Text(filter, "operator", "MUST_PASS_ALL") == "MUST_PASS_ONE";
  return MakeFilterList(one ? ListOperator::kMustPassOne : ListOperator::kMustPassAll,
                        std::move(filters));
}

Status ParseQuery(const Json& step, Query& query) {
  std::vector<std::string> columns = Texts(step, "cols");
  if (Has(step, "col")) columns.push_back(Text(step, "col"));
  for (const std::string& spelling : columns) {
    const ColumnName column = ParseColumn(spelling);
    if (column.qualifier) {
      query.columns[column.family].insert(*column.qualifier);
    } else {
      query.columns[column.family].clear();
    }
  }
  std::vector<std::string> families = Texts(step, "families");
  if (Has(step, "family")) families.push_back(Text(step, "family"));
  for (const std::string& family : families) query.columns[BytesOf(family)].clear();
  if (Has(step, "versions")) {
    const Json& versions = step.at("versions");
    query.max_versions = versions.is_string() ? kAllVersions : versions.get<int32_t>();
  }
  if (Has(step, "time_range")) query.time_range = ParseTimeRange(step.at("time_range"));
  if (Has(step, "timestamp")) {
    const Timestamp at = Number(step, "timestamp", 0);
    if (at == kLatestTimestamp) return {StatusCode::kIllegalArgument, "no time after the last"};
    query.time_range = AtTimestamp(at);
  }
  if (Has(step, "cf_time_range")) {
    for (const auto& [family, range] : step.at("cf_time_range").items()) {
      query.family_time_ranges[BytesOf(family)] = ParseTimeRange(range);
    }
  }
  if (Has(step, "filter")) {
    CELLFS_ASSIGN_OR_RETURN(query.filter, ParseCaseFilter(step.at("filter")));
  }
  query.store_limit = static_cast<int32_t>(Number(step, "store_limit", -1));
  query.store_offset = static_cast<int32_t>(Number(step, "store_offset", 0));
  return {};
}

void AddMarker(const std::string& type, const Json& marker, Delete& deletion) {
  DeleteMarker added;
  added.timestamp = Stamp(marker);
  if (type == "version" || type == "column") {
    const ColumnName column = ParseColumn(Text(marker, "col"));
    added.type = type == "version" ? CellType::kDelete : CellType::kDeleteColumn;
    added.family = column.family;
    added.qualifier = Qualifier(column);
  } else if (type == "family" || type == "family_version") {
    added.type = type == "family" ? CellType::kDeleteFamily : CellType::kDeleteFamilyVersion;
    added.family = BytesOf(Text(marker, "family"));
  } else {
    Malformed("marker " + type);
  }
  if (type == "family") {
    // As Delete.addFamily of HBase's client does, which has refused negative timestamps by then.
    std::erase_if(deletion.markers, [&](const DeleteMarker& one) {
      return one.family == added.family && one.timestamp >= 0;
    });
  }
  deletion.markers.push_back(std::move(added));
}

Mutation ParseDelete(const std::string& op, const Json& step, const std::string& row) {
  Delete deletion{.row = row};
  deletion.time_to_live = Number(step, "cell_ttl", kNoCellTtl);
  if (op == "delete_row") {
    deletion.timestamp = Stamp(step);
  } else if (op == "delete") {
    for (const Json& marker : step.at("markers")) AddMarker(Text(marker, "type"), marker, deletion);
  } else if (op.starts_with("delete_")) {
    AddMarker(op.substr(7), step, deletion);
  } else {
    Malformed("mutation " + op);
  }
  return deletion;
}

Mutation ParsePut(const Json& step, const std::string& row) {
  Put put{.row = row, .time_to_live = Number(step, "cell_ttl", kNoCellTtl)};
  for (const Json& cell : CellsOf(step)) {
    const ColumnName column = ParseColumn(Text(cell, "col"));
    put.cells.push_back({column.family, Qualifier(column), Stamp(cell, Stamp(step)),
                         BytesOf(Text(cell, "value")), std::nullopt});
  }
  return put;
}

template <typename M>
void ParseDeltaSettings(const Json& step, M& mutation) {
  if (Has(step, "time_range")) mutation.time_range = ParseTimeRange(step.at("time_range"));
  mutation.time_to_live = Number(step, "cell_ttl", kNoCellTtl);
}

Mutation ParseIncrement(const Json& step, const std::string& row) {
  Increment increment{.row = row};
  ParseDeltaSettings(step, increment);
  for (const Json& cell : CellsOf(step)) {
    const ColumnName column = ParseColumn(Text(cell, "col"));
    increment.cells.push_back(
        {column.family, Qualifier(column), Number(cell, "by", 1), Stamp(cell)});
  }
  return increment;
}

Mutation ParseAppend(const Json& step, const std::string& row) {
  Append append{.row = row};
  ParseDeltaSettings(step, append);
  for (const Json& cell : CellsOf(step)) {
    const ColumnName column = ParseColumn(Text(cell, "col"));
    append.cells.push_back(
        {column.family, Qualifier(column), BytesOf(Text(cell, "value")), Stamp(cell)});
  }
  return append;
}

}  // namespace

std::string BytesOf(std::string_view spelling) {
  if (spelling.starts_with("hex:")) {
    std::string bytes;
    for (size_t i = 4; i + 1 < spelling.size(); i += 2) {
      bytes.push_back(static_cast<char>(ParseNumber(spelling.substr(i, 2), 16)));
    }
    return bytes;
  }
  if (spelling.starts_with("long:")) return BigEndian(ParseNumber(spelling.substr(5), 10));
  if (spelling.starts_with("rep:")) {
    const size_t colon = spelling.find(':', 4);
    if (colon == std::string_view::npos) Malformed("rep without text");
    const int64_t times = ParseNumber(spelling.substr(4, colon - 4), 10);
    std::string bytes;
    for (int64_t i = 0; i < times; ++i) bytes += spelling.substr(colon + 1);
    return bytes;
  }
  return std::string(spelling);
}

std::string Spell(std::string_view bytes) {
  if (IsReadable(bytes)) return std::string(bytes);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex = "hex:";
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

ColumnName ParseColumn(std::string_view spelling) {
  const size_t colon = spelling.find(':');
  if (colon == std::string_view::npos || spelling.substr(0, colon) == "hex") {
    return {BytesOf(spelling), std::nullopt};
  }
  return {BytesOf(spelling.substr(0, colon)), BytesOf(spelling.substr(colon + 1))};
}

std::string SpellColumn(std::string_view family, std::string_view qualifier) {
  return Spell(family) + ":" + Spell(qualifier);
}

bool Has(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

std::string Text(const Json& object, const char* key, const std::string& fallback) {
  return Has(object, key) ? object.at(key).get<std::string>() : fallback;
}

int64_t Number(const Json& object, const char* key, int64_t fallback) {
  return Has(object, key) ? object.at(key).get<int64_t>() : fallback;
}

bool Truth(const Json& object, const char* key, bool fallback) {
  return Has(object, key) ? object.at(key).get<bool>() : fallback;
}

TimeRange ParseTimeRange(const Json& range) {
  TimeRange parsed;
  parsed.min = range.at(0).get<Timestamp>();
  if (!range.at(1).is_null()) parsed.max = range.at(1).get<Timestamp>();
  return parsed;
}

std::optional<CompareOperator> ParseCompare(std::string_view name) {
  if (name == "LESS") return CompareOperator::kLess;
  if (name == "LESS_OR_EQUAL") return CompareOperator::kLessOrEqual;
  if (name == "EQUAL") return CompareOperator::kEqual;
  if (name == "NOT_EQUAL") return CompareOperator::kNotEqual;
  if (name == "GREATER_OR_EQUAL") return CompareOperator::kGreaterOrEqual;
  if (name == "GREATER") return CompareOperator::kGreater;
  if (name == "NO_OP") return CompareOperator::kNoOp;
  return std::nullopt;
}

FilterOr ParseCaseFilter(const Json& filter) {
  const std::string type = Text(filter, "type");
  const auto limit = static_cast<int32_t>(Number(filter, "limit", 0));
  if (type == "ColumnCountGetFilter") return MakeColumnCountGetFilter(limit);
  if (type == "TimestampsFilter") {
    return MakeTimestampsFilter(filter.at("timestamps").get<std::set<Timestamp>>());
  }
  if (type == "ColumnPrefixFilter") return MakeColumnPrefixFilter(BytesOf(Text(filter, "prefix")));
  if (type == "MultipleColumnPrefixFilter") {
    std::vector<std::string> prefixes = Texts(filter, "prefixes");
    for (std::string& prefix : prefixes) prefix = BytesOf(prefix);
    return MakeMultipleColumnPrefixFilter(std::move(prefixes));
  }
  if (type == "ColumnRangeFilter") {
    return MakeColumnRangeFilter(OptionalBytes(filter, "min"), Truth(filter, "min_inclusive", true),
                                 OptionalBytes(filter, "max"),
                                 Truth(filter, "max_inclusive", false));
  }
  if (type == "ColumnPaginationFilter") {
    return MakeColumnPaginationFilter(limit, static_cast<int32_t>(Number(filter, "offset", 0)));
  }
  if (type == "PageFilter") return MakePageFilter(Number(filter, "page_size", 0));
  if (type == "FirstKeyOnlyFilter") return MakeFirstKeyOnlyFilter();
  if (type == "KeyOnlyFilter") return MakeKeyOnlyFilter(Truth(filter, "len_as_value", false));
  if (type == "PrefixFilter") return MakePrefixFilter(BytesOf(Text(filter, "prefix")));
  if (type == "InclusiveStopFilter") return MakeInclusiveStopFilter(BytesOf(Text(filter, "stop")));
  if (type == "DependentColumnFilter") return ParseDependent(filter);
  if (type == "FilterList") return ParseFilterList(filter);
  if (type == "SkipFilter" || type == "WhileMatchFilter") {
    CELLFS_ASSIGN_OR_RETURN(FilterPtr inner, ParseCaseFilter(filter.at("filter")));
    return type == "SkipFilter" ? MakeSkipFilter(std::move(inner))
                                : MakeWhileMatchFilter(std::move(inner));
  }
  return ParseComparing(type, filter);
}

StatusOr<Get> ParseGet(const Json& step) {
  Get get;
  get.row = BytesOf(Text(step, "row"));
  CELLFS_RETURN_IF_ERROR(ParseQuery(step, get));
  return get;
}

StatusOr<Scan> ParseScan(const Json& step) {
  Scan scan;
  CELLFS_RETURN_IF_ERROR(ParseQuery(step, scan));
  scan.start_row = BytesOf(Text(step, "start"));
  scan.include_start_row = Truth(step, "start_inclusive", true);
  scan.stop_row = BytesOf(Text(step, "stop"));
  scan.include_stop_row = Truth(step, "stop_inclusive", false);
  if (Has(step, "prefix")) {
    scan.start_row = BytesOf(Text(step, "prefix"));
    scan.stop_row = RowAfterPrefix(scan.start_row);
  }
  scan.limit = Number(step, "limit", -1);
  scan.reversed = Truth(step, "reversed", false);
  scan.raw = Truth(step, "raw", false);
  return scan;
}

// Not HBase's: the put of a column at exactly `ts` was never there.
Withdraw ParseWithdraw(const Json& step, const std::string& row) {
  ColumnName column = ParseColumn(Text(step, "col"));
  return {row, {{column.family, column.qualifier.value_or(""), Number(step, "ts", 0)}}};
}

Mutation ParseMutation(const Json& step, const std::string& row) {
  const std::string op = Text(step, "op");
  const std::string own_row = Has(step, "row") ? BytesOf(Text(step, "row")) : row;
  if (op == "put") return ParsePut(step, own_row);
  if (op == "increment") return ParseIncrement(step, own_row);
  if (op == "append") return ParseAppend(step, own_row);
  if (op == "withdraw") return ParseWithdraw(step, own_row);
  return ParseDelete(op, step, own_row);
}

StatusOr<RowMutations> ParseMutations(const Json& steps, const std::string& row) {
  RowMutations mutations;
  mutations.row = row;
  for (const Json& step : steps) mutations.mutations.push_back(ParseMutation(step, row));
  return mutations;
}

Status SetAttributes(const Json& attributes, FamilySchema& family) {
  for (const auto& [name, value] : attributes.items()) {
    if (value.is_null()) {
      CELLFS_RETURN_IF_ERROR(family.Set(name, "FOREVER"));  // only a TTL may be null
    } else {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      CELLFS_RETURN_IF_ERROR(family.Set(name, text));
    }
  }
  return {};
}

StatusOr<TableSchema> ParseTable(const std::string& name, const Json& families,
                                 const Json& splits) {
  TableSchema table(ParseTableName(name));
  for (const auto& [spelling, attributes] : families.items()) {
    FamilySchema family(BytesOf(spelling));
    CELLFS_RETURN_IF_ERROR(SetAttributes(attributes, family));
    table.families.emplace(family.name(), std::move(family));
  }
  for (const Json& split : splits) table.split_keys.push_back(BytesOf(split.get<std::string>()));
  return table;
}

}  // namespace cellfs::conformance
