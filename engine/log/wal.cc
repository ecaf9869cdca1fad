// SPDX-License-Identifier: MIT
#include "engine/log/wal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/log/cut_off_log.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesOfHead = 4096;          // of a segment, in which its header mostly fits
constexpr size_t kKeptBuffer = size_t{1} << 20;  // a larger one is given back after the write

Status Damaged(const std::string& path, size_t offset, const std::string& what) {
  return {StatusCode::kCorruption,
          "'" + path + "' is damaged at offset " + std::to_string(offset) + ": " + what};
}

Status Missing(const std::string& path) {
  return {StatusCode::kCorruption, "'" + path + "' is missing: a segment of the log"};
}

void Note(const LogRecord& record, OlderCells* cells) {
  SequenceId& highest = (*cells)[record.table_id];
  highest = std::max(highest, record.sequence_id);
}

using NoteVisitor = std::function<void(const LogNote& note, LogPosition position)>;

// Shows the intact records of tables from `offset` on, and notes; answers where they end.
StatusOr<size_t> VisitRecords(const std::string& path, std::string_view bytes, LogPosition base,
                              const LogVisitor& visitor, const NoteVisitor& note_visitor) {
  size_t offset = kSegmentHeaderSize;
  std::vector<CellView> cells;
  while (const auto found = FindRecord(bytes.substr(offset), base + offset)) {
    const std::string_view bytes_of_record = bytes.substr(offset, found->size);
    const auto note = DecodeNote(bytes_of_record);
    if (note && note->kind == LogNote::Kind::kEndOfSegment) break;
    const auto record = note ? LogRecord() : DecodeRecord(bytes_of_record, &cells);
    if (!record) return Damaged(path, offset, "a record of unknown form");
    offset += found->size;
    if (note) {
      note_visitor(*note, base + offset);
    } else {
      CELLFS_RETURN_IF_ERROR(visitor(*record, base + offset));
    }
  }
  return offset;
}

// What is done to a file has an end that the log must know, also where memory runs out on the way:
// then it counts as failed. The text is so short that it needs none.
template <typename Act>
Status Caught(Act&& act) {
  try {
    return act();
  } catch (const std::exception&) {
    return {StatusCode::kIoError, "no memory"};
  }
}

}  // namespace

// Held by the one thread that may call fdatasync, so that an error, which the kernel tells only
// once, is known before anybody else asks.
class Wal::SyncRight {
 public:
  explicit SyncRight(Wal* wal) : wal_(wal) {
    std::unique_lock lock(wal_->sync_mutex_);
    wal_->sync_done_.wait(lock, [this] { return !wal_->syncing_; });
    wal_->syncing_ = true;
  }
  SyncRight(Wal* wal, std::adopt_lock_t) : wal_(wal) {}
  ~SyncRight() {
    {
      const std::lock_guard lock(wal_->sync_mutex_);
      wal_->syncing_ = false;
    }
    wal_->sync_done_.notify_all();
  }
  SyncRight(const SyncRight&) = delete;
  SyncRight& operator=(const SyncRight&) = delete;

 private:
  Wal* const wal_;
};

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

// ---- Recovery -----------------------------------------------------------------------------------

Status Wal::Recover(const LogVisitor& visitor) {
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(directory_));
  CELLFS_ASSIGN_OR_RETURN(const auto numbers, FindSegments());
  if (numbers.empty()) return AddSegment(1);
  first_segment_ = numbers.front();
  Ending ending;
  bool has_unbegun = false;
  for (const uint64_t number : numbers) {
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
    const SegmentHeader header{.number = number, .base = end(), .store_id = options_.store_id};
    has_unbegun = number == numbers.back() && IsUnbegun(bytes, header);
    if (has_unbegun) break;
    if (ending.tail == LogTail::kDamaged)
      return Damaged(PathOf(number - 1), ending.offset, "a record does not match its checksum");
    CELLFS_ASSIGN_OR_RETURN(ending, RecoverSegment(number, bytes, visitor));
  }
  CELLFS_RETURN_IF_ERROR(SettleEnd(ending, has_unbegun));
  recovered_marks_ = marks_;
  if (segments_.empty()) return AddSegment(1);
  CELLFS_ASSIGN_OR_RETURN(file_, files_.OpenForAppend(PathOf(segments_.back().number)));
  synced_ = segments_.back().base;
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

