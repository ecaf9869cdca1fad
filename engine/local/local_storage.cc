// SPDX-License-Identifier: MIT
#include "engine/local/local_storage.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "engine/local/compaction.h"
#include "engine/local/dropped_columns.h"
#include "engine/local/flush.h"
#include "engine/visibility/region_scanner.h"

namespace cellfs {
namespace {

// Flush sizes that a memstore may reach before writers wait or are refused. Deletes have more, for
// they make room where a disk is full.
constexpr int64_t kRoomFactor = 4;
constexpr int64_t kRoomFactorOfDeletes = 5;
constexpr uint64_t kShrinkAt = 64 << 20;  // free bytes between batches
constexpr int kCompactAttempts = 5;       // where moments are pinned meanwhile
// A compaction is worth it from so many cells of garbage, and so many of them in a hundred.
constexpr int64_t kLeastGarbage = 10000;
constexpr int64_t kGarbagePercent = 25;

std::vector<std::string> FamilyNames(const TableSchema& schema) {
  std::vector<std::string> names;
  for (const auto& [name, family] : schema.families) names.push_back(name);
  return names;
}

size_t HashOfColumn(std::string_view family, std::string_view row, std::string_view qualifier) {
  const std::hash<std::string_view> hash;
  return (hash(row) * 31 + hash(qualifier)) * 31 + hash(family);
}

size_t HashOfCell(std::string_view family, const CellView& cell, CellType type) {
  const size_t column = HashOfColumn(family, cell.row, cell.qualifier);
  return (column * 31 + static_cast<size_t>(cell.timestamp)) * 31 + static_cast<size_t>(type);
}

bool HasOnlyDeletes(std::span<const RowBatch> batches) {
  return std::all_of(batches.begin(), batches.end(), [](const RowBatch& batch) {
    return std::all_of(batch.cells.begin(), batch.cells.end(),
                       [](const Cell& cell) { return IsTombstone(cell.type); });
  });
}

Status Gone() { return Status(StatusCode::kTableNotFound, "the table has been dropped"); }

}  // namespace

LocalStorage::MemoryCells::MemoryCells(const TableSchema& schema)
    : memstore_(FamilyNames(schema)) {}

void LocalStorage::MemoryCells::Prepare(std::span<const CellView> cells,
                                        Memstore::Addition& addition) {
  for (const CellView& cell : cells) {
    if (!IsTombstone(cell.type)) continue;
    const std::lock_guard lock(mutex_);
    if (cell.type == kWithdrawMarker) {
      const auto type = static_cast<CellType>(cell.value[0]);
      withdrawn_[HashOfCell(cell.family, cell, type)] = cell.sequence_id;
      any_withdrawals_ = true;
    } else {
      tombstoned_.insert(HashOfColumn(cell.family, cell.row, cell.qualifier));
      any_tombstones_ = true;
    }
  }
  addition.Prepare(cells);
}

bool LocalStorage::MemoryCells::MayHaveTombstones(std::string_view family, std::string_view row,
                                                  std::string_view qualifier) const {
  if (!any_tombstones_) return false;
  const std::lock_guard lock(mutex_);
  return tombstoned_.contains(HashOfColumn(family, row, qualifier));
}

bool LocalStorage::MemoryCells::MayWithdraw(std::string_view family, const CellView& cell) const {
  if (!any_withdrawals_) return false;
  const std::lock_guard lock(mutex_);
  const auto found = withdrawn_.find(HashOfCell(family, cell, cell.type));
  return found != withdrawn_.end() && cell.sequence_id < found->second;
}

LocalStorage::LocalStorage(std::shared_ptr<StoreContext> context, StoredTable table,
                           std::shared_ptr<StoreFile> file)
    : id_(table.id), context_(std::move(context)), file_(std::move(file)) {
  state_.active = std::make_shared<MemoryCells>(*table.schema);
  state_.schema = std::move(table.schema);
}

TableName LocalStorage::name() const { return CopyState().schema->name(); }

LocalStorage::State LocalStorage::CopyState() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

// ---- Reading ------------------------------------------------------------------------------------

// The snapshot comes first, so that nothing is in it that the read point leaves out. A flush that
// was published since then shows in the state's generation, and the snapshot is taken anew.
StatusOr<LocalStorage::View> LocalStorage::TakeView(const std::shared_ptr<const Moment>& moment) {
  for (;;) {
    if (dropped_) return Gone();
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Snapshot snapshot, file_->OpenSnapshot());
    View view{std::move(snapshot), {}, 0};
    {
      const std::lock_guard lock(state_mutex_);
      view.state = state_;
      view.read_point = context_->read_point.load();
    }
    if (view.snapshot.generation() < view.state.generation) continue;
    // Committed to the file, but not taken out of the state yet.
    if (view.state.frozen != nullptr &&
        view.state.frozen->memstore().highest_sequence_id() <= view.snapshot.flushed()) {
      view.state.frozen = nullptr;
    }
    if (moment != nullptr) view.read_point = moment->sequence_id;
    return view;
  }
}

