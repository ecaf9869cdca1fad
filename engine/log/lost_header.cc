// SPDX-License-Identifier: MIT
#include "engine/log/lost_header.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace cellfs {
namespace {

constexpr size_t kOffsetOfBase = 20;   // in a segment's header
constexpr size_t kOffsetOfSynced = 8;  // in a record's
constexpr size_t kMostBases = 16;      // that are looked at

uint64_t NumberAt(std::string_view bytes, size_t at) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, std::min(sizeof(number), bytes.size() - at));
  return number;
}

// A record says how far the log was on disk before it was written. That is the segment's base for
// what is written once the segment before is on disk, first of all a note, and its own place for
// the note that ends the segment and for what is written to a log that is synced. Of several bases,
// as a log that is stored as a value has its own, most records tell the segment's.
std::optional<LogPosition> BaseByRecords(std::string_view segment) {
  std::map<LogPosition, size_t> records;  // by base
  for (size_t at = segment.find(kRecordMagic); at != std::string_view::npos;
       at = segment.find(kRecordMagic, at + 1)) {
    const std::string_view rest = segment.substr(at);
    if (rest.size() < kRecordHeaderSize || records.size() == kMostBases) break;
    const LogPosition synced = NumberAt(rest, kOffsetOfSynced);
    for (const LogPosition base : {synced, synced - at}) {
      if (records.contains(base) || !FindRecordHeader(rest, base + at)) continue;
      if (FindRecord(segment.substr(std::min(kSegmentHeaderSize, segment.size())),
                     base + kSegmentHeaderSize))
        return base;
      records[base] = CountRecords(segment, 0, base);
    }
  }
  const auto has_fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(records.begin(), records.end(), has_fewer);
  return most == records.end() ? std::nullopt : std::optional(most->first);
}

// From some byte on the header is zero, and what lies before that is right.
bool IsHeaderCutShort(std::string_view segment, const SegmentHeader& expected) {
  const std::string_view bytes = segment.substr(0, kSegmentHeaderSize);
  const size_t written = bytes.find_last_not_of('\0') + 1;
  return EncodeSegmentHeader(expected).starts_with(bytes.substr(0, written));
}

bool IsBehindTear(std::string_view segment, const SegmentHeader& header,
                  const SegmentHeader& expected, LogTail before) {
  if (header.number != expected.number || header.store_id != expected.store_id ||
      header.format_version != expected.format_version || header.base <= expected.base)
    return false;
  if (before == LogTail::kEnd || before == LogTail::kDamaged) return false;
  return !SaysSynced(segment, kSegmentHeaderSize, header.base, expected.base);
}

}  // namespace

bool IsUnbegun(std::string_view segment, const SegmentHeader& expected,
               std::optional<LogTail> before) {
  if (segment.size() < kSegmentHeaderSize) return true;
  if (const auto header = DecodeSegmentHeader(segment))
    return before && IsBehindTear(segment, *header, expected, *before);
  if (!IsHeaderCutShort(segment, expected)) return false;
  // The first segment of a log is synced before anything but notes is written behind its header.
  if (!before) return CountRecords(segment, 0, expected.base) == 0;
  // Pages of what was written behind it may have been quicker than its own.
  if (SaysSynced(segment, kSegmentHeaderSize, expected.base, expected.base)) return false;
  const auto base = BaseByRecords(segment);  // of a segment whose predecessor is torn
  return !base || *base <= expected.base;
}

size_t CountInUnbegun(std::string_view segment, const SegmentHeader& expected) {
  if (segment.size() < kSegmentHeaderSize) return 0;
  const auto header = DecodeSegmentHeader(segment);
  const LogPosition base = header ? header->base : expected.base;
  if (header || FindNextRecord(segment, 0, base) != segment.npos)
    return CountRecords(segment, 0, base);
  size_t records = 0;  // nothing tells where they lay in the log
  for (size_t at = segment.find(kRecordMagic); at != segment.npos;
       at = segment.find(kRecordMagic, at + 1))
    ++records;
  return records;
}

std::optional<SegmentHeader> TellLostHeader(std::string_view segment,
                                            const HeaderSurroundings& around) {
  SegmentHeader header{.number = around.number, .base = 0, .store_id = around.store_id};
  const auto fits = [&](LogPosition base) {
    header.base = base;
    return FindNextRecord(segment, 0, base) != segment.npos;
  };
  const std::optional<LogPosition> known =
      around.number == 1 ? std::optional<LogPosition>(0) : around.end_before;
  if (known && fits(*known)) return header;
  if (segment.size() >= kSegmentHeaderSize && fits(NumberAt(segment, kOffsetOfBase))) return header;
  if (const auto base = BaseByRecords(segment); base && fits(*base)) return header;
  if (!known) return std::nullopt;
  header.base = *known;  // there is nothing behind it that could say otherwise
  return header;
}

std::string DescribeLostHeader(std::string_view segment, const std::optional<SegmentHeader>& told) {
  const std::string what =
      segment.size() < kSegmentHeaderSize ? "the header is missing" : "the header is damaged";
  if (!told) return what + ", and nothing tells where the records behind it lie in the log";
  return what + ", and can be made anew; " +
         std::to_string(CountRecords(segment, 0, told->base)) + " whole records stand behind it";
}

}  // namespace cellfs
