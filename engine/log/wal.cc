// SPDX-License-Identifier: MIT
#include "engine/log/wal.h"

#include <algorithm>
#include <utility>

#include "engine/log/caught.h"
#include "engine/log/cut_off_log.h"

namespace cellfs {
namespace {

constexpr size_t kKeptBuffer = size_t{1} << 20;  // a larger one is given back after the write

}  // namespace

Wal::Wal(FileLayer& files, std::string directory, const WalOptions& options)
    : files_(files), directory_(std::move(directory)), options_(options), roll_at_(FirstRollAt()) {}

StatusOr<std::unique_ptr<Wal>> Wal::Open(FileLayer& files, std::string directory,
                                         const WalOptions& options, const LogVisitor& visitor) {
  std::unique_ptr<Wal> wal(new Wal(files, std::move(directory), options));
  CELLFS_RETURN_IF_ERROR(wal->Recover(visitor));
  CELLFS_ASSIGN_OR_RETURN(wal->kept_cut_off_, FindCutOff(files, wal->directory_));
  wal->background_thread_ = std::thread(&Wal::RunInBackground, wal.get());
  return wal;
}

Wal::~Wal() {
  {
    const std::lock_guard lock(sync_mutex_);
    stopping_ = true;
  }
  background_.notify_all();
  if (background_thread_.joinable()) background_thread_.join();
}

// The tables of which the newest segment has nothing yet.
OlderCells Wal::NewTables(std::span<const LogRecord> records) const {
  OlderCells tables;
  for (const LogRecord& record : records)
    if (!segments_.back().unflushed.contains(record.table_id)) tables[record.table_id] = 0;
  return tables;
}

// What the newest segment has from now on.
void Wal::TakeNotes(std::span<const LogRecord> records, OlderCells new_tables) noexcept {
  OlderCells& unflushed = segments_.back().unflushed;
  unflushed.merge(new_tables);
  for (const LogRecord& record : records) {
    SequenceId& highest = unflushed.find(record.table_id)->second;
    highest = std::max(highest, record.sequence_id);
  }
}

StatusOr<LogPosition> Wal::Append(std::span<const LogRecord> records) {
  std::unique_lock lock(append_mutex_);
  if (end() - segments_.back().begin >= LastRollAt()) {
    lock.unlock();
    // A segment that cannot be ended goes on growing; a failed sync is found again by Write.
    (void)RollIf(options_.segment_bytes);
    lock.lock();
  }
  if (!records.empty()) CELLFS_RETURN_IF_ERROR(Write(records));
  return end();
}

Status Wal::Write(std::span<const LogRecord> records) {
  if (is_broken_) return health();
  const LogPosition synced = synced_;
  buffer_.clear();
  apart_.clear();
  // Made before the write: nothing behind it may run out of memory.
  OlderCells new_tables = NewTables(records);
  LogPosition behind = end();
  for (const LogRecord& record : records) {
    CELLFS_RETURN_IF_ERROR(EncodeRecord(record, {behind, synced}, &buffer_, &apart_));
    behind = end() + buffer_.size();
    for (const ValueApart& value : apart_) behind += value.bytes.size();
  }
  if (const Status status = Caught([&] { return AppendBuffer(); }); !status.ok()) {
    const uint64_t size = end() - segments_.back().base;
    const Status cut = Caught([&] { return file_->Truncate(size); });
    reserved_ = 0;
    if (cut.ok()) return status;
    return {StatusCode::kOutcomeUnknown, Break(cut).message()};
  }
  TakeNotes(records, std::move(new_tables));
  apart_.clear();
  end_ = behind;
  if (buffer_.capacity() > kKeptBuffer) std::string().swap(buffer_);
  if (end() - synced >= options_.background_sync_bytes) AskForSync(end() - synced);
  if (end() - segments_.back().begin >= roll_at_) AskForRoll();
  return {};
}

// With one write(2), but for long values.
Status Wal::AppendBuffer() {
  const std::string_view bytes = buffer_;
  size_t begin = 0;
  for (const ValueApart& value : apart_) {
    CELLFS_RETURN_IF_ERROR(file_->Append(bytes.substr(begin, value.before - begin)));
    CELLFS_RETURN_IF_ERROR(file_->Append(value.bytes));
    begin = value.before;
  }
  return begin == bytes.size() ? Status() : file_->Append(bytes.substr(begin));
}

void Wal::MarkTable(TableId table, TableMark mark) {
  const std::lock_guard lock(append_mutex_);
  TableMark& present = marks_[table];
  present = std::move(mark);
  AppendNote({.kind = LogNote::Kind::kTables,
              .older = {},
              .tables = {{table, present}},
              .dropped = {}});
}

// REQUIRES: the append mutex. A segment that has nothing but notes counts as empty.
void Wal::AppendNote(const LogNote& note) {
  if (is_broken_) return;
  const LogPosition synced = synced_;
  std::string bytes;
  EncodeNote(note, {end(), synced}, &bytes);
  if (!file_->Append(bytes).ok()) {
    const Status cut = file_->Truncate(end() - segments_.back().base);
    reserved_ = 0;
    if (!cut.ok()) static_cast<void>(Break(cut));
    return;
  }
  if (segments_.back().begin == end()) segments_.back().begin += bytes.size();
  overdue_at_ = segments_.back().begin + options_.segment_bytes;
  end_ += bytes.size();
}

Status Wal::ReadAfter(LogPosition after, const LogVisitor& visitor) {
  const LogPosition stop = end();
  while (after < stop) {
    std::string path;
    std::string bytes;
    LogPosition base = 0;
    {
      const std::lock_guard cut(cut_mutex_);
      LogPosition segment_end = stop;
      {
        const std::lock_guard lock(append_mutex_);
        if (after < segments_.front().base)
          return {StatusCode::kUnavailable, "the log begins at position " +
                                                std::to_string(segments_.front().base) + ", not " +
                                                std::to_string(after)};
        auto segment = segments_.begin();
        auto next = std::next(segment);
        for (; next != segments_.end() && next->base <= after; ++next) segment = next;
        if (next != segments_.end()) segment_end = next->base;
        base = segment->base;
        path = PathOf(segment->number);
      }
      CELLFS_ASSIGN_OR_RETURN(bytes, files_.Read(path));
      bytes.resize(std::min<uint64_t>(bytes.size(), std::min(segment_end, stop) - base));
    }
    CELLFS_ASSIGN_OR_RETURN(
        const size_t intact,
        VisitRecords(
            path, bytes, base,
            [&](const LogRecord& record, LogPosition position) {
              return position > after ? visitor(record, position) : Status();
            },
            [](const LogNote&, LogPosition) {}));
    if (intact != bytes.size()) return DamagedLog(path, intact, "a record is not what was written");
    after = std::max(after, base + intact);
  }
  return {};
}

uint64_t Wal::bytes() const {
  const std::lock_guard lock(append_mutex_);
  return end() - segments_.front().base;
}

size_t Wal::segments() const {
  const std::lock_guard lock(append_mutex_);
  return segments_.size();
}

std::vector<TableId> Wal::OldestTables() const {
  std::vector<TableId> tables;
  const std::lock_guard lock(append_mutex_);
  if (segments_.size() == 1) return tables;
  for (const auto& [table, highest] : segments_.front().unflushed) tables.push_back(table);
  return tables;
}

}  // namespace cellfs
