// SPDX-License-Identifier: MIT
#include "engine/log/lost_note.h"

#include <optional>
#include <vector>

namespace cellfs {
namespace {

constexpr size_t kBytesOfTable = 8;  // with which a payload begins; zeros: it is a note

// Of the first record of a table, from where the segment is whole; 0: none before other damage.
SequenceId FirstSequence(std::string_view segment, size_t at, LogPosition base) {
  std::vector<CellView> cells;
  for (;;) {
    const auto found = FindRecord(segment.substr(at), base + at);
    if (!found) return 0;
    const std::string_view bytes = segment.substr(at, found->size);
    at += found->size;
    if (DecodeNote(bytes)) continue;
    const auto record = DecodeRecord(bytes, &cells);
    return record ? record->sequence_id : 0;
  }
}

// By a header that is whole. The size of a note without contents is no record's.
bool WasNote(std::string_view segment, size_t at, LogPosition base, bool is_in_head, size_t* size) {
  const auto header = FindRecordHeader(segment.substr(at), base + at);
  if (!header || header->size < kSmallestNote) return false;
  *size = header->size;
  if (header->size == kSmallestNote) return true;
  if (!is_in_head || header->synced > base) return false;
  const std::string_view table = segment.substr(at + kRecordHeaderSize, kBytesOfTable);
  return table.find_first_not_of('\0') == table.npos;
}

}  // namespace

bool BeforeDamage::WasNotes(std::string_view segment, size_t begin, size_t end,
                            LogPosition base) const {
  if (end - begin < kSmallestNote) return false;
  if (const SequenceId next = FirstSequence(segment, end, base); last_ != 0 && next != 0)
    return next == last_ + 1;
  size_t size = 0;
  while (begin < end && WasNote(segment, begin, base, is_in_head_, &size)) begin += size;
  return begin == end;
}

std::string NothingInPlaceOf(size_t size, LogPosition begin) {
  std::string bytes;
  LogNote nothing;
  nothing.kind = LogNote::Kind::kNothing;
  nothing.padding = size - kSmallestNote;
  EncodeNote(nothing, {begin, 0}, &bytes);
  return bytes;
}

}  // namespace cellfs
