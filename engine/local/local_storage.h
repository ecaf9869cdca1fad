// SPDX-License-Identifier: MIT
//
// LocalStorage: the cells of one table of an embedded store (HBase: the HStores of one region). A
// write goes to the log and into the active memstore; a flush freezes that, writes it into new
// store files, names them in the manifest, and tells the log. A compaction puts one file in the
// place of several. A read merges memstores and files as they are at one time (TableState).
//
// Locks, in the order in which they are taken: flush_mutex_, compact_mutex_, commit_mutex_, the
// store's write_mutex, the registry of moments, state_mutex_; the observer's last. A reader takes
// only the one but last, for as long as it takes to copy a pointer, so that nothing that writes
// holds it up.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/local/attempts.h"
#include "engine/local/manifest.h"
#include "engine/local/store_context.h"
#include "engine/local/store_file_builder.h"
#include "engine/local/table_state.h"
#include "engine/local/table_view.h"
#include "engine/region/cell_storage.h"
#include "engine/region/storage_engine.h"

namespace cellfs {

class DroppedColumns;
struct Rewrite;
enum class RewriteKind;
struct RewriteInput;

class LocalStorage : public CellStorage, public std::enable_shared_from_this<LocalStorage> {
 public:
  LocalStorage(std::shared_ptr<StoreContext> context, StoredTable table,
               std::shared_ptr<const TableFolder> folder, const Manifest& manifest);

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override;
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override;
  Timestamp NewestTimestamp() const override;
  StatusOr<LogPosition> Apply(std::span<RowBatch> batches) override;
  Status CheckRoom(uint64_t bytes) override;
  Status Flush() override;
  Status Compact(CompactionKind kind) override;
  Status CompactSelected() override;
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override;
  Status Truncate() override;
  TableStatistics GetStatistics() override;

  // For the engine and its maintenance.
  TableId id() const { return folder_->table; }
  TableName name() const { return Schema()->name(); }
  Snapshot<TableState> State() const;
  SequenceId flushed() const { return flushed_.load(); }
  // What the log brings back. Before anything else is asked of the storage.
  void Recover(const LogRecord& record);
  // After the last Recover: the log need not keep what the files have had all along.
  void SettleRecovered();
  // A family that the log has cells of and the schema does not name; empty: there is none.
  const std::string& strange_family() const { return strange_family_; }
  // No more writes come; what is left of the table is removed.
  void Drop();
  bool WantsFlush() const;
  // Whether the background may flush it now: it pauses after an error.
  bool MayFlush() const { return flush_attempts_.MayTry(context_->options.clock->Elapsed()); }
  bool HasUnflushed() const;
  uint64_t memstore_bytes() const;
  // Something of it cannot be read; statistics say so from then on. Errors of other kinds, and OK,
  // are passed over.
  void NoteDamage(const Status& found);
  // Why puts are refused; OK: they are taken, as far as it is this table's affair.
  Status CheckTakesPuts() const;
  // Does what of compaction is worth it now, in one family, if anything is; true: something was.
  // Ends early, without an error, where `stopped` says so. After an error it does nothing for a
  // while (Attempts).
  StatusOr<bool> CompactByPolicy(const std::function<bool()>& stopped);

 private:
  class LocalScanner;

  // Files of one family that are rewritten into one, oldest first.
  struct Selection {
    FamilySchema family;
    StoreFiles files;
    CompactionKind kind = CompactionKind::kMinor;
    bool heeds_newer_tombstones = false;  // what those of newer files hide goes
  };

  std::shared_ptr<const TableSchema> Schema() const;
  StoreFiles FilesOf(std::string_view family) const;
  StatusOr<TableView> TakeView(const Moment* moment = nullptr) const;
  int64_t FlushSizeOf(const TableState& state) const;
  std::shared_ptr<MemoryCells> NewMemory(const TableSchema& schema) const;
  Status CheckStorable(std::span<const RowBatch> batches) const;
  StoreContext::BytesOfPut BytesOf(std::span<const RowBatch> batches) const;
  StoreContext::BytesOfPut BytesOfValue(uint64_t bytes) const;
  Status WaitForRoom(bool only_deletes);
  // How much of what memstores may have is taken, of this table's or of all: 1 is all.
  double Fullness(bool only_deletes) const;
  Status CheckFlushes(double fullness) const;
  Rewrite RewriteNow(RewriteKind kind) const;

