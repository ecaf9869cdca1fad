// SPDX-License-Identifier: MIT
//
// Wal: the write-ahead log of a store, shared by its tables (HBase's FSHLog, one for the server).
// What is appended survives the process; what was made durable survives power loss. It lies in
// numbered segments; a segment goes once every cell in it has been flushed. Writers go on in a new
// one while the end of the one before gets to the disk, and nothing in it counts as synced before.
//
//     position = wal->Append(records);  ...add to memstores...  wal->MakeDurable(position, ...)
//
//     flush of table t:  freeze its memstore, whose highest sequence id is s;  wal->Roll();
//                        write the store file, durably;  wal->MarkTable(t, its manifest);
//                        wal->Flushed(t, s)
//
// Who asks for kFsyncWal writes into zeros that were written ahead: then fdatasync has neither a
// new length nor new blocks to write, and takes a third of the time.
//
// A LogPosition counts the bytes of the log since the store was made: it grows for ever, over
// segments and restarts, and names the end of a record.
//
// Errors: kStoreFull from Append and Roll changes nothing, the log goes on. After a failed sync, or
// where a torn record could not be cut off again, nobody knows what is on disk: everything further
// is refused with kIoError until the store is opened anew. Of the records that could not be cut off
// some may come back then: their Append ends with kOutcomeUnknown.
#ifndef CELLFS_ENGINE_LOG_WAL_H_
#define CELLFS_ENGINE_LOG_WAL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/disk/file_layer.h"
#include "engine/durations.h"
#include "engine/log/log_format.h"
#include "engine/log/log_reading.h"
#include "engine/log/log_tail.h"

namespace cellfs {

struct WalOptions {
  uint64_t store_id = 0;    // of the store that the log belongs to: no other's segments are taken
  bool must_exist = false;  // a log without any segment has lost them
  KnownEnd known_end;       // a log that ends before has lost that
  uint64_t segment_bytes = uint64_t{64} << 20;  // a new segment starts once one is this long
  // So long before, the background starts one, that no writer has to wait for it.
  uint64_t roll_ahead_bytes = uint64_t{16} << 20;
  uint64_t reserved_bytes = uint64_t{256}
                            << 10;  // of zeros written ahead of what is synced at once
  uint64_t background_sync_bytes = uint64_t{8} << 20;  // unsynced bytes that wake the background
  // Unsynced bytes with which the log is behind; from half of them on it is synced at once.
  uint64_t most_unsynced_bytes = uint64_t{32} << 20;
  std::chrono::milliseconds asynchronous_delay{500};   // of kAsyncWal; bounds what power loss takes
  // Called before so many bytes are written that a full disk may have no room for.
  std::function<void(uint64_t bytes)> make_room = [](uint64_t) {};
};

// Thread-safe.
class Wal {
 public:
  // Opens the log in `directory` (made where it is missing) and shows `visitor` every record that
  // it holds, flushed or not: the caller knows what its tables have already, and says so afterwards
  // through Flushed and DropTable. A torn tail of the newest segment, as the death of the process
  // or of the machine leaves it, is cut off, and one of the segment before as well where nothing in
  // the newest was synced, which goes then; both are kept beside the segments where whole records
  // stand in them (cut_off_log.h). Any other damage is kCorruption, naming file and offset, or the
  // segment that is missing. `files` outlives the log.
  static StatusOr<std::unique_ptr<Wal>> Open(FileLayer& files, std::string directory,
                                             const WalOptions& options, const LogVisitor& visitor);
  // Makes durable what kAsyncWal still owes.
  ~Wal();
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  // Writes the records, all or none; they survive the process when this returns.
  // Of one table, sequence ids are appended in ascending order. No records: the present end.
  StatusOr<LogPosition> Append(std::span<const LogRecord> records);

