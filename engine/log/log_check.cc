// SPDX-License-Identifier: MIT
#include "engine/log/log_check.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/disk/remedies.h"
#include "engine/log/cut_off_log.h"
#include "engine/log/log_tail.h"
#include "engine/log/lost_header.h"
#include "engine/log/lost_note.h"

namespace cellfs {
namespace {

class LogCheck {
 public:
  LogCheck(FileLayer& files, std::string directory, uint64_t store_id,
           const std::function<bool(uint64_t bytes)>& tell)
      : files_(files), directory_(std::move(directory)), store_id_(store_id), tell_(tell) {}

  // A store that is open writes to its log meanwhile, begins segments and cuts others. What seems
  // damaged because of that is so for one look only: cut segments are not listed again, and what
  // was being written is whole. So damage is what two looks, one behind the other, both find.
  StatusOr<CheckedLog> Run(bool must_exist, const KnownEnd& known_end) {
    CELLFS_RETURN_IF_ERROR(Look(must_exist));
    if (!findings_.empty()) CELLFS_RETURN_IF_ERROR(LookAgain(must_exist));
    CheckEnd(known_end);
    CELLFS_RETURN_IF_ERROR(AddCutOff());
    return std::move(log_);
  }

 private:
  // What a look at the log has found. `place` is the same wherever the same is found again.
  struct Finding {
    std::string place;
    Damage damage;
  };

  Status LookAgain(bool must_exist) {
    const std::vector<Finding> before = std::exchange(findings_, {});
    CELLFS_RETURN_IF_ERROR(Look(must_exist));
    for (Finding& finding : findings_) {
      const bool again = std::any_of(before.begin(), before.end(), [&](const Finding& other) {
        return other.place == finding.place;
      });
      if (again) log_.damage.push_back(std::move(finding.damage));
    }
    return {};
  }

  void CheckEnd(const KnownEnd& known) {
    if (log_.end != 0 && log_.end < known.position)
      log_.damage.push_back({.file = "wal",
                             .what = DescribeShortLog(log_.end, known),
                             .remedy = kRemedyOfLog});
  }

  // What cannot be looked at is there, and damaged.
  bool Exists(const std::string& file) {
    const StatusOr<bool> exists = files_.Exists(directory_ + "/" + file);
    return !exists.ok() || *exists;
  }

  void Add(const std::string& file, const std::string& place, std::string what) {
    AddDamage(file, place, {.file = file, .what = std::move(what), .remedy = kRemedyOfLog});
  }
  void AddDamage(const std::string& file, const std::string& place, Damage damage) {
    if (findings_.size() < kMostDamage)
      findings_.push_back({file + " " + place, std::move(damage)});
  }