StatusOr<std::unique_ptr<CellCursor>> LocalStorage::OpenCursor(
    View& view, const std::string& family, bool lengths_only,
    const std::set<std::string>* columns) {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const auto& cells : {view.state.active, view.state.frozen}) {
    if (cells == nullptr || cells->memstore().CellsOfFamily(family) == 0) continue;
    cursors.push_back(OpenMemstoreCursor(std::shared_ptr<const Memstore>(cells, &cells->memstore()),
                                         family, view.read_point, lengths_only));
  }
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<CellCursor> stored,
      view.snapshot.OpenCursor(family, view.read_point, lengths_only, view.only_row));
  if (stored != nullptr && cursors.empty()) return stored;  // withdrawals are never in a file
  if (stored != nullptr) cursors.push_back(std::move(stored));
  std::optional<CursorScope> scope;
  if (view.only_row != nullptr) scope = {*view.only_row, columns};
  return MergeCursors(std::move(cursors), scope);
}

StatusOr<RowCells> LocalStorage::Read(const Get& get, Timestamp now) {
  CELLFS_ASSIGN_OR_RETURN(View view, TakeView(get.moment));
  view.only_row = &get.row;
  const CursorSource source = [&](const std::string& family, bool lengths_only) {
    const auto named = get.columns.find(family);
    const bool is_whole = named == get.columns.end() || named->second.empty();
    return OpenCursor(view, family, lengths_only, is_whole ? nullptr : &named->second);
  };
  return RegionScanner::Read(get, {view.state.schema, context_->options.site.max_row_size}, source,
                             get.moment != nullptr ? get.moment->now : now);
}

// Takes a view for each batch, and so holds nothing between them.
class LocalStorage::LocalScanner : public Scanner {
 public:
  LocalScanner(std::shared_ptr<LocalStorage> storage, const Scan& scan,
               std::unique_ptr<RegionScanner> scanner)
      : storage_(std::move(storage)), moment_(scan.moment), scanner_(std::move(scanner)) {
    if (!scan.IsOfOneRow() || scan.reversed) return;
    only_row_ = scan.start_row;
    if (scan.filter == nullptr) return;
    if (auto column = scan.filter->OnlyColumn()) only_column_.insert(*std::move(column));
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    CELLFS_ASSIGN_OR_RETURN(View view, storage_->TakeView(moment_));
    if (only_row_) view.only_row = &*only_row_;
    const auto* const columns = only_column_.empty() ? nullptr : &only_column_;
    const CursorSource source = [&](const std::string& family, bool lengths_only) {
      return OpenCursor(view, family, lengths_only, columns);
    };
    return scanner_->Next(
        batch, source,
        moment_ != nullptr ? moment_->now : storage_->context_->options.clock->Now());
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  const std::shared_ptr<LocalStorage> storage_;
  const std::shared_ptr<const Moment> moment_;
  const std::unique_ptr<RegionScanner> scanner_;
  std::optional<std::string> only_row_;
  std::set<std::string> only_column_;  // of that row; empty: all
};

StatusOr<std::unique_ptr<Scanner>> LocalStorage::OpenScanner(const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<RegionScanner> scanner,
      RegionScanner::Open(scan, {CopyState().schema, context_->options.site.max_row_size}));
  return std::unique_ptr<Scanner>(
      std::make_unique<LocalScanner>(shared_from_this(), scan, std::move(scanner)));
}

