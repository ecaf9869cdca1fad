// SPDX-License-Identifier: MIT
#include "engine/local/log_summary.h"

#include <algorithm>
#include <vector>

namespace cellfs {
namespace {

void TakeSegment(std::string_view bytes, LogPosition base, LogSummary* summary) {
  std::vector<CellView> cells;
  summary->marks.clear();  // each segment says itself what is so
  size_t offset = kSegmentHeaderSize;
  while (const auto found = FindRecord(bytes.substr(offset), base + offset)) {
    const std::string_view record = bytes.substr(offset, found->size);
    if (const auto note = DecodeNote(record)) {
      note->ApplyTo(&summary->marks);
      for (const auto& [table, highest] : note->older)
        if (summary->highest.empty()) summary->older[table] = highest;
    } else if (const auto decoded = DecodeRecord(record, &cells)) {
      SequenceId& highest = summary->highest[decoded->table_id];
      highest = std::max(highest, decoded->sequence_id);
    }
    offset += found->size;
  }
}

}  // namespace

StatusOr<LogSummary> SummarizeLog(FileLayer& files, const std::string& directory,
                                  uint64_t store_id) {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory));
  LogSummary summary;
  LogPosition base = 0;
  uint64_t last = 0;
  for (const std::string& name : names) {
    const auto number = ParseSegmentName(name);
    if (!number) continue;
    if (last != 0 && *number != last + 1)
      return Status(StatusCode::kCorruption,
                    "'" + directory + "/" + SegmentName(last + 1) + "' is missing");
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files.Read(directory + "/" + name));
    const bool is_newest = name == names.back();
    if (is_newest && IsUnbegun(bytes, {.number = *number, .base = base, .store_id = store_id}))
      break;
    const auto header = DecodeSegmentHeader(bytes);
    if (!header || header->store_id != store_id || header->number != *number)
      return Status(StatusCode::kCorruption,
                    "'" + directory + "/" + name + "': the header is damaged");
    LogSummary segment;
    TakeSegment(bytes, header->base, &segment);
    if (last == 0) {
      summary.first_segment = *number;
      summary.older = segment.older;
    }
    summary.marks = std::move(segment.marks);
    for (const auto& [table, highest] : segment.highest) {
      SequenceId& present = summary.highest[table];
      present = std::max(present, highest);
    }
    last = *number;
  }
  return summary;
}

}  // namespace cellfs
