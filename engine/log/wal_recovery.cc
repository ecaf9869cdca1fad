// SPDX-License-Identifier: MIT
//
// What the log has when it is opened: its segments are read, and its end is settled.
#include <utility>

#include "engine/log/cut_off_log.h"
#include "engine/log/lost_header.h"
#include "engine/log/wal.h"

namespace cellfs {
namespace {

// Where a log goes on that was given up: no manifest that is put in place later knows it longer.
constexpr LogPosition kBehindAnyKnownEnd = LogPosition{1} << 40;

Status Missing(const std::string& path) {
  return {StatusCode::kCorruption, "'" + path + "' is missing: a segment of the log"};
}

}  // namespace

Status Wal::Recover(const LogVisitor& visitor) {
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(directory_));
  CELLFS_ASSIGN_OR_RETURN(const auto numbers, FindSegments());
  if (numbers.empty()) return AddSegment(1);
  first_segment_ = numbers.front();
  Ending ending;
  std::optional<Unbegun> unbegun;
  for (const uint64_t number : numbers) {
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
    const SegmentHeader header{.number = number, .base = end(), .store_id = options_.store_id};
    const auto before = segments_.empty() ? std::nullopt : std::optional(ending.tail);
    if (number == numbers.back() && IsUnbegun(bytes, header, before)) {
      unbegun = {.records = CountInUnbegun(bytes, header)};
      break;
    }
    if (ending.tail == LogTail::kDamaged)
      return DamagedLog(PathOf(number - 1), ending.offset, "a record does not match its checksum");
    CELLFS_ASSIGN_OR_RETURN(ending, RecoverSegment(number, bytes, visitor));
  }
  CELLFS_RETURN_IF_ERROR(SettleEnd(ending, unbegun));
  recovered_marks_ = marks_;
  if (segments_.empty() && options_.must_exist)
    end_ = options_.known_end.position + kBehindAnyKnownEnd;
  if (segments_.empty()) return AddSegment(1);
  CELLFS_ASSIGN_OR_RETURN(file_, files_.OpenForAppend(PathOf(segments_.back().number)));
  synced_ = segments_.back().base;
  overdue_at_ = segments_.back().begin + options_.segment_bytes;
  return segments_.size() == 1 ? Status() : SyncNewest();
}

// The process may have died between the beginning of the newest segment and the sync of the one
// before, on which all that is written relies.
Status Wal::SyncNewest() {
  const uint64_t before = segments_[segments_.size() - 2].number;
  CELLFS_ASSIGN_OR_RETURN(const auto older, files_.OpenForAppend(PathOf(before)));
  CELLFS_RETURN_IF_ERROR(older->Sync());
  CELLFS_RETURN_IF_ERROR(file_->Sync());
  synced_ = end();
  return {};
}

// The numbers without gap.
StatusOr<std::vector<uint64_t>> Wal::FindSegments() {
  CELLFS_ASSIGN_OR_RETURN(const auto names, files_.List(directory_));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names)
    if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1) return Missing(PathOf(numbers[i - 1] + 1));
  if (numbers.empty() && options_.must_exist)
    return Status(StatusCode::kCorruption,
                  "'" + directory_ + "' has no segment: the log is missing");
  return numbers;
}

std::optional<SegmentHeader> Wal::TellHeader(uint64_t number, std::string_view bytes) const {
  HeaderSurroundings around{.number = number, .store_id = options_.store_id, .end_before = {}};
  if (!segments_.empty()) around.end_before = end();
  return TellLostHeader(bytes, around);
}

Status Wal::CheckHeader(uint64_t number, std::string_view bytes, SegmentHeader* header) {
  const std::string path = PathOf(number);
  const auto decoded = DecodeSegmentHeader(bytes);
  if (!decoded) return DamagedLog(path, 0, DescribeLostHeader(bytes, TellHeader(number, bytes)));
  *header = *decoded;
  if (header->format_version != kLogFormatVersion)
    return {StatusCode::kCorruption,
            "'" + path + "' has log format " + std::to_string(header->format_version) +
                "; this program knows format " + std::to_string(kLogFormatVersion)};
  if (header->number != number)
    return DamagedLog(path, 12, "it is segment " + std::to_string(header->number));
  if (header->store_id != options_.store_id)
    return DamagedLog(path, 28, "it is a segment of another store's log");
  if (!segments_.empty() && header->base != end())
    return DamagedLog(PathOf(number - 1), end() - segments_.back().base,
                      "the next segment goes on at offset " +
                          std::to_string(header->base - segments_.back().base));
  return {};
}