namespace {

void TakeTombstone(const CellView& cell, ColumnHead* head) {
  if (cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily) {
    head->newest_wide_tombstone = std::max(head->newest_wide_tombstone, cell.timestamp);
  } else {
    head->version_tombstones.push_back(cell.timestamp);
  }
}

}  // namespace

StatusOr<ColumnHead> LocalStorage::ReadColumnHead(std::string_view row, std::string_view family,
                                                  std::string_view qualifier) {
  CELLFS_ASSIGN_OR_RETURN(View view, TakeView());
  const std::string only_row(row);
  view.only_row = &only_row;
  // A column may have thousands of versions: they are walked over only where tombstones lie among
  // them.
  const auto has_tombstones = [&](std::string_view column) -> StatusOr<bool> {
    for (const auto& cells : {view.state.active, view.state.frozen}) {
      if (cells != nullptr && cells->MayHaveTombstones(family, row, column)) return true;
    }
    return view.snapshot.HasTombstones(family, row, column);
  };
  CELLFS_ASSIGN_OR_RETURN(const bool of_family, has_tombstones({}));
  bool of_column = of_family;
  if (!qualifier.empty()) {
    CELLFS_ASSIGN_OR_RETURN(of_column, has_tombstones(qualifier));
  }
  const std::set<std::string> columns{std::string(qualifier)};
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor,
                          OpenCursor(view, std::string(family), true, &columns));
  ColumnHead head;
  const auto walk = [&](std::string_view column, bool to_the_end) -> Status {
    CELLFS_RETURN_IF_ERROR(cursor->Seek({row, column}));
    for (; cursor->valid();) {
      const CellView& cell = cursor->cell();
      if (cell.row != row || cell.qualifier != column) break;
      if (IsTombstone(cell.type)) {
        if (column == qualifier || IsFamilyTombstone(cell.type)) TakeTombstone(cell, &head);
      } else if (column == qualifier && head.Counts(cell.timestamp)) {
        head.newest_put = std::max(head.newest_put, cell.timestamp);
        if (!to_the_end) break;
      }
      CELLFS_RETURN_IF_ERROR(cursor->Next());
    }
    return Status();
  };
  if (of_family && !qualifier.empty()) CELLFS_RETURN_IF_ERROR(walk({}, true));
  CELLFS_RETURN_IF_ERROR(walk(qualifier, of_column));
  std::sort(head.version_tombstones.rbegin(), head.version_tombstones.rend());
  return head;
}

// ---- Writing ------------------------------------------------------------------------------------

StatusOr<LogPosition> LocalStorage::Apply(std::span<RowBatch> batches) {
  CELLFS_RETURN_IF_ERROR(CheckStorable(batches));
  CELLFS_RETURN_IF_ERROR(WaitForRoom(HasOnlyDeletes(batches)));
  const std::lock_guard write_lock(context_->write_mutex);
  std::unique_lock<std::mutex> moments_lock;
  const bool withdraws = std::any_of(batches.begin(), batches.end(), [](const RowBatch& batch) {
    return !batch.withdrawn.empty();
  });
  if (withdraws) {
    moments_lock = context_->moments->HoldOff();
    if (context_->moments->AnyPinned(moments_lock)) {
      CELLFS_RETURN_IF_ERROR(CheckWithdrawable(batches, context_->moments->Newest(moments_lock)));
    }
  }

  SequenceId last = context_->read_point.load();
  std::vector<std::vector<CellView>> cells;
  std::vector<LogRecord> records;
  cells.reserve(batches.size());
  const std::shared_ptr<MemoryCells> active = CopyState().active;
  Memstore::Addition addition = active->Begin();  // nothing may fail once the log has the cells
  for (const RowBatch& batch : batches) {
    cells.push_back(CellsOf(batch, ++last));
    active->Prepare(cells.back(), addition);
    if (batch.durability != Durability::kSkipWal) {
      records.push_back({id_, last, batch.row, cells.back()});
    }
  }
  CELLFS_ASSIGN_OR_RETURN(const LogPosition position, context_->wal->Append(records));
  addition.Finish();
  context_->read_point.store(last);
  context_->mutations += batches.size();
  if (static_cast<int64_t>(active->memstore().bytes()) >= FlushSize()) {
    context_->wake_maintenance();
  }
  return position;
}

