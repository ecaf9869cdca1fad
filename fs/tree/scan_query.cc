// SPDX-License-Identifier: MIT
#include "fs/tree/scan_query.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/filters.h"

namespace cellfs::fs {

namespace {

constexpr std::string_view kParts =
    "prefix=, start=, stop=, start_exclusive, stop_inclusive, reverse, limit=, columns=, "
    "time_range=min..max, versions=, filter=";

Status Refuse(std::string_view part, std::string_view allowed) {
  return Status(StatusCode::kIllegalArgument,
                "scan query: '" + std::string(part) + "': allowed is " + std::string(allowed));
}

std::optional<int64_t> ReadNumber(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "5..9", "5..", "..9".
std::optional<TimeRange> ReadTimeRange(std::string_view text) {
  size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  TimeRange range;
  auto read_bound = [](std::string_view bound, Timestamp& timestamp) {
    if (bound.empty()) return true;
    auto number = ReadNumber(bound);
    if (number) timestamp = *number;
    return number && *number >= 0;
  };
  if (!read_bound(text.substr(0, dots), range.min)) return std::nullopt;
  if (!read_bound(text.substr(dots + 2), range.max)) return std::nullopt;
  if (range.max < range.min) return std::nullopt;
  return range;
}

bool IsFlag(std::string_view key) {
  return key == "start_exclusive" || key == "stop_inclusive" || key == "reverse";
}

// Of what has a value behind "=".
bool IsKeyOfValue(std::string_view key) {
  constexpr std::string_view kKeys[] = {"prefix", "start",      "stop",     "limit",
                                        "columns", "time_range", "versions", "filter"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

bool IsKey(std::string_view key) { return IsFlag(key) || IsKeyOfValue(key); }

// Mostly a filter has a comma, and this is the rest of it.
Status RefuseRest(std::string_view part) {
  const Status refused = Refuse(part, kParts);
  return Status(refused.code(),
                refused.message() + "; a comma in a value, as of a filter, is '%2C'");
}

Status ReadFlag(std::string_view key, ScanQuery& query) {
  if (key == "start_exclusive") {
    query.start_exclusive = true;
  } else if (key == "stop_inclusive") {
    query.stop_inclusive = true;
  } else if (key == "reverse") {
    query.reverse = true;
  } else {
    return Refuse(key, kParts);
  }
  return Status();
}

void AddColumn(std::string_view text, ScanQuery& query) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    query.columns.emplace_back(text, std::nullopt);
  } else {
    query.columns.emplace_back(text.substr(0, colon), std::string(text.substr(colon + 1)));
  }
}

Status ReadValue(std::string_view key, const std::string& value, ScanQuery& query) {
  if (key == "prefix") {
    query.prefix = value;
  } else if (key == "start") {
    query.start = value;
  } else if (key == "stop") {
    query.stop = value;
  } else if (key == "filter") {
    query.filter = value;
  } else if (key == "columns") {
    if (value.empty()) return Refuse("columns=", "a family, or family:qualifier");
    AddColumn(value, query);
  } else if (key == "limit") {
    query.limit = ReadNumber(value);
    if (!query.limit || *query.limit < 0) return Refuse("limit=" + value, "a number of rows");
  } else if (key == "versions") {
    auto versions = value == "all" ? std::optional<int64_t>(kAllVersions) : ReadNumber(value);
    if (!versions || *versions < 1 || *versions > kAllVersions) {
      return Refuse("versions=" + value, "a number from 1, or 'all'");
    }
    query.versions = static_cast<int32_t>(*versions);
  } else if (key == "time_range") {
    auto range = ReadTimeRange(value);
    if (!range) return Refuse("time_range=" + value, "min..max in milliseconds, min <= max");
    query.time_range = *range;
  } else if (IsFlag(key)) {
    return Refuse(std::string(key) + "=" + value, "that word alone, without a value");
  } else {
    return Refuse(key, kParts);
  }
  return Status();
}

// One end of a scan; an empty row is no bound.
struct Bound {
  std::string row;
  bool inclusive = true;
};

}  // namespace

StatusOr<ScanQuery> ScanQuery::Read(std::string_view name, NameMode mode) {
  const NameSpelling spelling(NameLevel::kValue, mode);
  ScanQuery query;
  std::set<std::string_view> keys;
  while (true) {
    size_t comma = std::min(name.find(','), name.size());
    std::string_view part = name.substr(0, comma);
    size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (!keys.empty() && !IsKey(key)) return RefuseRest(part);
    if (!keys.insert(key).second && key != "columns") return Refuse(part, "each but columns= once");
    if (equals == std::string_view::npos) {
      CELLFS_RETURN_IF_ERROR(ReadFlag(part, query));
    } else {
      ReadName value = spelling.Read(part.substr(equals + 1));
      if (value.kind != ReadName::Kind::kKey) return Refuse(part, "a value spelled as a file name");
      CELLFS_RETURN_IF_ERROR(ReadValue(key, value.key, query));
    }
    if (comma == name.size()) return query;
    name.remove_prefix(comma + 1);
  }
}

std::string ScanQuery::Name(NameMode mode) const {
  const NameSpelling spelling(NameLevel::kValue, mode);
  std::string name;
  auto add = [&](std::string_view part, std::string_view value) {
    name += name.empty() ? "" : ",";
    name += std::string(part) + spelling.Spell(value);
  };
  if (!prefix.empty()) add("prefix=", prefix);
  if (!start.empty()) add("start=", start);
  if (!stop.empty()) add("stop=", stop);
  if (start_exclusive) add("start_exclusive", "");
  if (stop_inclusive) add("stop_inclusive", "");
  if (reverse) add("reverse", "");
  if (limit) add("limit=", std::to_string(*limit));
  for (const auto& [family, qualifier] : columns) {
    add("columns=", qualifier ? family + ":" + *qualifier : family);
  }
  if (!time_range.IsAll()) {
    bool open = time_range.max == TimeRange().max;
    add("time_range=",
        std::to_string(time_range.min) + ".." + (open ? "" : std::to_string(time_range.max)));
  }
  if (versions != 1) add("versions=", versions == kAllVersions ? "all" : std::to_string(versions));
  if (!filter.empty()) add("filter=", filter);
  return name.empty() ? "prefix=" : name;
}

StatusOr<Scan> ScanQuery::ToScan() const {
  Bound low{reverse ? stop : start, reverse ? stop_inclusive : !start_exclusive};
  Bound high{reverse ? start : stop, reverse ? !start_exclusive : stop_inclusive};
  if (low.row.empty() && !reverse) low.inclusive = true;
  if (!prefix.empty()) {
    if (low.row < prefix) low = {prefix, true};
    std::string after = RowAfterPrefix(prefix);
    if (!after.empty() && (high.row.empty() || high.row >= after)) high = {after, false};
  }
  Scan scan;
  scan.start_row = reverse ? high.row : low.row;
  scan.include_start_row = reverse ? high.inclusive : low.inclusive;
  scan.stop_row = reverse ? low.row : high.row;
  scan.include_stop_row = reverse ? low.inclusive : high.inclusive;
  scan.reversed = reverse;
  scan.limit = limit.value_or(-1);
  scan.time_range = time_range;
  scan.max_versions = versions;
  for (const auto& [family, qualifier] : columns) {
    auto [entry, is_new] = scan.columns.try_emplace(family);
    bool whole_family = !is_new && entry->second.empty();
    if (!qualifier) {
      entry->second.clear();
    } else if (!whole_family) {
      entry->second.insert(*qualifier);
    }
  }
  if (!filter.empty()) {
    CELLFS_ASSIGN_OR_RETURN(scan.filter, ParseFilter(filter));
  }
  return scan;
}

}  // namespace cellfs::fs
