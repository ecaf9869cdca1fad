// SPDX-License-Identifier: MIT
#include "src/commands/delimited.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "src/commands/arguments.h"
#include "src/commands/cell_line.h"
#include "src/commands/printer.h"

namespace cellfs {
namespace {

constexpr char kRowKey[] = "HBASE_ROW_KEY";
constexpr char kTimestampKey[] = "HBASE_TS_KEY";
constexpr char kTtlKey[] = "HBASE_CELL_TTL";

StatusOr<int64_t> NumberIn(const std::string& field, const char* column) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error == std::errc() && end == field.data() + field.size()) return number;
  return WrongCall(std::string(column) + " is no number: '" + field + "'");
}

StatusOr<Delimited::Column> ColumnOf(const std::string& name) {
  using Field = Delimited::Field;
  if (name.empty()) return Delimited::Column();
  if (name == kRowKey) return Delimited::Column{Field::kRow, {}, {}};
  if (name == kTimestampKey) return Delimited::Column{Field::kTimestamp, {}, {}};
  if (name == kTtlKey) return Delimited::Column{Field::kTtl, {}, {}};
  if (name.starts_with("HBASE_")) {
    return WrongCall("--columns has '" + name + "'; there are HBASE_ROW_KEY, HBASE_TS_KEY and "
                     "HBASE_CELL_TTL");
  }
  if (name.find(':') == name.npos)
    return WrongCall("'" + name + "' in --columns is no FAMILY:QUALIFIER");
  CELLFS_ASSIGN_OR_RETURN(ColumnWord word, ParseColumn(fs::RootPlace(), name));
  return Delimited::Column{Field::kValue, std::move(word.family),
                           std::move(word.qualifier).value_or("")};
}

}  // namespace

StatusOr<Delimited> Delimited::Make(const std::string& columns, char separator, bool quoted) {
  std::vector<Column> made;
  for (size_t begin = 0; begin <= columns.size();) {
    const size_t end = std::min(columns.find(',', begin), columns.size());
    CELLFS_ASSIGN_OR_RETURN(Column column, ColumnOf(columns.substr(begin, end - begin)));
    made.push_back(std::move(column));
    begin = end + 1;
  }
  const auto has_field = [&](Field field, ptrdiff_t least, ptrdiff_t most) {
    const auto count = std::ranges::count(made, field, &Column::field);
    return count >= least && count <= most;
  };
  if (!has_field(Field::kRow, 1, 1))
    return WrongCall("--columns says once which field is the row: HBASE_ROW_KEY");
  if (!has_field(Field::kValue, 1, std::ssize(made)))
    return WrongCall("--columns says of no field that it is a column's: FAMILY:QUALIFIER");
  std::set<std::pair<std::string, std::string>> seen;
  for (const Column& column : made) {
    if (column.field == Field::kValue && !seen.emplace(column.family, column.qualifier).second)
      return WrongCall("--columns says " + column.family + ":" + column.qualifier + " twice");
  }
  if (!has_field(Field::kTimestamp, 0, 1) || !has_field(Field::kTtl, 0, 1))
    return WrongCall("--columns says HBASE_TS_KEY or HBASE_CELL_TTL twice");
  return Delimited(std::move(made), separator, quoted);
}

std::optional<size_t> Delimited::FindRecord(std::string_view text) const {
  bool is_quoted = false;
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos) return std::nullopt;
    if (quoted_) {
      const std::string_view line = text.substr(begin, end - begin);
      is_quoted ^= std::count(line.begin(), line.end(), '"') % 2 != 0;
    }
    if (!is_quoted) return end + 1;
    begin = end + 1;
  }
}