Status Wal::CheckHeader(uint64_t number, std::string_view bytes, SegmentHeader* header) {
  const std::string path = PathOf(number);
  const auto decoded = DecodeSegmentHeader(bytes);
  if (!decoded) return Damaged(path, 0, "the header does not match its checksum");
  *header = *decoded;
  if (header->format_version != kLogFormatVersion)
    return {StatusCode::kCorruption,
            "'" + path + "' has log format " + std::to_string(header->format_version) +
                "; this program knows format " + std::to_string(kLogFormatVersion)};
  if (header->number != number)
    return Damaged(path, 12, "it is segment " + std::to_string(header->number));
  if (header->store_id != options_.store_id)
    return Damaged(path, 28, "it is a segment of another store's log");
  if (!segments_.empty() && header->base != end())
    return Damaged(PathOf(number - 1), end() - segments_.back().base,
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
            Note(record, &segment.unflushed);
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
Status Wal::SettleEnd(const Ending& ending, bool has_unbegun) {
  const uint64_t last = segments_.empty() ? first_segment_ - 1 : segments_.back().number;
  const std::string next = PathOf(last + 1);
  if (has_unbegun && segments_.empty() && last != 0)
    return Damaged(next, 0, "the header is missing, and older segments are gone");
  if (ending.tail == LogTail::kEnd)
    return has_unbegun ? Damaged(next, 0, "the header is missing") : Missing(next);
  if (ending.tail == LogTail::kDamaged)
    return Damaged(PathOf(last), ending.offset, "a record " + std::string(kDamagedTail));
  if (has_unbegun && last != 0) CELLFS_RETURN_IF_ERROR(files_.Remove(next));
  if (ending.tail == LogTail::kNothing) return {};
  if (ending.records_behind != 0) CELLFS_RETURN_IF_ERROR(KeepTail(last, ending));
  CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(PathOf(last)));
  CELLFS_RETURN_IF_ERROR(file->Truncate(ending.offset));
  return file->Sync();
}

Status Wal::KeepTail(uint64_t number, const Ending& ending) {
  CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
  const size_t written = bytes.find_last_not_of('\0') + 1;
  const size_t size = written - ending.offset;
  options_.make_room(size);
  CELLFS_ASSIGN_OR_RETURN(const std::string name,
                          KeepCutOff(files_, directory_, number, ending.offset,
                                     std::string_view(bytes).substr(ending.offset, size)));
  CELLFS_ASSIGN_OR_RETURN(const bool is_kept, files_.Exists(directory_ + "/" + name));
  if (!is_kept)
    passed_over_ = "'" + PathOf(number) + "': " +
                   DescribeTornBeforeRecords(ending.offset, ending.records_behind);
  return {};
}

// Of what was there when the log was opened: nothing is cut off later, and people remove it.
std::vector<std::string> Wal::CutOff() const {
  std::vector<std::string> cut_off;
  for (const std::string& name : kept_cut_off_) {
    const StatusOr<bool> is_there = files_.Exists(directory_ + "/" + name);
    if (!is_there.ok() || *is_there) cut_off.push_back(DescribeCutOff(directory_, name));
  }
  if (!passed_over_.empty()) cut_off.push_back(passed_over_);
  return cut_off;
}

// ---- Appending ----------------------------------------------------------------------------------

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

// Adds what the newest segment has from now on.
void Wal::TakeNotes(OlderCells noted) noexcept {
  OlderCells& unflushed = segments_.back().unflushed;
  unflushed.merge(noted);  // moves the tables that were not there
  for (const auto& [table, highest] : noted) {
    SequenceId& present = unflushed.find(table)->second;
    present = std::max(present, highest);
  }
}

StatusOr<LogPosition> Wal::Append(std::span<const LogRecord> records) {
  std::unique_lock lock(append_mutex_);
  if (end() - segments_.back().begin >= options_.segment_bytes) {
    lock.unlock();
    // A segment that cannot be ended goes on growing; a failed sync is found again by Write.
    (void)RollIf(options_.segment_bytes);
    lock.lock();
  }
  if (!records.empty()) CELLFS_RETURN_IF_ERROR(Write(records));
  return end();
}

Status Wal::Write(std::span<const LogRecord> records) {
  LogPosition synced = 0;
  {
    const std::lock_guard lock(sync_mutex_);
    if (!broken_.ok()) return broken_;
    synced = synced_;
  }
  buffer_.clear();
  OlderCells noted;  // made before the write: nothing behind it may run out of memory
  for (const LogRecord& record : records) {
    CELLFS_RETURN_IF_ERROR(EncodeRecord(record, {end() + buffer_.size(), synced}, &buffer_));
    Note(record, &noted);
  }
  if (const Status status = Caught([&] { return file_->Append(buffer_); }); !status.ok()) {
    const uint64_t size = end() - segments_.back().base;
    const Status cut = Caught([&] { return file_->Truncate(size); });
    reserved_ = 0;
    if (cut.ok()) return status;
    return {StatusCode::kOutcomeUnknown, Break(cut).message()};
  }
  TakeNotes(std::move(noted));
  end_ += buffer_.size();
  if (buffer_.capacity() > kKeptBuffer) std::string().swap(buffer_);
  if (end() - synced >= options_.background_sync_bytes)
    (void)MakeDurable(end(), Durability::kAsyncWal);  // what was written stays written
  if (end() - segments_.back().begin >= roll_at_) AskForRoll();
  return {};
}

// How many bytes of records a segment has when the background begins the next. Short ones are left
// to writers.
uint64_t Wal::FirstRollAt() const {
  const bool is_ahead = options_.segment_bytes > options_.roll_ahead_bytes;
  return is_ahead ? options_.segment_bytes - options_.roll_ahead_bytes
                  : std::numeric_limits<uint64_t>::max();
}

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
  CELLFS_RETURN_IF_ERROR(Sync());
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

// ---- Durability ---------------------------------------------------------------------------------

Status Wal::MakeDurable(LogPosition position, Durability durability) {
  if (durability == Durability::kFsyncWal) {
    ReserveAhead();
    return SyncTo(position);
  }
  if (durability != Durability::kAsyncWal) return {};  // write(2) was all, and was done
  const std::lock_guard lock(sync_mutex_);
  if (synced_ >= position) return {};
  if (broken_.ok() && !asynchronous_) {
    asynchronous_ = true;
    background_.notify_all();
  }
  return broken_;
}

// Where there is no room for it, the file grows with its records.
void Wal::ReserveAhead() {
  const std::lock_guard lock(append_mutex_);
  const uint64_t size = end() - segments_.back().base;
  if (size + options_.reserved_bytes / 4 <= reserved_) return;
  if (file_->Reserve(size + options_.reserved_bytes).ok())
    reserved_ = size + options_.reserved_bytes;
}

Status Wal::SyncTo(LogPosition position) {
  {
    const std::lock_guard lock(sync_mutex_);
    if (synced_ >= position) return {};
  }
  const Waiting waiting(Wait::kIsLong);
  {
    std::unique_lock lock(sync_mutex_);
    sync_done_.wait(lock, [&] { return !syncing_ || synced_ >= position; });
    if (synced_ >= position) return {};
    if (!broken_.ok()) return broken_;
    syncing_ = true;
  }
  const SyncRight right(this, std::adopt_lock);
  std::shared_ptr<AppendFile> file;
  LogPosition up_to = 0;  // also what others have appended by now: they need no sync of their own
  {
    const std::lock_guard lock(append_mutex_);
    file = file_;
    up_to = end();
  }
  return SyncFile(*file, up_to);
}

// REQUIRES: the right to sync; what lies before the file is synced.
Status Wal::SyncFile(AppendFile& file, LogPosition up_to) {
  const Status status = Caught([&] { return file.Sync(); });
  ++syncs_;
  if (!status.ok()) return Break(status);
  const std::lock_guard lock(sync_mutex_);
  if (!broken_.ok()) return broken_;
  synced_ = std::max(synced_, up_to);
  return {};
}

Status Wal::Break(const Status& reason) {
  const std::lock_guard lock(sync_mutex_);
  if (!broken_.ok()) return broken_;
  broken_ = {StatusCode::kIoError, "the log broke"};  // short, so that it needs no memory
  broken_ = {StatusCode::kIoError,
             "the log takes no more until the store is opened anew: " + reason.message()};
  return broken_;
}

void Wal::RunInBackground() {
  std::unique_lock lock(sync_mutex_);
  while (true) {
    background_.wait(lock, [this] { return stopping_ || asynchronous_ || roll_due_; });
    background_.wait_for(lock, options_.asynchronous_delay,
                         [this] { return stopping_ || roll_due_; });
    if (stopping_ && !asynchronous_) return;
    asynchronous_ = false;
    const bool roll = std::exchange(roll_due_, false) && !stopping_;
    lock.unlock();
    // A failed sync breaks the log, and so is told to the next writer.
    (void)Caught([&] { return roll ? RollIf(FirstRollAt()) : Sync(); });
    lock.lock();
  }
}

// ---- Cutting and reading ------------------------------------------------------------------------

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
  LogPosition synced = 0;
  {
    const std::lock_guard lock(sync_mutex_);
    if (!broken_.ok()) return;
    synced = synced_;
  }
  std::string bytes;
  EncodeNote(note, {end(), synced}, &bytes);
  if (!file_->Append(bytes).ok()) {
    const Status cut = file_->Truncate(end() - segments_.back().base);
    reserved_ = 0;
    if (!cut.ok()) static_cast<void>(Break(cut));
    return;
  }
  if (segments_.back().begin == end()) segments_.back().begin += bytes.size();
  end_ += bytes.size();
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
    if (intact != bytes.size()) return Damaged(path, intact, "a record is not what was written");
    after = std::max(after, base + intact);
  }
  return {};
}

Status Wal::health() const {
  const std::lock_guard lock(sync_mutex_);
  return broken_;
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
