// SPDX-License-Identifier: MIT
//
// The segments of the log: how the next one begins, and when the oldest goes.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/log/caught.h"
#include "engine/log/wal.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesOfHead = 4096;  // of a segment, in which its header mostly fits
constexpr uint64_t kLittle = uint64_t{1} << 20;  // that is synced while others wait
constexpr int kMostSyncs = 4;                    // to have no more than that

}  // namespace

Status Wal::AddSegment(uint64_t number) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> made, MakeSegment(number, /*reserved=*/0));
  return BeginSegment(number, std::move(made)).status();
}

// A segment without a header holds nothing. What takes long comes here, where nobody waits for it:
// to sync its name, and a block for the header.
StatusOr<std::unique_ptr<AppendFile>> Wal::MakeSegment(uint64_t number, uint64_t reserved) {
  const std::string path = PathOf(number);
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> file, files_.OpenForAppend(path));
  Status status = file->Truncate(0);
  // Without room for it, or where it cannot be synced, the header makes its own block.
  if (status.ok() && reserved != 0 && (!file->Reserve(reserved).ok() || !file->Sync().ok()))
    status = file->Truncate(0);
  if (status.ok()) status = files_.SyncDirectory(directory_);
  if (status.ok()) return file;
  (void)files_.Remove(path);  // if this fails too, it is overwritten or removed later
  return status;
}

// REQUIRES: the append mutex, once there are threads; what is in the older segments is synced.
// Answers the older segment's file, if any. After a failed sync the log is broken; anything else
// that fails leaves it as it was.
StatusOr<std::shared_ptr<AppendFile>> Wal::BeginSegment(uint64_t number,
                                                        std::unique_ptr<AppendFile> made) {
  std::shared_ptr<AppendFile> next = std::move(made);
  const std::string head = HeadOf(number);
  const std::string path = PathOf(number);
  segments_.push_back({number, end(), end() + head.size(), {}});
  Status status = Caught([&] { return next->Append(head); });
  if (!status.ok()) {
    (void)Caught([&] { return files_.Remove(path); });
  } else {
    status = SyncFile(*next, end() + head.size());
  }
  if (!status.ok()) {
    segments_.pop_back();
    return status;
  }
  end_ += head.size();
  reserved_ = 0;
  roll_at_ = FirstRollAt();
  overdue_at_ = segments_.back().begin + options_.segment_bytes;
  file_.swap(next);
  return next;
}

std::string Wal::HeadOf(uint64_t number) const {
  std::string head =
      EncodeSegmentHeader({.number = number, .base = end(), .store_id = options_.store_id});
  LogNote note;
  for (const Segment& segment : segments_)
    for (const auto& [table, highest] : segment.unflushed)
      note.older[table] = std::max(note.older[table], highest);
  if (!note.older.empty()) EncodeNote(note, {end() + head.size(), end()}, &head);
  LogNote tables;
  tables.kind = LogNote::Kind::kTables;
  tables.tables = marks_;
  if (!marks_.empty()) EncodeNote(tables, {end() + head.size(), end()}, &head);
  return head;
}

// How many bytes of records a segment has when the background begins the next. Short ones are left
// to writers.
uint64_t Wal::FirstRollAt() const {
  return IsRolledAhead() ? options_.segment_bytes - options_.roll_ahead_bytes
                         : std::numeric_limits<uint64_t>::max();
}

// How many it has when the writer ends it himself, with all who wait for him.
uint64_t Wal::LastRollAt() const { return options_.segment_bytes * (IsRolledAhead() ? 2 : 1); }

// REQUIRES: the append mutex.
void Wal::AskForRoll() {
  roll_at_ += options_.background_sync_bytes;  // where it cannot be had, not each write shall try
  const std::lock_guard lock(sync_mutex_);
  roll_due_ = true;
  background_.notify_all();
}

Status Wal::Roll() { return RollIf(1); }

// Nothing where the newest segment has fewer bytes of records. Writers go on in it until the next
// one is made, and wait for two short syncs only: of what they have just written, and of a header,
// mostly into blocks that are there.
Status Wal::RollIf(uint64_t at_least) {
  const std::lock_guard roll(roll_mutex_);
  uint64_t number = 0;
  uint64_t bytes_of_records = 0;
  {
    const std::lock_guard lock(append_mutex_);
    bytes_of_records = end() - segments_.back().begin;
    if (bytes_of_records < at_least) return {};
    number = segments_.back().number + 1;
  }
  const bool is_long = bytes_of_records >= options_.background_sync_bytes;
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> made,
                          MakeSegment(number, is_long ? kBytesOfHead : 0));
  if (is_long) ReserveAhead();
  CELLFS_RETURN_IF_ERROR(SyncAllButLittle());
  std::shared_ptr<AppendFile> older;
  LogPosition base = 0;
  LogPosition end_of_older = 0;
  bool had_zeros = false;
  {
    const SyncRight right(this);
    const std::lock_guard lock(append_mutex_);
    CELLFS_RETURN_IF_ERROR(SyncFile(*file_, end()));
    base = segments_.back().base;
    end_of_older = end();
    had_zeros = reserved_ > end_of_older - base;
    CELLFS_ASSIGN_OR_RETURN(older, BeginSegment(number, std::move(made)));
  }
  // Behind the records nothing has to be on disk: zeros there are passed over, and where the note
  // is missing only the loss of the newest segment may go unnoticed.
  if (had_zeros) (void)older->Truncate(end_of_older - base);
  std::string note;
  EncodeNote({.kind = LogNote::Kind::kEndOfSegment, .older = {}, .tables = {}, .dropped = {}},
             {end_of_older, end_of_older}, &note);
  (void)older->Append(note);
  return {};
}

// What is written meanwhile is synced with all writers waiting, so it is to be little.
Status Wal::SyncAllButLittle() {
  Status synced = Sync();
  for (int again = 0; synced.ok() && again < kMostSyncs && Unsynced() >= kLittle; ++again) {
    ends_segment_ = true;
    synced = Sync();
  }
  ends_segment_ = false;
  return synced;
}

void Wal::Flushed(TableId table, SequenceId up_to) {
  {
    const std::lock_guard lock(append_mutex_);
    for (Segment& segment : segments_) {
      const auto found = segment.unflushed.find(table);
      if (found != segment.unflushed.end() && found->second <= up_to)
        segment.unflushed.erase(found);
    }
  }
  CutSegments();
}

void Wal::DropTable(TableId table) {
  {
    const std::lock_guard lock(append_mutex_);
    if (marks_.erase(table) != 0)
      AppendNote({.kind = LogNote::Kind::kTables, .older = {}, .tables = {}, .dropped = {table}});
  }
  Flushed(table, kMaxSequenceId);
}

// Oldest first and each durably, so that no crash leaves a gap. What cannot be removed now is tried
// again after the next flush.
void Wal::CutSegments() {
  const std::lock_guard cut(cut_mutex_);
  while (true) {
    uint64_t number = 0;
    {
      const std::lock_guard lock(append_mutex_);
      if (segments_.size() == 1 || !segments_.front().unflushed.empty()) return;
      number = segments_.front().number;
    }
    if (!files_.Remove(PathOf(number)).ok()) return;
    {
      const std::lock_guard lock(append_mutex_);
      segments_.pop_front();
    }
    if (!files_.SyncDirectory(directory_).ok()) return;
  }
}

}  // namespace cellfs