StatusOr<std::vector<std::string>> Delimited::FieldsOf(std::string_view record) const {
  std::vector<std::string> fields;
  fields.reserve(columns_.size());
  const bool has_quotes = quoted_ && record.find('"') != record.npos;
  if (!has_quotes) {
    for (size_t begin = 0; begin <= record.size();) {
      const size_t end = std::min(record.find(separator_, begin), record.size());
      fields.emplace_back(record.substr(begin, end - begin));
      begin = end + 1;
    }
    return fields;
  }
  fields.emplace_back();
  bool is_quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (c == '"') {
      const bool is_escaped = is_quoted && i + 1 < record.size() && record[i + 1] == '"';
      if (is_escaped) {
        fields.back() += record[++i];
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == separator_ && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (is_quoted) return WrongCall("a quote is open at its end");
  return fields;
}

StatusOr<Put> Delimited::PutOf(std::string_view record) const {
  CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> fields, FieldsOf(record));
  if (fields.size() != columns_.size()) {
    return WrongCall("it has " + std::to_string(fields.size()) + " fields, and --columns " +
                     std::to_string(columns_.size()));
  }
  Put put;
  put.cells.reserve(columns_.size());
  Timestamp timestamp = kLatestTimestamp;
  for (size_t i = 0; i < fields.size(); ++i) {
    switch (columns_[i].field) {
      case Field::kRow:
        if (fields[i].empty()) return WrongCall("its row is empty");
        put.row = std::move(fields[i]);
        break;
      case Field::kTimestamp: {
        CELLFS_ASSIGN_OR_RETURN(timestamp, NumberIn(fields[i], kTimestampKey));
        break;
      }
      case Field::kTtl: {
        if (fields[i].empty()) break;
        CELLFS_ASSIGN_OR_RETURN(put.time_to_live, NumberIn(fields[i], kTtlKey));
        CELLFS_RETURN_IF_ERROR(CheckTimeToLive(put.time_to_live));
        break;
      }
      case Field::kValue:
        if (fields[i].empty() && skips_empty_) break;
        put.cells.push_back({columns_[i].family, columns_[i].qualifier, kLatestTimestamp,
                             std::move(fields[i]), {}});
        break;
      case Field::kLeftOut:
        break;
    }
  }
  for (PutCell& cell : put.cells) cell.timestamp = timestamp;
  return put;
}

StatusOr<std::string> Delimited::RecordOf(const std::vector<std::string>& fields) const {
  std::string record;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) record += separator_;
    const std::string& field = fields[i];
    const bool is_plain = std::ranges::none_of(field, [&](char c) {
      return c == separator_ || c == '\n' || c == '\r' || (quoted_ && c == '"');
    });
    if (is_plain) {
      record += field;
      continue;
    }
    if (!quoted_)
      return WrongCall("it has the separator or the end of a line in it; --csv or JSON Lines take it");
    record += '"';
    for (const char c : field) record += c == '"' ? "\"\"" : std::string(1, c);
    record += '"';
  }
  return record + "\n";
}

StatusOr<std::optional<Delimited>> DelimitedOf(const Arguments& arguments) {
  const bool is_csv = arguments.Flag("csv");
  if (!is_csv && !arguments.Flag("tsv")) {
    for (const char* name : {"columns", "separator", "skip_empty"})
      if (arguments.Has(name))
        return WrongCall("--columns, --separator and --skip-empty go with --tsv or --csv");
    return std::optional<Delimited>();
  }
  if (is_csv && arguments.Flag("tsv")) return WrongCall("say --tsv or --csv, not both");
  const std::string separator =
      arguments.Has("separator") ? BytesOf(arguments.Text("separator")) : is_csv ? "," : "\t";
  if (separator.size() != 1) return WrongCall("--separator is one byte");
  CELLFS_ASSIGN_OR_RETURN(Delimited delimited,
                          Delimited::Make(arguments.Text("columns"), separator[0], is_csv));
  if (arguments.Flag("skip_empty")) delimited.SkipEmpty();
  return std::optional(std::move(delimited));
}

void AddDelimitedOptions(Syntax& syntax) {
  syntax.Flag("--tsv", "tsv", "fields between tabs");
  syntax.Flag("--csv", "csv", "fields between commas, perhaps in double quotes");
  syntax.Option("--columns", "columns", "COLUMN,...", "what the fields are");
  syntax.Option("--separator", "separator", "BYTE", "what is between fields; may be \\xNN");
}

}  // namespace cellfs