StatusOr<Wal::Ending> Wal::RecoverSegment(uint64_t number, std::string_view bytes,
                                          const LogVisitor& visitor) {
  SegmentHeader header;
  CELLFS_RETURN_IF_ERROR(CheckHeader(number, bytes, &header));
  const bool is_first = segments_.empty();
  const LogPosition begin = header.base + kSegmentHeaderSize;
  segments_.push_back({number, header.base, begin, {}});
  Segment& segment = segments_.back();
  marks_.clear();  // it says itself what is so
  bool has_records = false;
  const NoteVisitor take_note = [&](const LogNote& note, LogPosition position) {
    if (!has_records) segment.begin = position;
    note.ApplyTo(&marks_);
    if (is_first && !note.older.empty()) older_ = segment.unflushed = note.older;
  };
  CELLFS_ASSIGN_OR_RETURN(
      const size_t intact,
      VisitRecords(
          PathOf(number), bytes, header.base,
          [&](const LogRecord& record, LogPosition position) {
            has_records = true;
            NoteHighest(record, &segment.unflushed);
            return visitor(record, position);
          },
          take_note));
  end_ = header.base + intact;
  Ending ending{TailOf(bytes, intact, header.base), intact};
  if (ending.tail == LogTail::kTorn)
    ending.records_behind = CountRecords(bytes, intact, header.base);
  return ending;
}

// What the newest segment ends with. Behind the records of an older one nothing is looked at: the
// next one begins where they end.
Status Wal::SettleEnd(const Ending& ending, const std::optional<Unbegun>& unbegun) {
  const uint64_t last = segments_.empty() ? first_segment_ - 1 : segments_.back().number;
  const std::string next = PathOf(last + 1);
  if (unbegun && segments_.empty() && last != 0)
    return DamagedLog(next, 0, "the header is missing, and older segments are gone");
  if (ending.tail == LogTail::kEnd)
    return unbegun ? DamagedLog(next, 0, "the header is missing") : Missing(next);
  if (ending.tail == LogTail::kDamaged)
    return DamagedLog(PathOf(last), ending.offset, "a record " + std::string(kDamagedTail));
  if (!segments_.empty() && end() < options_.known_end.position)
    return {StatusCode::kCorruption,
            "'" + directory_ + "': " + DescribeShortLog(end(), options_.known_end)};
  const size_t in_next = unbegun ? unbegun->records : 0;
  if (ending.tail == LogTail::kTorn && ending.records_behind + in_next != 0)
    CELLFS_RETURN_IF_ERROR(
        KeepTail(last, ending.offset,
                 DescribeTornBeforeRecords(ending.offset, ending.records_behind + in_next)));
  if (in_next != 0) CELLFS_RETURN_IF_ERROR(KeepTail(last + 1, 0, DescribeUnbegun(in_next)));
  if (unbegun && last != 0) {
    // Durably, or it could come back behind what is written from now on.
    CELLFS_RETURN_IF_ERROR(files_.Remove(next));
    CELLFS_RETURN_IF_ERROR(files_.SyncDirectory(directory_));
  }
  if (ending.tail == LogTail::kNothing) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(PathOf(last)));
  CELLFS_RETURN_IF_ERROR(file->Truncate(ending.offset));
  return file->Sync();
}

// `what` is for people, where nothing is cut off after all.
Status Wal::KeepTail(uint64_t number, size_t offset, const std::string& what) {
  CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
  const size_t written = bytes.find_last_not_of('\0') + 1;
  const size_t size = written - offset;
  options_.make_room(size);
  CELLFS_ASSIGN_OR_RETURN(const std::string name,
                          KeepCutOff(files_, directory_, CutOffBy::kOpening, number, offset,
                                     std::string_view(bytes).substr(offset, size)));
  CELLFS_ASSIGN_OR_RETURN(const bool is_kept, files_.Exists(directory_ + "/" + name));
  if (!is_kept) passed_over_.push_back("'" + PathOf(number) + "': " + what);
  return {};
}

// Of what was there when the log was opened: nothing is cut off later, and people remove it.
std::vector<std::string> Wal::CutOff() const {
  std::vector<std::string> cut_off;
  for (const std::string& name : kept_cut_off_) {
    const StatusOr<bool> is_there = files_.Exists(directory_ + "/" + name);
    if (!is_there.ok() || *is_there) cut_off.push_back(DescribeCutOff(directory_, name));
  }
  cut_off.insert(cut_off.end(), passed_over_.begin(), passed_over_.end());
  return cut_off;
}

}  // namespace cellfs