// What cannot be flushed must not be acknowledged: no later flush of the table would succeed.
Status LocalStorage::CheckStorable(std::span<const RowBatch> batches) const {
  for (const RowBatch& batch : batches) {
    for (const Cell& cell : batch.cells) {
      const uint64_t size = batch.row.size() + cell.qualifier.size() + cell.value.size();
      if (size <= file_->most_bytes_of_cell()) continue;
      return {StatusCode::kValueTooLarge,
              "a cell of " + std::to_string(size) +
                  " bytes, its key included, is over the store's maximum of " +
                  std::to_string(file_->most_bytes_of_cell())};
    }
  }
  return {};
}

// Writers wait for a flush that is making room. Where the last one has failed they are refused, or
// memory would grow until the process ends. While nobody flushes they go on.
Status LocalStorage::WaitForRoom(bool only_deletes) {
  const int64_t most = FlushSize() * (only_deletes ? kRoomFactorOfDeletes : kRoomFactor);
  std::unique_lock lock(state_mutex_);
  const auto has_room = [&] {
    const uint64_t frozen = state_.frozen == nullptr ? 0 : state_.frozen->memstore().bytes();
    return static_cast<int64_t>(state_.active->memstore().bytes() + frozen) < most;
  };
  while (!has_room() && context_->maintained && flush_error_.ok() && !dropped_) {
    flush_done_.wait_for(lock, std::chrono::milliseconds(100));
  }
  if (flush_error_.ok() || has_room() || dropped_) return {};
  return {flush_error_.code(),
          "table '" + state_.schema->name().ToString() +
              "' takes no more until it can be flushed: " + flush_error_.message()};
}

// kUnavailable where a moment may see a cell that is to be withdrawn.
Status LocalStorage::CheckWithdrawable(std::span<const RowBatch> batches,
                                       SequenceId newest_moment) {
  CELLFS_ASSIGN_OR_RETURN(View view, TakeView());
  for (const RowBatch& batch : batches) {
    view.only_row = &batch.row;
    for (const WithdrawCell& withdrawn : batch.withdrawn) {
      const std::set<std::string> columns{withdrawn.qualifier};
      CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor,
                              OpenCursor(view, withdrawn.family, true, &columns));
      CELLFS_RETURN_IF_ERROR(cursor->Seek({batch.row, withdrawn.qualifier, withdrawn.timestamp}));
      while (cursor->valid()) {
        const CellView& cell = cursor->cell();
        if (cell.row != batch.row || cell.qualifier != withdrawn.qualifier ||
            cell.timestamp != withdrawn.timestamp) {
          break;
        }
        if (cell.type == withdrawn.type && cell.sequence_id <= newest_moment) {
          return Status(StatusCode::kUnavailable,
                        "a pinned moment may see the cell that is to be withdrawn");
        }
        CELLFS_RETURN_IF_ERROR(cursor->Next());
      }
    }
  }
  return Status();
}

void LocalStorage::Recover(const LogRecord& record) {
  if (record.sequence_id <= flushed()) return;
  Memstore::Addition addition = state_.active->Begin();
  state_.active->Prepare(record.cells, addition);
  addition.Finish();
}

// A process that died may have committed what it had not synced. Where that cannot be synced now,
// the log keeps it for the next flush.
void LocalStorage::SettleRecovered() {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  if (file_->is_recovered()) {
    static_cast<void>(Settle());
  } else {
    context_->wal->Flushed(id_, flushed());
  }
}

// ---- Flush --------------------------------------------------------------------------------------