  // What `durability` promises holds for everything up to `position` when this returns (kAsyncWal:
  // within a second). Callers at the same time share one fdatasync.
  Status MakeDurable(LogPosition position, Durability durability);
  // All that has been appended is on disk when this returns.
  Status Sync() { return SyncTo(end()); }

  // The disk does not follow: who writes much is to wait until it does (CatchUp), where he holds no
  // lock, or others would wait for it behind his bytes.
  bool IsBehind() const;
  void CatchUp();

  // What the segments that were there before the first one have held: a table that has not flushed
  // that far has lost cells with them.
  const OlderCells& older() const { return older_; }
  // The number of the first segment when the log was opened.
  uint64_t first_segment() const { return first_segment_; }
  // What the log said of the tables' manifests when it was opened.
  const TableMarks& marks() const { return recovered_marks_; }
  // What was cut off its end though whole records stand in it, now or at an earlier opening, and is
  // kept; or what was passed over of it: for people.
  std::vector<std::string> CutOff() const;

  // Starts a new segment, so that what is to be flushed lies in older ones, which are on disk when
  // this returns; nothing where the newest is still empty. Writers do not wait for it.
  Status Roll();
  // Every cell of the table with a sequence id up to this one is durable elsewhere, or not wanted.
  void Flushed(TableId table, SequenceId up_to);
  void DropTable(TableId table);
  // The table's manifest is durable. This and each further segment say so; where it cannot be
  // written now, the next segment does.
  void MarkTable(TableId table, TableMark mark);

  // Shows the records whose position is greater than `after`, in order, up to the present end.
  // kUnavailable where some of them have been cut already. Does not hold up writers.
  Status ReadAfter(LogPosition after, const LogVisitor& visitor);

  // So far it is on disk.
  LogPosition synced() const { return synced_; }
  LogPosition end() const { return end_.load(std::memory_order_acquire); }
  // Why it takes no more; OK: it does.
  Status health() const;
  uint64_t bytes() const;  // of all segments
  // Since Open.
  uint64_t syncs() const { return sync_times_.Figures().Count(); }
  DurationFigures sync_times() const { return sync_times_.Figures(); }
  size_t segments() const;
  // The tables whose cells keep the oldest segment from going; empty if there is but one segment.
  std::vector<TableId> OldestTables() const;

 private:
  struct Segment {
    uint64_t number = 0;
    LogPosition base = 0;
    LogPosition begin = 0;  // of the records of tables
    OlderCells unflushed;   // the highest of each table; in the first segment older ones' too
  };
  // A segment that writers have left, and that is not on disk yet.
  struct Ended {
    std::shared_ptr<AppendFile> file;
    LogPosition base = 0;
    LogPosition end = 0;
    bool has_zeros = false;  // behind its records
  };

  Wal(FileLayer& files, std::string directory, const WalOptions& options);
  std::string PathOf(uint64_t number) const { return directory_ + "/" + SegmentName(number); }

  // ---- Opening (wal_recovery.cc)
  // How the segment that was read last ends.
  struct Ending {
    LogTail tail = LogTail::kNothing;
    size_t offset = 0;
    size_t records_behind = 0;  // whole ones, of a torn tail
  };
  // The newest segment, which counts as not begun.
  struct Unbegun {
    size_t records = 0;  // whole ones that stand in it
  };
  Status Recover(const LogVisitor& visitor);
  StatusOr<std::vector<uint64_t>> FindSegments();
  StatusOr<Ending> RecoverSegment(uint64_t number, std::string_view bytes,
                                  const LogVisitor& visitor);
  std::optional<SegmentHeader> TellHeader(uint64_t number, std::string_view bytes) const;
  Status CheckHeader(uint64_t number, std::string_view bytes, SegmentHeader* header);
  Status SettleEnd(const Ending& ending, const std::optional<Unbegun>& unbegun);
  Status KeepTail(uint64_t number, size_t offset, const std::string& what);
  Status SyncNewest();

