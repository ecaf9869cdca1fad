// SPDX-License-Identifier: MIT
#include "engine/log/log_summary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/log/log_tail.h"
#include "engine/log/lost_header.h"
#include "engine/log/lost_note.h"

namespace cellfs {
namespace {

class Summarizing {
 public:
  Summarizing(FileLayer& files, std::string directory, uint64_t store_id)
      : files_(files), directory_(std::move(directory)), store_id_(store_id) {}

  StatusOr<LogSummary> Run() {
    CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(directory_));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names)
      if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
    if (!numbers.empty()) summary_.first_segment = numbers.front();
    bool is_next_there = false;
    for (const uint64_t number : numbers) {
      if (last_ != 0 && number != last_ + 1) {
        before_.Forget();
        SettleEnd(/*next_begins_there=*/false);
        Miss(last_ + 1);
      }
      CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
      const auto before = last_ == 0 ? std::nullopt : std::optional(tail_);
      is_next_there = number == numbers.back() && IsUnbegun(bytes, ExpectedHeader(number), before);
      if (is_next_there) {
        SettleEnd(/*next_begins_there=*/false);
        CheckUnbegun(number);
      } else {
        TakeSegment(number, bytes, number == numbers.back());
      }
    }
    if (tail_ == LogTail::kEnd && !is_next_there) Miss(last_ + 1);
    if (!summary_.broken) summary_.end = end_;
    return std::move(summary_);
  }

 private:
  std::string PathOf(uint64_t number) const { return directory_ + "/" + SegmentName(number); }
  SegmentHeader ExpectedHeader(uint64_t number) const {
    return {.number = number, .base = end_, .store_id = store_id_};
  }

  // The log is good up to where the last segment ended.
  void Break(std::string what) {
    if (summary_.broken) return;
    summary_.broken = {std::move(what), last_, intact_};
    summary_.end = last_ == 0 ? 0 : base_ + intact_;
  }
  // Of the segment that was read last.
  void SettleEnd(bool next_begins_there) {
    const std::optional<LostEnd> lost = std::exchange(lost_end_, std::nullopt);
    if (!lost) return;
    if (!next_begins_there) {
      Break(lost->what);
    } else if (!summary_.broken) {
      summary_.lost_ends.push_back(*lost);
    }
  }
  void Miss(uint64_t number) { Break("'" + PathOf(number) + "' is missing"); }

  void CheckUnbegun(uint64_t number) {
    const bool begins_log = last_ == 0 && number != 1;
    if (begins_log || tail_ == LogTail::kEnd)
      Break("'" + PathOf(number) + "': the header is missing");
  }

  bool IsOfSegment(const SegmentHeader& header, uint64_t number) const {
    return header.number == number && header.store_id == store_id_ &&
           header.format_version == kLogFormatVersion;
  }
  // Of a damaged one. Behind a break nobody knows where a segment should begin.
  std::optional<SegmentHeader> TellHeader(uint64_t number, std::string_view bytes) const {
    HeaderSurroundings around{.number = number, .store_id = store_id_, .end_before = {}};
    if (last_ != 0 && !summary_.broken) around.end_before = end_;
    return TellLostHeader(bytes, around);
  }

  void TakeSegment(uint64_t number, const std::string& bytes, bool is_newest) {
    const auto whole = DecodeSegmentHeader(bytes);
    SettleEnd(whole && IsOfSegment(*whole, number) && whole->base == end_);
    const auto header = whole ? whole : TellHeader(number, bytes);
    if (whole && !IsOfSegment(*whole, number)) {
      Break("'" + PathOf(number) + "': the header is another segment's, store's or format's");
    } else if (!header) {
      Break("'" + PathOf(number) + "': " + DescribeLostHeader(bytes, header));
    } else if (last_ != 0 && header->base != end_) {
      Break("'" + PathOf(last_) + "' ends at offset " + std::to_string(intact_) +
            ", and the segment behind it goes on elsewhere");
    } else if (!whole && !summary_.broken) {
      summary_.lost_headers.push_back(
          {"'" + PathOf(number) + "': " + DescribeLostHeader(bytes, header), *header});
    }
    TakeRecords(number, bytes, header ? header->base : end_, is_newest);
  }

  void TakeRecords(uint64_t number, std::string_view bytes, LogPosition base, bool is_newest) {
    const bool is_first = last_ == 0;
    summary_.marks.clear();  // each segment says itself what is so
    last_ = number;
    base_ = base;
    intact_ = kSegmentHeaderSize;
    before_.BeginSegment();
    bool is_broken = false;
    for (size_t offset = kSegmentHeaderSize; offset < bytes.size();) {
      const auto found = FindRecord(bytes.substr(offset), base + offset);
      if (found && TakeRecord(bytes.substr(offset, found->size), is_first)) {
        offset += found->size;
        if (!is_broken) intact_ = offset;
        continue;
      }
      if (!is_broken) tail_ = found && !IsEndOfSegment(bytes.substr(offset, found->size))
                                  ? LogTail::kDamaged
                                  : TailOf(bytes, offset, base);
      const bool is_first_damage = !std::exchange(is_broken, true);
      if (tail_ != LogTail::kDamaged) break;
      const size_t next = std::min(FindNextRecord(bytes, offset + 1, base), bytes.size());
      const std::string what =
          "'" + PathOf(number) + "' is damaged at offset " + std::to_string(intact_) +
          (is_newest ? ": what is there no crash leaves" : ": it is not what was written");
      if (is_first_damage && !summary_.broken && next < bytes.size() &&
          before_.WasNotes(bytes, offset, next, base)) {
        summary_.lost_notes.push_back({what, number, offset, next - offset, base + offset});
        is_broken = false;
        intact_ = next;
      } else if (!is_newest && offset == intact_ && next == bytes.size()) {
        lost_end_ = LostEnd{what, number, intact_};
      } else {
        Break(what);
      }
      offset = next;
    }
    if (!is_broken) tail_ = LogTail::kNothing;
    end_ = base + intact_;
  }

  static bool IsEndOfSegment(std::string_view record) {
    const auto note = DecodeNote(record);
    return note && note->kind == LogNote::Kind::kEndOfSegment;
  }

  // False: it ends the segment, or is of no known form.
  bool TakeRecord(std::string_view record, bool is_first_segment) {
    if (const auto note = DecodeNote(record)) {
      if (note->kind == LogNote::Kind::kEndOfSegment) return false;
      before_.See(*note);
      note->ApplyTo(&summary_.marks);
      if (is_first_segment && !note->older.empty()) summary_.older = note->older;
      return true;
    }
    const auto decoded = DecodeRecord(record, &cells_);
    if (!decoded) return false;
    before_.See(*decoded);
    SequenceId& highest = summary_.highest[decoded->table_id];
    highest = std::max(highest, decoded->sequence_id);
    return true;
  }

  FileLayer& files_;
  const std::string directory_;
  const uint64_t store_id_;
  LogSummary summary_;
  std::vector<CellView> cells_;
  uint64_t last_ = 0;  // the segment that was read last, how far its records are good, and where
  size_t intact_ = 0;  // in the log that is
  LogPosition base_ = 0;
  LogPosition end_ = 0;
  LogTail tail_ = LogTail::kNothing;
  BeforeDamage before_;
  std::optional<LostEnd> lost_end_;  // of the segment that was read last
};

}  // namespace

StatusOr<LogSummary> SummarizeLog(FileLayer& files, const std::string& directory,
                                  uint64_t store_id) {
  return Summarizing(files, directory, store_id).Run();
}

}  // namespace cellfs