int64_t LocalStorage::FlushSize() const {
  const std::lock_guard lock(state_mutex_);
  return state_.schema->memstore_flush_size().value_or(context_->options.site.memstore_flush_size);
}

Rewrite LocalStorage::RewriteNow(RewriteKind kind) const {
  return {.kind = kind,
          .now = context_->options.clock->Now(),
          .time_to_purge_deletes = context_->options.site.time_to_purge_deletes};
}

Status LocalStorage::Flush() {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  return FlushLocked();
}

// What a failed flush has left comes first, for its cells are older.
Status LocalStorage::FlushLocked() {
  for (;;) {
    if (dropped_) return Status();
    if (CopyState().frozen == nullptr) Freeze();
    const std::shared_ptr<MemoryCells> frozen = CopyState().frozen;
    if (frozen == nullptr) return unsettled_ ? Settle() : Status();
    const bool again = flush_failed();
    Status status;
    try {
      status = FlushFrozen(frozen);
    } catch (const std::bad_alloc&) {
      FlushEnded({StatusCode::kIoError, "out of memory"});
      throw;
    }
    FlushEnded(status);
    // What it has put into the WAL is of no use, and takes the room that a full disk may lack.
    if (!status.ok()) static_cast<void>(file_->Checkpoint());
    CELLFS_RETURN_IF_ERROR(status);
    if (!again) return Status();
  }
}

void LocalStorage::FlushEnded(Status status) {
  {
    const std::lock_guard lock(state_mutex_);
    flush_error_ = std::move(status);
  }
  flush_done_.notify_all();
}

bool LocalStorage::flush_failed() const {
  const std::lock_guard lock(state_mutex_);
  return !flush_error_.ok();
}

// Nothing where the active memstore is empty.
void LocalStorage::Freeze() {
  const std::lock_guard write_lock(context_->write_mutex);  // no mutation is half in
  const std::lock_guard state_lock(state_mutex_);
  if (state_.active->memstore().cells() == 0) return;
  state_.frozen = std::exchange(state_.active, std::make_shared<MemoryCells>(*state_.schema));
}

Status LocalStorage::FlushFrozen(const std::shared_ptr<MemoryCells>& frozen) {
  const std::shared_ptr<const TableSchema> schema = CopyState().schema;
  const std::shared_ptr<const Memstore> memstore(frozen, &frozen->memstore());
  // Without a new segment the log only keeps more than it must; it says itself what is wrong with
  // it.
  static_cast<void>(context_->wal->Roll());
  for (bool keep_all = context_->moments->AnyPinned();; keep_all = true) {
    DroppedColumns dropped;
    CELLFS_ASSIGN_OR_RETURN(
        std::unique_ptr<StoreFileWriter> writer,
        WriteMemstore(*file_, *schema, memstore,
                      RewriteNow(keep_all ? RewriteKind::kKeepAll : RewriteKind::kMinor),
                      context_->options.inline_value_limit, dropped));
    StatusOr<StoreFile::Snapshot> before = file_->OpenSnapshot();
    {
      const auto moments_lock = context_->moments->HoldOff();
      if (!keep_all && context_->moments->AnyPinned(moments_lock)) continue;  // pinned meanwhile
      CELLFS_RETURN_IF_ERROR(writer->Commit());
      const uint64_t generation = file_->Published();
      const std::lock_guard state_lock(state_mutex_);
      state_.frozen = nullptr;
      state_.generation = generation;
    }
    TellObserver(std::move(dropped), before, frozen.get());
    break;
  }
  ++flushes_;
  return Settle();
}

