// SPDX-License-Identifier: MIT
//
// The segments of the log: how the next one begins, and when the oldest goes.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/log/caught.h"
#include "engine/log/wal.h"

namespace cellfs {

Status Wal::AddSegment(uint64_t number) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> made, MakeSegment(number));
  CELLFS_RETURN_IF_ERROR(BeginSegment(number, std::move(made)).status());
  return SyncFile(*file_, end());
}

// A segment without a header holds nothing. To sync its name comes here, where nobody waits for it.
StatusOr<std::unique_ptr<AppendFile>> Wal::MakeSegment(uint64_t number) {
  const std::string path = PathOf(number);
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> file, files_.OpenForAppend(path));
  Status status = file->Truncate(0);
  if (status.ok()) status = files_.SyncDirectory(directory_);
  if (status.ok()) return file;
  (void)files_.Remove(path);  // if this fails too, it is overwritten or removed later
  return status;
}

// REQUIRES: the append mutex and the right to sync, once there are threads. What is written from
// now on goes to the new segment. Answers the older one, if any; what fails leaves all as it was.
StatusOr<Wal::Ended> Wal::BeginSegment(uint64_t number, std::unique_ptr<AppendFile> made) {
  CELLFS_RETURN_IF_ERROR(health());
  std::shared_ptr<AppendFile> next = std::move(made);
  const std::string head = HeadOf(number);
  const std::string path = PathOf(number);
  Ended older{.file = file_, .base = 0, .end = end()};
  if (!segments_.empty()) older.base = segments_.back().base;
  older.has_zeros = reserved_ > older.end - older.base;
  segments_.push_back({number, end(), end() + head.size(), {}});
  const Status status = Caught([&] { return next->Append(head); });
  if (!status.ok()) {
    (void)Caught([&] { return files_.Remove(path); });
    segments_.pop_back();
    return status;
  }
  end_ += head.size();
  reserved_ = 0;
  roll_at_ = FirstRollAt();
  overdue_at_ = segments_.back().begin + options_.segment_bytes;
  file_ = std::move(next);
  return older;
}

std::string Wal::HeadOf(uint64_t number) const {
  std::string head =
      EncodeSegmentHeader({.number = number, .base = end(), .store_id = options_.store_id});
  const LogPosition on_disk = synced();
  LogNote note;
  for (const Segment& segment : segments_)
    for (const auto& [table, highest] : segment.unflushed)
      note.older[table] = std::max(note.older[table], highest);
  if (!note.older.empty()) EncodeNote(note, {end() + head.size(), on_disk}, &head);
  LogNote tables;
  tables.kind = LogNote::Kind::kTables;
  tables.tables = marks_;
  if (!marks_.empty()) EncodeNote(tables, {end() + head.size(), on_disk}, &head);
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
// one is made, and from then on in that; who waits for the disk waits for the end of the older one
// too.
Status Wal::RollIf(uint64_t at_least) {
  const std::lock_guard roll(roll_mutex_);
  CELLFS_RETURN_IF_ERROR(health());
  uint64_t number = 0;
  {
    const std::lock_guard lock(append_mutex_);
    if (end() - segments_.back().begin < at_least) return {};
    number = segments_.back().number + 1;
  }
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> made, MakeSegment(number));
  const SyncRight right(this);
  Ended older;
  {
    const std::lock_guard lock(append_mutex_);
    CELLFS_ASSIGN_OR_RETURN(older, BeginSegment(number, std::move(made)));
  }
  CELLFS_RETURN_IF_ERROR(SyncOver(older));
  NoteEnd(older);
  return {};
}

// REQUIRES: the right to sync. A note behind what was written to the newest segment meanwhile says
// by its header that the older one is on disk, and is there itself before anything in the newest
// counts as synced: without it a torn end of the older one is what a loss of power has left.
Status Wal::SyncOver(const Ended& older) {
  CELLFS_RETURN_IF_ERROR(SyncFile(*older.file, older.end));
  sync_done_.notify_all();  // for who waits for nothing else
  std::shared_ptr<AppendFile> newest;
  LogPosition up_to = 0;
  {
    const std::lock_guard lock(append_mutex_);
    AppendNote({.kind = LogNote::Kind::kNothing, .older = {}, .tables = {}, .dropped = {}});
    newest = file_;
    up_to = end();
  }
  return SyncFile(*newest, up_to);
}

// Behind the records nothing has to be on disk: zeros there are passed over, and where the note is
// missing only the loss of the newest segment may go unnoticed.
void Wal::NoteEnd(const Ended& older) {
  if (older.has_zeros) (void)older.file->Truncate(older.end - older.base);
  std::string note;
  EncodeNote({.kind = LogNote::Kind::kEndOfSegment, .older = {}, .tables = {}, .dropped = {}},
             {older.end, older.end}, &note);
  (void)older.file->Append(note);
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

// Oldest first and each durably, so that no crash leaves a gap, and none before the next one is on
// disk. What cannot be removed now is tried again after the next flush.
void Wal::CutSegments() {
  const std::lock_guard cut(cut_mutex_);
  while (true) {
    uint64_t number = 0;
    LogPosition in_next = 0;
    {
      const std::lock_guard lock(append_mutex_);
      if (segments_.size() == 1 || !segments_.front().unflushed.empty()) return;
      number = segments_.front().number;
      in_next = segments_[1].base + 1;
    }
    if (!SyncTo(in_next).ok()) return;
    if (!files_.Remove(PathOf(number)).ok()) return;
    {
      const std::lock_guard lock(append_mutex_);
      segments_.pop_front();
    }
    if (!files_.SyncDirectory(directory_).ok()) return;
  }
}

}  // namespace cellfs