  Status Look(bool must_exist) {
    log_ = {};
    before_ = {};
    tail_ = std::nullopt;
    CELLFS_ASSIGN_OR_RETURN(const auto names, files_.List(directory_ + "/wal"));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names)
      if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
    if (numbers.empty() && must_exist) Add("wal", "", "the log has no segment");
    LogPosition end = 0;  // of the segment before; 0: not known
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0 && numbers[i] != numbers[i - 1] + 1) {
        AddMissing(numbers[i - 1] + 1);
        before_.Forget();
        tail_ = std::nullopt;
        end = 0;
      }
      if (i == 0) log_.first_segment = numbers[i];
      CheckSegment(numbers[i], numbers[i] == numbers.back(), &end);
      if (is_cancelled_) return {StatusCode::kCancelled, "the check of the log has been stopped"};
    }
    if (findings_.empty()) log_.end = end;
    return {};
  }

  void AddMissing(uint64_t number) {
    Add("wal/" + SegmentName(number), "missing", "it is missing");
  }

  void CheckSegment(uint64_t number, bool newest, LogPosition* end) {
    const std::string file = "wal/" + SegmentName(number);
    const auto bytes = files_.Read(directory_ + "/" + file);
    if (!bytes.ok()) {
      // A store that is open cuts its log.
      if (Exists(file)) Add(file, "unreadable", bytes.status().message());
      *end = 0;
      return;
    }
    if (tell_ && !tell_(bytes->size())) is_cancelled_ = true;
    const bool begins_log = number == log_.first_segment;
    const auto end_before = *end != 0 ? std::optional(*end) : std::nullopt;
    const SegmentHeader expected{.number = number, .base = *end, .store_id = store_id_};
    const auto before = end_before ? tail_ : std::nullopt;
    if (newest && (!begins_log || number == 1) && IsUnbegun(*bytes, expected, before)) {
      if (before == LogTail::kEnd) {
        Add(file, "header", "the header is missing");
      } else if (const size_t records = CountInUnbegun(*bytes, expected); records != 0) {
        AddDamage(file, "unbegun", {.file = file, .what = DescribeUnbegun(records)});
      }
      return;
    }
    auto header = DecodeSegmentHeader(*bytes);
    if (!header) {
      header = TellLostHeader(*bytes, {number, store_id_, end_before});
      Add(file, "header", DescribeLostHeader(*bytes, header));
    } else if (header->number != number || header->format_version != kLogFormatVersion ||
               header->store_id != store_id_) {
      Add(file, "header",
          "the header is another segment's, store's or format's");
      header.reset();
    }
    if (!header) {
      *end = 0;
      return;
    }
    if (*end != 0 && header->base != *end)
      Add("wal/" + SegmentName(number - 1), "end",
          "it ends at position " + std::to_string(*end) +
              " of the log, and the next segment begins at " + std::to_string(header->base));
    *end = header->base + CheckRecords(number, *bytes, header->base, newest);
  }

  void NoteRecord(const LogRecord& record) {
    ++log_.records;
    SequenceId& highest = log_.highest[record.table_id];
    highest = std::max(highest, record.sequence_id);
    for (const CellView& cell : record.cells)
      log_.families[record.table_id].insert_or_assign(std::string(cell.family), record.sequence_id);
  }

  // Answers where the records end.
  size_t CheckRecords(uint64_t number, std::string_view bytes, LogPosition base, bool newest) {
    const std::string file = "wal/" + SegmentName(number);
    std::vector<CellView> cells;
    size_t offset = kSegmentHeaderSize;
    log_.marks.clear();  // each segment says itself what is so
    before_.BeginSegment();
    bool is_damaged = false;
    while (offset < bytes.size()) {
      const auto found = FindRecord(bytes.substr(offset), base + offset);
      const std::string_view record = bytes.substr(offset, found ? found->size : 0);
      const auto note = found ? DecodeNote(record) : std::nullopt;
      if (note && note->kind == LogNote::Kind::kEndOfSegment) break;
      if (note && number == log_.first_segment && !note->older.empty()) log_.older = note->older;
      if (note) note->ApplyTo(&log_.marks);
      if (note) before_.See(*note);
      const auto decoded = found && !note ? DecodeRecord(record, &cells) : std::nullopt;
      if (note || decoded) {
        if (decoded) NoteRecord(*decoded);
        if (decoded) before_.See(*decoded);
        offset += found->size;
        continue;
      }
      const LogTail tail = found ? LogTail::kDamaged : TailOf(bytes, offset, base);
      if (tail == LogTail::kTorn) AddTorn(file, bytes, offset, base);
      if (tail != LogTail::kDamaged) break;
      is_damaged = true;
      const size_t next = std::min(FindNextRecord(bytes, offset + 1, base), bytes.size());
      const bool costs_no_record =
          next < bytes.size() && before_.WasNotes(bytes, offset, next, base);
      if (!costs_no_record) before_.Forget();
      Add(file, std::to_string(offset),
          "what lies from offset " + std::to_string(offset) + " to " + std::to_string(next) + " " +
              std::string(newest ? kDamagedTail : "is not what was written") +
              (costs_no_record ? "; it was a note of the log, and no record is lost" : ""));
      offset = next;
    }
    tail_ = TailOf(bytes, offset, base);
    if (is_damaged && tail_ != LogTail::kEnd) tail_ = LogTail::kDamaged;
    if (newest && tail_ == LogTail::kEnd && !Exists("wal/" + SegmentName(number + 1)))
      AddMissing(number + 1);
    return offset;
  }

  // A torn end is no damage: a crash leaves it. But nobody can say that of one that lies before
  // whole records.
  void AddTorn(const std::string& file, std::string_view bytes, size_t offset, LogPosition base) {
    if (const size_t records = CountRecords(bytes, offset, base); records != 0)
      AddDamage(file, std::to_string(offset),
                {.file = file, .what = DescribeTornBeforeRecords(offset, records)});
  }

  Status AddCutOff() {
    const std::string log = directory_ + "/wal";
    CELLFS_ASSIGN_OR_RETURN(const auto names, FindCutOff(files_, log));
    for (const std::string& name : names)
      if (log_.damage.size() < kMostDamage)
        log_.damage.push_back({.file = "wal/" + name, .what = DescribeCutOff(log, name)});
    return {};
  }

  FileLayer& files_;
  const std::string directory_;
  const uint64_t store_id_;
  const std::function<bool(uint64_t bytes)>& tell_;
  bool is_cancelled_ = false;
  std::optional<LogTail> tail_;  // of the segment that was read last
  BeforeDamage before_;
  std::vector<Finding> findings_;
  CheckedLog log_;
};

}  // namespace

StatusOr<CheckedLog> CheckLog(FileLayer& files, const std::string& directory, uint64_t store_id,
                              bool must_exist, const KnownEnd& known_end,
                              const std::function<bool(uint64_t bytes)>& tell) {
  return LogCheck(files, directory, store_id, tell).Run(must_exist, known_end);
}

}  // namespace cellfs