// Tombstones that come now are no concern: who reads them sees the rewrite as well.
void LocalStorage::TellObserver(DroppedColumns dropped, StatusOr<StoreFile::Snapshot>& before,
                                const MemoryCells* frozen) {
  const State state = CopyState();
  const auto has_tombstones = [&](const std::string& family, const std::string& row,
                                  std::string_view qualifier) {
    if (state.active->MayHaveTombstones(family, row, qualifier)) return true;
    if (frozen != nullptr && frozen->MayHaveTombstones(family, row, qualifier)) return true;
    if (!before.ok()) return true;
    const StatusOr<bool> stored = before->HasTombstones(family, row, qualifier);
    return !stored.ok() || *stored;
  };
  if (dropped.too_many()) {
    const std::lock_guard lock(context_->observer_mutex);
    if (context_->observer != nullptr) context_->observer->TableRewritten(state.schema->name());
    return;
  }
  const std::vector<RewrittenColumn> changed = std::move(dropped).Changed(has_tombstones);
  if (changed.empty()) return;
  const std::lock_guard lock(context_->observer_mutex);
  if (context_->observer != nullptr) context_->observer->Rewritten(state.schema->name(), changed);
}

// What is committed gets to the disk, and into the file proper if it can; then the log need not
// keep it. A checkpoint that cannot be done now is left to the next flush: the cells are safe.
Status LocalStorage::Settle() {
  unsettled_ = true;
  const Status synced = file_->MakeDurable();
  // After a failed sync nobody can say what is on disk; without room there was none.
  if (!synced.ok() && synced.code() != StatusCode::kStoreFull) durable_ = false;
  CELLFS_RETURN_IF_ERROR(synced);
  unsettled_ = false;
  const Status carried = file_->Checkpoint();
  if (durable_) context_->wal->Flushed(id_, flushed());
  if (carried.code() == StatusCode::kStoreFull)
    static_cast<void>(file_->Checkpoint());  // there is room now, where the log was cut
  return Status();
}

bool LocalStorage::WantsFlush() const {
  const State state = CopyState();
  return !dropped_ && (state.frozen != nullptr || unsettled_ ||
                       static_cast<int64_t>(state.active->memstore().bytes()) >= FlushSize());
}

// ---- Compaction ---------------------------------------------------------------------------------

Status LocalStorage::Compact(CompactionKind kind) {
  for (int attempt = 1;; ++attempt) {
    Status status = CompactUntil(kind, {});
    if (status.code() != StatusCode::kUnavailable || attempt == kCompactAttempts) return status;
  }
}

Status LocalStorage::CompactUntil(CompactionKind kind, const std::function<bool()>& stopped) {
  const std::lock_guard compact_lock(compact_mutex_);
  const bool major = kind == CompactionKind::kMajor;
  const std::shared_ptr<const TableSchema> schema = CopyState().schema;
  Rewrite rewrite = RewriteNow(major ? RewriteKind::kMajor : RewriteKind::kMinor);
  {
    const auto moments_lock = context_->moments->HoldOff();
    if (context_->moments->AnyPinned(moments_lock)) {
      rewrite.keep_up_to = context_->moments->Newest(moments_lock);
    }
  }
  for (const auto& [name, family] : schema->families) {
    if (dropped_) return Status();
    if (major && family.keep_deleted_cells() != KeepDeletedCells::kFalse) {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Snapshot snapshot, file_->OpenSnapshot());
      CELLFS_ASSIGN_OR_RETURN(rewrite.oldest_put, snapshot.OldestPut(name));
    }
    FamilyCompaction compaction(family, rewrite);
    for (bool more = true; more;) {
      if (stopped && stopped()) return Status();
      CELLFS_ASSIGN_OR_RETURN(more, CompactBatch(compaction, rewrite, schema));
      CELLFS_RETURN_IF_ERROR(Shrink(kShrinkAt));
    }
  }
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  if (dropped_) return Status();
  if (major && rewrite.keep_up_to == 0) CELLFS_RETURN_IF_ERROR(file_->ForgetGarbage());
  ++compactions_;
  CELLFS_RETURN_IF_ERROR(file_->Shrink());
  static_cast<void>(file_->Checkpoint());
  return Status();
}

