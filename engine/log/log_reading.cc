// SPDX-License-Identifier: MIT
#include "engine/log/log_reading.h"

#include <vector>

namespace cellfs {

Status DamagedLog(const std::string& path, size_t offset, const std::string& what) {
  return {StatusCode::kCorruption,
          "'" + path + "' is damaged at offset " + std::to_string(offset) + ": " + what};
}

StatusOr<size_t> VisitRecords(const std::string& path, std::string_view bytes, LogPosition base,
                              const LogVisitor& visitor, const NoteVisitor& note_visitor) {
  size_t offset = kSegmentHeaderSize;
  std::vector<CellView> cells;
  while (const auto found = FindRecord(bytes.substr(offset), base + offset)) {
    const std::string_view bytes_of_record = bytes.substr(offset, found->size);
    const auto note = DecodeNote(bytes_of_record);
    if (note && note->kind == LogNote::Kind::kEndOfSegment) break;
    const auto record = note ? LogRecord() : DecodeRecord(bytes_of_record, &cells);
    if (!record) return DamagedLog(path, offset, "a record of unknown form");
    offset += found->size;
    if (note) {
      note_visitor(*note, base + offset);
    } else {
      CELLFS_RETURN_IF_ERROR(visitor(*record, base + offset));
    }
  }
  return offset;
}

}  // namespace cellfs
