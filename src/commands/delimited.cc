// SPDX-License-Identifier: MIT
#include "src/commands/delimited.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/commands/arguments.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr char kRowKey[] = "HBASE_ROW_KEY";
constexpr char kTimestampKey[] = "HBASE_TS_KEY";
constexpr char kTtlKey[] = "HBASE_CELL_TTL";

StatusOr<int64_t> NumberIn(const std::string& field, const char* column) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error == std::errc() && end == field.data() + field.size()) return number;
  return WrongCall(std::string(column) + " is no number: '" + field + "'");
}

}  // namespace

StatusOr<Delimited> Delimited::Make(const std::string& columns, char separator, bool quoted) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= columns.size();) {
    const size_t end = std::min(columns.find(',', begin), columns.size());
    names.push_back(columns.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::count(names.begin(), names.end(), kRowKey) != 1)
    return WrongCall("--columns says once which field is the row: HBASE_ROW_KEY");
  for (const std::string& name : names) {
    const bool is_key = name == kRowKey || name == kTimestampKey || name == kTtlKey;
    if (name.starts_with("HBASE_") && !is_key)
      return WrongCall("--columns has '" + name + "'; there are HBASE_ROW_KEY, HBASE_TS_KEY and "
                       "HBASE_CELL_TTL");
    if (!is_key && !name.empty() && name.find(':') == name.npos)
      return WrongCall("'" + name + "' in --columns is no FAMILY:QUALIFIER");
  }
  return Delimited(std::move(names), separator, quoted);
}

bool Delimited::GoesOn(const std::string& text) const {
  return quoted_ && std::count(text.begin(), text.end(), '"') % 2 != 0;
}

// Within quotes two of them are one.
std::vector<std::string> Delimited::FieldsOf(const std::string& text) const {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted_ && c == '"') {
      const bool is_escaped = is_quoted && i + 1 < text.size() && text[i + 1] == '"';
      if (is_escaped) {
        fields.back() += text[++i];
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == separator_ && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

StatusOr<std::vector<json>> Delimited::CellsOf(const std::string& text) const {
  std::vector<std::string> fields = FieldsOf(text);
  if (fields.size() != columns_.size()) {
    return WrongCall("it has " + std::to_string(fields.size()) + " fields, and --columns " +
                     std::to_string(columns_.size()));
  }
  json common = json::object();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (columns_[i] == kRowKey) {
      if (fields[i].empty()) return WrongCall("its row is empty");
      common["row"] = fields[i];
    } else if (columns_[i] == kTimestampKey || columns_[i] == kTtlKey) {
      const bool is_ttl = columns_[i] == kTtlKey;
      CELLFS_ASSIGN_OR_RETURN(common[is_ttl ? "ttl" : "timestamp"],
                              NumberIn(fields[i], is_ttl ? kTtlKey : kTimestampKey));
    }
  }
  std::vector<json> cells;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (columns_[i].empty() || columns_[i].starts_with("HBASE_")) continue;
    json cell = common;
    cell["column"] = columns_[i];
    cell["value"] = std::move(fields[i]);
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace cellfs
