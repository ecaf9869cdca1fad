// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_rows.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>

namespace cellfs::fs {
namespace {

constexpr size_t kMaxKeptRow = 32000;

// Made in one piece: each look at a file's attributes needs two of them.
std::string Joined(std::initializer_list<std::string_view> parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string joined(size, '\0');
  char* end = joined.data();
  for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  return joined;
}

void AppendNumber(int64_t number, std::string& text) {
  char digits[20];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number);
  text.append(digits, end);
}

void AppendTime(const timespec& time, std::string& text) {
  AppendNumber(time.tv_sec, text);
  text += '.';
  AppendNumber(time.tv_nsec, text);
}

std::optional<int64_t> ReadInteger(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view NextWord(std::string_view& text) {
  std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

std::string RowOfTable(TableId id) {
  char row[1 + 20] = {':'};
  const auto [end, error] = std::to_chars(std::begin(row) + 1, std::end(row), id);
  return {row, end};
}

std::string RowOfTableHere(TableId id) {
  std::string row = RowOfTable(id);
  row.front() = kTableHereMark;
  return row;
}

TableId IdOfTableHere(std::string_view row) {
  TableId id = 0;
  std::from_chars(row.data() + 1, row.data() + row.size(), id);
  return id;
}

std::string DataRowsOf(const std::string& table_row) {
  std::string rows = table_row;
  if (rows.starts_with(kTableHereMark)) rows.front() = kDataHereMark;
  return rows;
}

bool IsInRow(PlaceKind kind) {
  return kind != PlaceKind::kRoot && kind != PlaceKind::kNamespace && kind != PlaceKind::kTable &&
         TraitsOf(kind).content != PlaceContent::kToml;
}

bool IsAboveRows(const Place& place) { return !IsInRow(place.kind) && Qualifier(place).empty(); }

std::string RowKey(const Place& place, const DataTable& table) {
  if (place.kind == PlaceKind::kRoot || place.table.namespace_name.empty()) return "/";
  if (place.table.name.empty()) return place.table.namespace_name;
  if (!IsInRow(place.kind)) return table.row;
  std::string key = Joined({table.row, std::string_view("\0", 1), place.row});
  if (key.front() == kTableHereMark) key.front() = kDataHereMark;
  if (key.size() <= kMaxKeptRow) return key;
  const Place row = RowPlace({"", ""}, place.row);
  return key.substr(0, kMaxKeptRow) + std::to_string(row.InodeNumber());
}

std::string ChangeRowKey(const Place& directory, const DataTable& table) {
  std::string key = RowKey(directory, table);
  if (IsInRow(directory.kind)) key[key.find('\0')] = kChangeSeparator;
  return key;
}

std::string Qualifier(const Place& place) {
  if (place.IsToml()) return "toml";
  if (!place.IsColumn()) return place.family;
  return Joined({place.family, ":", place.qualifier});
}

std::string WriteRecord(const OwnerRecord& record) {
  std::string text;
  text.reserve(64);
  const auto append = [&](const std::optional<uint32_t>& number) {
    if (number) AppendNumber(*number, text);
    text += number ? " " : "- ";
  };
  append(record.uid);
  append(record.gid);
  append(record.mode);
  if (record.ctime) AppendTime(*record.ctime, text);
  if (!record.ctime) text += '-';
  const bool has_sixth = record.had_mode || record.another_from != 0;
  if (record.mark != 0 || has_sixth) text += ' ' + std::to_string(record.mark);
  if (has_sixth) text += ' ' + (record.had_mode ? std::to_string(*record.had_mode) : "-");
  if (record.another_from != 0) text += ' ' + std::to_string(record.another_from);
  return text;
}

Status ReadRecord(const Cell& cell, OwnerRecord& record) {
  std::string_view rest = cell.value;
  bool is_right = true;
  const auto read = [&](auto& number) {
    const std::string_view word = NextWord(rest);
    const auto value = ReadInteger(word);
    if (value) number = static_cast<uint32_t>(*value);
    is_right = is_right && (value || word == "-");
  };
  read(record.uid);
  read(record.gid);
  read(record.mode);
  record.ctime = ReadTime(NextWord(rest));
  const std::string_view mark = NextWord(rest);
  if (!mark.empty()) record.mark = static_cast<uint64_t>(ReadInteger(mark).value_or(0));
  if (!rest.empty()) read(record.had_mode);
  if (!rest.empty()) record.another_from = ReadInteger(NextWord(rest)).value_or(0);
  record.since = cell.timestamp;
  return is_right ? Status() : Status(StatusCode::kCorruption, "a record is '" + cell.value + "'");
}

std::string WriteTime(const timespec& time) {
  std::string text;
  AppendTime(time, text);
  return text;
}

std::optional<timespec> ReadTime(std::string_view text) {
  size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  auto seconds = ReadInteger(text.substr(0, dot));
  auto nanoseconds = ReadInteger(text.substr(dot + 1));
  if (!seconds || !nanoseconds) return std::nullopt;
  return timespec{static_cast<time_t>(*seconds), static_cast<long>(*nanoseconds)};
}

TimeRecord ReadTimes(std::string_view text, Timestamp time) {
  while (!text.empty()) {
    TimeRecord record;
    record.mtime = ReadTime(NextWord(text));
    // Older ones stand alone, and hold from the version on.
    record.since = ReadInteger(NextWord(text)).value_or(record.mtime ? 1 : 0);
    if (record.since <= time) return record;
  }
  return {};
}

std::string TimesAfter(std::string_view before, const TimeRecord& newest,
                       const std::optional<timespec>& mtime, Timestamp now) {
  const Timestamp since = std::max({now, newest.since, Timestamp{1}});
  std::string text;
  if (mtime) AppendTime(*mtime, text);
  text += mtime ? " " : "- ";
  AppendNumber(since, text);
  // Of those of one moment the last counts.
  size_t records = 1;
  while (!before.empty() && records < kTimeRecords) {
    const std::string_view time = NextWord(before);
    const std::string_view word = NextWord(before);
    if (ReadInteger(word).value_or(1) == since) continue;
    text += ' ';
    text += time;
    text += ' ';
    text += word.empty() ? "1" : word;
    ++records;
  }
  return text;
}

bool SameTime(const std::optional<timespec>& a, const std::optional<timespec>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec);
}

bool SameOwner(const OwnerRecord& a, const OwnerRecord& b) {
  return a.uid == b.uid && a.gid == b.gid && a.mode == b.mode && a.had_mode == b.had_mode;
}

bool SameRecord(const OwnerRecord& a, const OwnerRecord& b) {
  return SameOwner(a, b) && SameTime(a.ctime, b.ctime);
}

}  // namespace cellfs::fs
