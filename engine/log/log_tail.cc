// SPDX-License-Identifier: MIT
#include "engine/log/log_tail.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace cellfs {

size_t FindNextRecord(std::string_view segment, size_t from, LogPosition base) {
  for (size_t at = segment.find(kRecordMagic, from); at != std::string_view::npos;
       at = segment.find(kRecordMagic, at + 1))
    if (FindRecord(segment.substr(at), base + at)) return at;
  return std::string_view::npos;
}

bool SaysSynced(std::string_view segment, size_t from, LogPosition base, LogPosition position) {
  for (size_t at = segment.find(kRecordMagic, from); at != std::string_view::npos;
       at = segment.find(kRecordMagic, at + 1)) {
    const auto header = FindRecordHeader(segment.substr(at), base + at);
    if (header && header->synced > position) return true;
  }
  return false;
}

size_t CountRecords(std::string_view segment, size_t from, LogPosition base) {
  size_t records = 0;
  for (size_t at = FindNextRecord(segment, from, base); at != std::string_view::npos;) {
    const std::string_view rest = segment.substr(at);
    const size_t size = FindRecord(rest, base + at)->size;
    if (!DecodeNote(rest.substr(0, size))) ++records;
    at = FindNextRecord(segment, at + size, base);
  }
  return records;
}

namespace {

// A disk writes sectors, but a page that goes to the disk while it is being filled goes by cache
// lines.
constexpr size_t kPieceSize = 64;
constexpr size_t kPageSize = 4096;
constexpr size_t kWholeHeaderCheck = kCheckedHeaderSize + sizeof(uint64_t);

bool IsZero(std::string_view bytes) { return bytes.find_first_not_of('\0') == bytes.npos; }

size_t EndOfPiece(size_t offset, size_t piece_size) {
  return offset / piece_size * piece_size + piece_size;
}

// Whether all is zero from `at` to the end of its piece. A piece goes to the disk at one moment, so
// that what was written later into it, behind the record, is not there where the record is cut.
bool IsZeroToEndOfPiece(std::string_view bytes, size_t at) {
  return IsZero(bytes.substr(at, EndOfPiece(at, kPieceSize) - at));
}

// A machine that loses power may have written some pieces of a file and others, before or behind
// them, not: those are zero. False too where [begin, end) is empty.
bool HasUnwrittenPiece(std::string_view bytes, size_t begin, size_t end) {
  for (; begin < end; begin = EndOfPiece(begin, kPieceSize))
    if (IsZeroToEndOfPiece(bytes, begin)) return true;
  return false;
}

// Whether [begin, end), or the part of it in some page, is zero from some byte on: the write got no
// farther, or the page went to the disk while it was being filled.
bool EndsInZeros(std::string_view bytes, size_t begin, size_t end) {
  for (size_t next = 0; begin < end; begin = next) {
    next = std::min(EndOfPiece(begin, kPageSize), end);
    if (IsZeroToEndOfPiece(bytes, next - 1)) return true;
  }
  return false;
}

// Whether the bytes are the beginning of a record's header, as it is written at `begin` of the log,
// and zero behind that.
bool BeginsHeader(std::string_view bytes, LogPosition begin) {
  bytes = bytes.substr(0, kWholeHeaderCheck);
  const size_t written = bytes.find_last_not_of('\0') + 1;
  const std::string_view magic = bytes.substr(0, std::min(written, kRecordMagic.size()));
  if (!kRecordMagic.starts_with(magic)) return false;
  if (written <= kCheckedHeaderSize) return true;
  const uint64_t checksum = LogChecksum(bytes.substr(0, kCheckedHeaderSize), begin);
  return std::memcmp(bytes.data() + kCheckedHeaderSize, &checksum, written - kCheckedHeaderSize) ==
         0;
}

// Whether the record at `damage`, which is damaged, may be what the death of the process or of the
// machine has left of a write that was not synced.
bool MayBeUnfinished(std::string_view segment, size_t damage, LogPosition base) {
  const std::string_view rest = segment.substr(damage);
  if (const auto header = FindRecordHeader(rest, base + damage)) {
    const size_t end = damage + header->size;
    return end > segment.size() || HasUnwrittenPiece(segment, damage, end) ||
           EndsInZeros(segment, damage + kRecordHeaderSize, end);
  }
  if (rest.size() < kWholeHeaderCheck) return true;
  return HasUnwrittenPiece(segment, damage, damage + kWholeHeaderCheck) ||
         (IsZeroToEndOfPiece(segment, damage + kWholeHeaderCheck - 1) &&
          BeginsHeader(rest, base + damage));
}

bool IsTorn(std::string_view segment, size_t damage, LogPosition base) {
  return MayBeUnfinished(segment, damage, base) &&
         !SaysSynced(segment, damage + 1, base, base + damage);
}

}  // namespace

LogTail TailOf(std::string_view segment, size_t end, LogPosition base) {
  const std::string_view tail = segment.substr(end);
  if (tail.empty()) return LogTail::kNothing;
  if (IsZero(tail)) return LogTail::kZeros;
  if (const auto found = FindRecord(tail, base + end)) {
    const auto note = DecodeNote(tail.substr(0, found->size));
    const bool ends = note && note->kind == LogNote::Kind::kEndOfSegment;
    return ends ? LogTail::kEnd : LogTail::kDamaged;
  }
  return IsTorn(segment, end, base) ? LogTail::kTorn : LogTail::kDamaged;
}

std::string DescribeShortLog(LogPosition end, const KnownEnd& known) {
  return "the log ends at position " + std::to_string(end) + ", and had " +
         std::to_string(known.position) + " bytes on disk when '" + known.by +
         "' was written: it is an older copy, or its end is lost, and with it what was written last";
}

}  // namespace cellfs
