// SPDX-License-Identifier: MIT
#include "src/commands/cells.h"

#include <charconv>
#include <limits>
#include <utility>

#include "engine/big_endian.h"
#include "engine/filters.h"
#include "src/commands/command.h"
#include "src/commands/line_input.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr int64_t kMostVersions = std::numeric_limits<int32_t>::max();

constexpr char kFormat[] = "format";

const char* NameOf(ValueFormat format) {
  switch (format) {
    case ValueFormat::kText:
      break;
    case ValueFormat::kHex:
      return "hex";
    case ValueFormat::kLong:
      return "long";
  }
  return "text";
}

std::string EightBytes(int64_t number) {
  std::string bytes;
  AppendBigEndian(static_cast<uint64_t>(number), bytes);
  return bytes;
}

// REQUIRES: eight bytes.
int64_t NumberIn(const std::string& bytes) {
  return static_cast<int64_t>(ReadBigEndian<uint64_t>(bytes));
}

// A terminal is for looking: of a long value its beginning.
std::string ShownOn(const Printer& printer, const std::string& value) {
  constexpr size_t kLongest = 1000;
  if (!printer.style().terminal || value.size() <= kLongest) return ShownBytes(value);
  return ShownBytes(value.substr(0, kLongest)) + "... (" + ShownSize(value.size()) + ")";
}

Status AddColumn(const fs::Place& place, const std::string& word, Columns& columns) {
  CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, ParseColumn(place, word));
  auto [family, is_new] = columns.try_emplace(column.family);
  if (!column.qualifier) {
    family->second.clear();  // the whole family
  } else if (is_new || !family->second.empty()) {
    family->second.insert(*column.qualifier);
  }
  return {};
}

}  // namespace

json RecordOf(Cell&& cell, ValueFormat format, bool is_raw) {
  json record = {{"row", std::move(cell.row)},
                 {"family", std::move(cell.family)},
                 {"qualifier", std::move(cell.qualifier)},
                 {"timestamp", cell.timestamp}};
  record["value"] = std::move(cell.value);
  if (cell.time_to_live != kNoCellTtl) record["ttl"] = cell.time_to_live;
  if (is_raw) record["type"] = TypeName(cell.type);
  if (format != ValueFormat::kText) record[kFormat] = NameOf(format);
  return record;
}

void AddShown(json& record) {
  const auto named = record.find(kFormat);
  if (named == record.end() || !record.contains("value")) return;
  const ValueFormat format = *named == NameOf(ValueFormat::kHex) ? ValueFormat::kHex
                                                                 : ValueFormat::kLong;
  record.erase(named);
  record["shown"] = ShownValue(record["value"].get_ref<const std::string&>(), format);
}

Status ForEachCell(const Session& session, Scanner& scanner,
                   const std::function<bool(Cell&& cell)>& take) {
  while (!scanner.at_end()) {
    ScanBatch batch{.partial_rows = true};
    batch.cancelled = session.cancelled;
    CELLFS_ASSIGN_OR_RETURN(auto rows, scanner.Next(batch));
    for (RowCells& row : rows) {
      for (Cell& cell : row) {
        if (!take(std::move(cell))) return {};
      }
    }
  }
  return {};
}

void PrintCell(Printer& printer, const json& cell) {
  const std::string timestamp = std::to_string(cell["timestamp"].get<int64_t>());
  std::vector<std::string> fields = {
      ShownBytes(cell["row"].get<std::string>()),
      ShownColumn(cell["family"].get<std::string>(), cell["qualifier"].get<std::string>()),
      timestamp};
  const std::string type = cell.value("type", "Put");
  if (type != "Put") {
    fields.push_back(printer.In(Colour::kRed, type));
  } else if (cell.contains("shown")) {
    fields.push_back(cell["shown"]);
  } else {
    fields.push_back(ShownOn(printer, cell["value"].get_ref<const std::string&>()));
  }
  printer.Row(std::move(fields));
}

StatusOr<ValueFormat> FormatOf(const Arguments& arguments) {
  const std::string name = arguments.Text("format");
  if (name.empty() || name == "text") return ValueFormat::kText;
  if (name == "hex") return ValueFormat::kHex;
  if (name == "long") return ValueFormat::kLong;
  return WrongCall("--format is '" + name + "'; there are text, hex and long");
}

StatusOr<ValueFormat> FormatOf(const Arguments& arguments, const fs::Place& place) {
  const bool is_said = !arguments.Text(kFormat).empty();
  if (!is_said && place.kind == fs::PlaceKind::kCounter) return ValueFormat::kLong;
  return FormatOf(arguments);
}

StatusOr<std::string> ValueOf(const std::string& word, ValueFormat format) {
  if (format == ValueFormat::kText) return BytesOf(word);
  if (format == ValueFormat::kHex) {
    auto bytes = FromHex(word);
    if (bytes) return *std::move(bytes);
    return WrongCall("'" + word + "' is no sequence of pairs of hexadecimal digits");
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return EightBytes(number);
  return WrongCall("'" + word + "' is no number of 8 bytes");
}

StatusOr<std::string> GivenValue(const std::string& word, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const ValueFormat format, FormatOf(arguments));
  if (word != kStandardInputWord || !arguments.Has("input")) return ValueOf(word, format);
  std::string input = arguments.Text("input");
  if (format == ValueFormat::kText) return input;
  while (input.ends_with('\n') || input.ends_with('\r')) input.pop_back();
  auto value = ValueOf(input, format);
  if (value.ok()) return value;
  return WrongCall(std::string("standard input is no ") +
                   (format == ValueFormat::kHex ? "sequence of pairs of hexadecimal digits"
                                                : "number of 8 bytes"));
}