// True: there are more.
StatusOr<bool> LocalStorage::CompactBatch(FamilyCompaction& compaction, const Rewrite& rewrite,
                                          const std::shared_ptr<const TableSchema>& schema) {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  if (dropped_) return Gone();
  const State state = CopyState();
  if (state.schema != schema) {
    return Status(StatusCode::kUnavailable, "the table has been altered meanwhile");
  }
  const auto is_withdrawn = [&](const CellView& cell) {
    return state.active->MayWithdraw(compaction.family(), cell) ||
           (state.frozen != nullptr && state.frozen->MayWithdraw(compaction.family(), cell));
  };
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreFileWriter> writer,
                          StoreFileWriter::Begin(*file_, context_->options.inline_value_limit));
  DroppedColumns dropped;
  CELLFS_ASSIGN_OR_RETURN(const bool more, compaction.RunBatch(*writer, is_withdrawn, dropped));
  if (dropped.empty()) return more;
  CELLFS_RETURN_IF_ERROR(writer->Prepare());
  StatusOr<StoreFile::Snapshot> before = file_->OpenSnapshot();
  {
    const auto moments_lock = context_->moments->HoldOff();
    if (context_->moments->AnyPinned(moments_lock) &&
        context_->moments->Newest(moments_lock) > rewrite.keep_up_to) {
      return Status(StatusCode::kUnavailable, "a moment was pinned during the compaction");
    }
    CELLFS_RETURN_IF_ERROR(writer->Commit());
    const uint64_t generation = file_->Published();
    const std::lock_guard state_lock(state_mutex_);
    state_.generation = generation;
  }
  TellObserver(std::move(dropped), before, CopyState().frozen.get());
  return more;
}

Status LocalStorage::Shrink(uint64_t least) {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  return dropped_ ? Status() : file_->Shrink(least);
}

bool LocalStorage::WantsCompaction() const {
  const StoreFileFacts facts = file_->facts();
  return !dropped_ && facts.garbage >= kLeastGarbage &&
         facts.garbage * 100 >= facts.cells * kGarbagePercent && !context_->moments->AnyPinned();
}

// ---- The table as a whole -----------------------------------------------------------------------

Status LocalStorage::ReplaceSchema(std::shared_ptr<const TableSchema> schema) {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  CELLFS_RETURN_IF_ERROR(FlushLocked());
  CELLFS_RETURN_IF_ERROR(file_->ReplaceFamilies(FamilyNames(*schema)));
  const uint64_t generation = file_->Published();
  const std::lock_guard write_lock(context_->write_mutex);
  const std::lock_guard state_lock(state_mutex_);
  state_.generation = generation;
  state_.active = std::make_shared<MemoryCells>(*schema);
  state_.schema = std::move(schema);
  return Status();
}

Status LocalStorage::Truncate() {
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  const std::shared_ptr<const TableSchema> schema = CopyState().schema;
  // A replay of the log leaves out what the file has, so it does not bring the cells back either.
  const SequenceId last = context_->read_point.load();
  CELLFS_RETURN_IF_ERROR(file_->DropEverything(last, FamilyNames(*schema)));
  const uint64_t generation = file_->Published();
  {
    const std::lock_guard write_lock(context_->write_mutex);
    const std::lock_guard state_lock(state_mutex_);
    state_.generation = generation;
    state_.frozen = nullptr;
    state_.active = std::make_shared<MemoryCells>(*schema);
  }
  FlushEnded({});
  if (durable_) context_->wal->Flushed(id_, last);
  return file_->Shrink();
}

void LocalStorage::Drop() {
  dropped_ = true;  // ends a compaction at its next batch
  const std::lock_guard rewrite_lock(rewrite_mutex_);
  StoreFile::Remove(file_->path());
  context_->wal->DropTable(id_);
  flush_done_.notify_all();
}

TableStatistics LocalStorage::GetStatistics() {
  const State state = CopyState();
  TableStatistics statistics;
  for (const auto& cells : {state.active, state.frozen}) {
    if (cells == nullptr) continue;
    statistics.memstore_bytes += cells->memstore().cells() == 0 ? 0 : cells->memstore().bytes();
    statistics.memstore_cells += cells->memstore().cells();
  }
  statistics.file_bytes = file_->bytes();
  statistics.flushes = flushes_;
  statistics.compactions = compactions_;
  return statistics;
}

}  // namespace cellfs
