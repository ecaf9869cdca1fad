// SPDX-License-Identifier: MIT
#include "src/shell/query.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "src/shell/call.h"
#include "src/shell/converter.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

// They tell HBase's client and servers how to go about it, and change no answer.
constexpr std::string_view kOfTheWay[] = {
    "CACHE",   "CACHE_BLOCKS",      "BATCH",             "ALL_METRICS", "METRICS",
    "CONSISTENCY", "REGION_REPLICA_ID", "ISOLATION_LEVEL", "READ_TYPE",
    "ALLOW_PARTIAL_RESULTS", "MAX_RESULT_SIZE", "FORMATTER_CLASS", "ATTRIBUTES"};

Status WrongValue(const std::string& key, const Value& value, const std::string& wanted) {
  return Refused(key + " is " + wanted + ", not " + value.Inspect());
}

StatusOr<int64_t> NumberOf(const std::string& key, const Value& value) {
  const auto* const number = value.As<int64_t>();
  if (number == nullptr) return WrongValue(key, value, "a number");
  return *number;
}

bool IsTrue(const Value& value) {
  if (const auto* truth = value.As<bool>()) return *truth;
  return value.Text() == "true";
}

}  // namespace

StatusOr<Query> Query::Read(const Hash& hash, Kind kind) {
  Query query;
  for (const auto& [key, value] : hash) {
    if (!value.IsNil()) CELLFS_RETURN_IF_ERROR(query.Take(key, value, kind));
  }
  // Of all that is stored the command line shows all versions; HBase as many as are asked for.
  if (query.options_.contains("raw") && !query.options_.contains("versions"))
    query.options_["versions"] = "1";
  return query;
}

Status Query::Take(const std::string& key, const Value& value, Kind kind) {
  if (key == "COLUMN" || key == "COLUMNS") return TakeColumns(value);
  if (key == "TIMERANGE") return TakeTimeRange(value);
  if (key == "FORMATTER") {
    converter_ = value.Text();
    return IsConverter(converter_) ? Status() : WrongValue(key, value, "a method of Bytes");
  }
  if (key == "FILTER") {
    options_["filter"] = ShownBytes(value.Text());
    return {};
  }
  if (key == "VERSIONS" || key == "MAXLENGTH" || key == "TIMESTAMP") {
    CELLFS_ASSIGN_OR_RETURN(const int64_t number, NumberOf(key, value));
    if (key == "VERSIONS" && number < 1) return Refused("VERSIONS is 1 or more, not " + value.Text());
    if (key == "VERSIONS") options_["versions"] = std::to_string(number);
    if (key == "MAXLENGTH") longest_ = number;
    if (key != "TIMESTAMP") return {};
    if (number < 0) return Refused("TIMESTAMP is 0 or more, not " + value.Text());
    options_["from"] = std::to_string(number);
    if (number < std::numeric_limits<int64_t>::max()) options_["until"] = std::to_string(number + 1);
    return {};
  }
  if (std::find(std::begin(kOfTheWay), std::end(kOfTheWay), key) != std::end(kOfTheWay)) return {};
  if (key == "AUTHORIZATIONS") return Refused("visibility labels are not kept");
  if (kind == Kind::kCount && key == "INTERVAL") return {};
  if (kind != Kind::kGet) return TakeRange(key, value);
  return Refused("'" + key + "' is nothing that get knows");
}

Status Query::TakeRange(const std::string& key, const Value& value) {
  if (key == "STARTROW") {
    if (!value.Text().empty()) options_["start"] = WordOf(value.Text());
  } else if (key == "STOPROW" || key == "ENDROW") {
    if (!value.Text().empty()) options_["stop"] = WordOf(value.Text());
  } else if (key == "ROWPREFIXFILTER") {
    options_["prefix"] = WordOf(value.Text());
  } else if (key == "LIMIT") {
    CELLFS_ASSIGN_OR_RETURN(const int64_t limit, NumberOf(key, value));
    if (limit > 0) options_["limit"] = std::to_string(limit);
  } else if (key == "REVERSED") {
    if (IsTrue(value)) options_["reversed"] = true;
  } else if (key == "RAW") {
    if (IsTrue(value)) options_["raw"] = true;
  } else {
    return Refused("'" + key + "' is nothing that scan knows");
  }
  return {};
}

Status Query::TakeColumns(const Value& value) {
  const auto* const list = value.As<List>();
  if (value.As<Hash>() != nullptr) return WrongValue("COLUMNS", value, "a text or a list of texts");
  for (const Value& one : list == nullptr ? List{value} : *list) {
    const ColumnSpec spec = ParseColumnSpec(one.Text());
    if (!spec.converter.empty()) converters_[spec.column] = spec.converter;
    columns_.push_back(ColumnWordOf(spec.column));
  }
  return {};
}

Status Query::TakeTimeRange(const Value& value) {
  const auto* const range = value.As<List>();
  if (range == nullptr || range->size() != 2) return WrongValue("TIMERANGE", value, "[FROM, UNTIL]");
  CELLFS_ASSIGN_OR_RETURN(const int64_t from, NumberOf("TIMERANGE", (*range)[0]));
  CELLFS_ASSIGN_OR_RETURN(const int64_t until, NumberOf("TIMERANGE", (*range)[1]));
  if (from < 0 || from > until)
    return Refused("TIMERANGE is [FROM, UNTIL] with 0 <= FROM <= UNTIL, not " + value.Inspect());
  options_["from"] = std::to_string(from);
  options_["until"] = std::to_string(until);
  return {};
}

json Query::Arguments(json words) const {
  json arguments = options_;
  for (const std::string& column : columns_) words.push_back(column);
  arguments["words"] = std::move(words);
  return arguments;
}

StatusOr<std::string> Query::ShownRow(const std::string& row) const {
  return Convert(row, converter_);
}

StatusOr<std::string> Query::ShownColumn(const json& cell) const {
  CELLFS_ASSIGN_OR_RETURN(std::string column,
                          Convert(cell["family"].get_ref<const std::string&>(), converter_));
  CELLFS_ASSIGN_OR_RETURN(const std::string qualifier,
                          Convert(cell["qualifier"].get_ref<const std::string&>(), converter_));
  return column + ":" + qualifier;
}

StatusOr<std::string> Query::ShownCell(const json& cell) const {
  std::string shown = "timestamp=" + TimestampText(cell["timestamp"].get<int64_t>());
  const std::string type = cell.value("type", "Put");
  if (type != "Put") {
    shown += ", type=" + type;
  } else {
    const auto own = converters_.find(cell["family"].get<std::string>() + ":" +
                                      cell["qualifier"].get<std::string>());
    CELLFS_ASSIGN_OR_RETURN(const std::string value,
                            Convert(cell["value"].get_ref<const std::string&>(),
                                    own == converters_.end() ? converter_ : own->second));
    shown += ", value=" + value;
  }
  return longest_ < 0 ? shown : shown.substr(0, static_cast<size_t>(longest_));
}

}  // namespace cellfs::shell