  // ---- Segments that come and go (wal_segments.cc)
  Status AddSegment(uint64_t number);
  std::string HeadOf(uint64_t number) const;
  StatusOr<std::unique_ptr<AppendFile>> MakeSegment(uint64_t number);
  StatusOr<Ended> BeginSegment(uint64_t number, std::unique_ptr<AppendFile> made);
  Status RollIf(uint64_t at_least);
  Status SyncOver(const Ended& older);
  void NoteEnd(const Ended& older);
  bool IsRolledAhead() const { return options_.segment_bytes > options_.roll_ahead_bytes; }
  uint64_t FirstRollAt() const;
  uint64_t LastRollAt() const;
  void AskForRoll();
  void CutSegments();

  // ---- Appending (wal.cc)
  Status Write(std::span<const LogRecord> records);
  Status AppendBuffer();
  OlderCells NewTables(std::span<const LogRecord> records) const;
  void TakeNotes(std::span<const LogRecord> records, OlderCells new_tables) noexcept;
  void AppendNote(const LogNote& note);

  // ---- Durability (wal_sync.cc)
  // Held by the one thread that may call fdatasync, so that an error, which the kernel tells only
  // once, is known before anybody else asks.
  class SyncRight {
   public:
    explicit SyncRight(Wal* wal);
    SyncRight(Wal* wal, std::adopt_lock_t) : wal_(wal) {}
    ~SyncRight();
    SyncRight(const SyncRight&) = delete;
    SyncRight& operator=(const SyncRight&) = delete;

   private:
    Wal* const wal_;
  };
  void ReserveAhead();
  void AskForSync(uint64_t unsynced);
  uint64_t Unsynced() const;
  Status SyncTo(LogPosition position);
  Status SyncFile(AppendFile& file, LogPosition up_to);
  Status Break(const Status& reason);
  void RunInBackground();

  FileLayer& files_;
  const std::string directory_;
  const WalOptions options_;
  OlderCells older_;            // set by Open
  TableMarks recovered_marks_;  // set by Open
  uint64_t first_segment_ = 1;  // set by Open
  std::vector<std::string> kept_cut_off_;  // names; set by Open
  std::vector<std::string> passed_over_;  // set by Open: what would be cut off, of files that stay

  // Taken in this order: cut_mutex_, roll_mutex_, the right to sync (syncing_), append_mutex_,
  // sync_mutex_.
  std::mutex cut_mutex_;  // held while segments go, so that they go oldest first

  std::mutex roll_mutex_;  // held while the next segment is made

  mutable std::mutex append_mutex_;
  std::deque<Segment> segments_;      // under append_mutex_; the last is written to
  TableMarks marks_;                  // under append_mutex_
  std::shared_ptr<AppendFile> file_;  // under append_mutex_
  uint64_t reserved_ = 0;             // bytes of the newest segment; under append_mutex_
  uint64_t roll_at_;                  // bytes of records in it; under append_mutex_
  std::atomic<LogPosition> overdue_at_{0};  // where it shall have been ended; likewise written
  std::string buffer_;                // under append_mutex_, as the next
  std::vector<ValueApart> apart_;     // what comes between its bytes
  std::atomic<LogPosition> end_{0};   // written under append_mutex_

  mutable std::mutex sync_mutex_;  // of the members below
  std::condition_variable sync_done_;
  std::condition_variable background_;
  bool syncing_ = false;       // somebody has the right to sync
  bool stopping_ = false;      // the background shall end
  bool asynchronous_ = false;  // the background owes a sync
  bool roll_due_ = false;      // the background shall begin a segment
  bool sync_due_ = false;      // the background shall sync at once
  Status broken_;              // why the log takes no more
  // Written under sync_mutex_, so that each write reads them without it.
  std::atomic<bool> is_broken_{false};
  std::atomic<LogPosition> synced_{0};
  Durations sync_times_;
  std::thread background_thread_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_WAL_H_