  // REQUIRES: flush_mutex_ is held.
  Status FlushLocked();
  Status FlushFrozen(const TableStatePtr& state);
  void FlushEnded(const Status& status);
  void Freeze();
  StatusOr<std::vector<FileFacts>> WriteFiles(const TableStatePtr& state, SequenceId keep_up_to,
                                              DroppedColumns& dropped);
  StatusOr<std::optional<FileFacts>> WriteFamily(const TableStatePtr& state,
                                                 const FamilySchema& family, SequenceId keep_up_to,
                                                 DroppedColumns& dropped);

  // REQUIRES: compact_mutex_ is held.
  Status CompactAll(CompactionKind kind);
  Status CompactFamily(const FamilySchema& family, CompactionKind kind);
  StatusOr<bool> CompactPair(const FamilySchema& family);
  StatusOr<bool> ThinFiles(const FamilySchema& family, const std::function<bool()>& stopped);
  StatusOr<bool> IsWorthThinning(const Selection& selection,
                                 const std::function<bool()>& stopped) const;
  StoreFiles NewerFilesThan(const Selection& selection) const;
  StatusOr<bool> CompactOnce(const std::function<bool()>& stopped);
  StatusOr<bool> CompactWhatIsWorthIt(const std::function<bool()>& stopped);
  StatusOr<bool> DropExpired(const FamilySchema& family);
  Status CompactSelection(Selection selection, const std::function<bool()>& stopped);
  Status RewriteSelection(const Selection& selection, const std::function<bool()>& stopped,
                          DiskReserve::Claim& claim);
  StatusOr<DiskReserve::Claim> ClaimRoomFor(const Selection& selection,
                                            const std::function<bool()>& stopped);
  StatusOr<uint64_t> MeasureRewrite(const Selection& selection,
                                    const std::function<bool()>& stopped) const;
  Rewrite RulesFor(const Selection& selection) const;
  static uint64_t BytesOf(const Selection& selection);
  Timestamp LatestMajorCompaction(const TableFiles& of_table, const StoreFiles& files) const;
  StatusOr<RewriteInput> InputOf(const TableStatePtr& state, const Selection& selection,
                                 bool lengths_only) const;
  std::optional<Selection> SelectByPolicy(const FamilySchema& family) const;
  bool IsMajorDue(const FamilySchema& family, const StoreFiles& files, Timestamp oldest) const;
  void Discard(const std::vector<FileFacts>& files) const;

  // Files that come and go in one step.
  struct FileChange {
    std::vector<FileFacts> added;
    StoreFiles removed;
    SequenceId flushed = 0;  // at least
    std::shared_ptr<const TableSchema> schema;  // where it becomes another
    // Of a flush: `added` has all that moments up to this one see of the frozen memstore.
    std::optional<SequenceId> complete_up_to;
  };
  using NextState = std::function<void(TableState& state)>;
  // Puts the change into the manifest and then, with what `next` makes of the present state, into
  // force. kUnavailable: what was to be removed has gone. kOutcomeUnknown: it is in force, and a
  // power failure may undo it. After any other error the added files are removed.
  Status Commit(const FileChange& change, const NextState& next);
  void ForgetDamageOf(const StoreFiles& removed);
  void TellObserver(DroppedColumns dropped, const TableStatePtr& before) noexcept;
  void TellWhatChanged(DroppedColumns dropped, const TableStatePtr& before);

  const std::shared_ptr<const TableFolder> folder_;
  const std::shared_ptr<StoreContext> context_;

  std::mutex flush_mutex_;    // one flush at a time
  std::mutex compact_mutex_;  // one compaction at a time
  std::mutex commit_mutex_;   // one change of the manifest at a time
  std::atomic<uint64_t> next_file_;
  std::atomic<SequenceId> flushed_;
  std::atomic<bool> durable_{true};  // false: a sync has failed, log and files must stay
  std::atomic<bool> dropped_{false};
  std::atomic<bool> flush_failed_{false};  // the last one
  Attempts flush_attempts_;
  Attempts compact_attempts_;
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> compactions_{0};

  // Of families that the schema does not name: an older CATALOG does not know them, or their drop
  // was cut short. They are not shown, and stay until the family is declared. Guarded by
  // commit_mutex_.
  std::vector<FileFacts> strange_files_;
  std::string strange_family_;  // set by Recover

  std::mutex damage_mutex_;
  std::string damage_;  // the first that was found; guarded by damage_mutex_

  mutable std::mutex state_mutex_;
  TableStatePtr state_;  // guarded by state_mutex_
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_