std::string ShownValue(const std::string& value, ValueFormat format) {
  if (format == ValueFormat::kHex) return ToHex(value);
  if (format == ValueFormat::kLong && value.size() == 8) return std::to_string(NumberIn(value));
  return ShownBytes(value);
}

void AddQueryOptions(Syntax& syntax) {
  syntax.Option("-v,--versions", "versions", "N", "as many versions of each column; 'all'");
  syntax.Option("--from", "from", "TIME", "only versions at or after that time");
  syntax.Option("--until", "until", "TIME", "only versions before that time");
  syntax.Option("--filter", "filter", "FILTER",
                "in HBase's language, bytes may be \\xNN: \"PrefixFilter('a\\xff') AND "
                "KeyOnlyFilter()\"");
  syntax.Option("--format", "format", "FORMAT", "values as text (\\xNN), hex or long (8 bytes)");
}

Status ReadQuery(const fs::Place& place, const std::vector<std::string>& words,
                 const Arguments& arguments, Timestamp now, Query& query) {
  if (place.kind == fs::PlaceKind::kFamily && words.empty()) query.columns[place.family];
  if (place.IsColumn()) query.columns[place.family].insert(place.qualifier);
  if (place.kind == fs::PlaceKind::kVersion) query.time_range = AtTimestamp(place.timestamp);
  for (const std::string& word : words)
    CELLFS_RETURN_IF_ERROR(AddColumn(place, word, query.columns));
  for (const std::string& word : arguments.Texts("columns"))
    CELLFS_RETURN_IF_ERROR(AddColumn(place, word, query.columns));
  if (arguments.Text("versions") == "all") {
    query.max_versions = kAllVersions;
  } else {
    CELLFS_ASSIGN_OR_RETURN(const int64_t versions,
                            arguments.NumberOr("versions", 1, kMostVersions, 1));
    query.max_versions = static_cast<int32_t>(versions);
  }
  for (const char* name : {"from", "until"})
    if (arguments.Has(name))
      CELLFS_RETURN_IF_ERROR(CheckNamesNoVersion(place, std::string("--") + name));
  CELLFS_ASSIGN_OR_RETURN(const auto from, arguments.Time("from", now));
  CELLFS_ASSIGN_OR_RETURN(const auto until, arguments.Time("until", now));
  if (from) query.time_range.min = *from;
  if (until) query.time_range.max = *until;
  if (query.time_range.min > query.time_range.max)
    return WrongCall("--from is later than --until");
  if (const std::string filter = arguments.Text("filter"); !filter.empty()) {
    CELLFS_ASSIGN_OR_RETURN(query.filter, ParseFilter(BytesOf(filter)));
  }
  return {};
}

void AddDurabilityOption(Syntax& syntax) {
  syntax.Option("--durability", "durability", "DURABILITY",
                "SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL; else as the table says");
}

StatusOr<Durability> DurabilityOf(const Arguments& arguments) {
  const std::string name = arguments.Text("durability");
  if (name.empty() || name == "USE_DEFAULT") return Durability::kUseDefault;
  if (name == "SKIP_WAL") return Durability::kSkipWal;
  if (name == "ASYNC_WAL") return Durability::kAsyncWal;
  if (name == "SYNC_WAL") return Durability::kSyncWal;
  if (name == "FSYNC_WAL") return Durability::kFsyncWal;
  return WrongCall("--durability is '" + name +
                   "'; there are SKIP_WAL, ASYNC_WAL, SYNC_WAL and FSYNC_WAL");
}

StatusOr<Timestamp> TimestampOf(const fs::Place& place, const Arguments& arguments, Timestamp now) {
  CELLFS_ASSIGN_OR_RETURN(const auto timestamp, arguments.Time("timestamp", now));
  if (timestamp) CELLFS_RETURN_IF_ERROR(CheckNamesNoVersion(place, "--timestamp"));
  const bool is_version = place.kind == fs::PlaceKind::kVersion;
  return timestamp.value_or(is_version ? place.timestamp : kLatestTimestamp);
}

Status CheckNamesNoVersion(const fs::Place& place, const std::string& option) {
  if (place.kind != fs::PlaceKind::kVersion) return {};
  return WrongCall("the path names version " + std::to_string(place.timestamp) +
                   " already; leave " + option + " out, or name the column itself");
}

StatusOr<ColumnWord> TakeColumn(NamedPlace& named) {
  if (named.place.IsColumn()) return ColumnWord{named.place.family, named.place.qualifier};
  if (named.words.empty()) return WrongCall("name a column: FAMILY:QUALIFIER");
  CELLFS_ASSIGN_OR_RETURN(ColumnWord column, ParseColumn(named.place, named.words.front()));
  if (!column.qualifier)
    return WrongCall("'" + named.words.front() + "' is a family; a column is FAMILY:QUALIFIER");
  named.words.erase(named.words.begin());
  return column;
}

}  // namespace cellfs
