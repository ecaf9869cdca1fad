// SPDX-License-Identifier: MIT
#include "engine/local/local_storage.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <thread>

#include "engine/local/compaction_policy.h"
#include "engine/local/dropped_columns.h"
#include "engine/local/rewrite.h"
#include "engine/local/store_file_cursor.h"
#include "engine/visibility/query_matcher.h"
#include "engine/visibility/region_scanner.h"

namespace cellfs {
namespace {

// Flush sizes that a table's memstores may reach before writers wait or are refused.
constexpr double kRoomFactor = 4;
// What deletes may have beyond that: they make room where a disk is full.
constexpr double kExtraOfDeletes = 1.25;
// Writers are slowed from so much on, the more the fuller it is, so that nobody waits for long.
constexpr double kSlowFrom = 0.75;
constexpr std::chrono::microseconds kLongestDelay{20000};
constexpr int kCompactAttempts = 5;  // where the table is altered meanwhile
// A major compaction is worth it from so many cells of garbage, and so many of them in a hundred.
constexpr int64_t kLeastGarbage = 10000;
constexpr int64_t kGarbagePercent = 25;

bool HasOnlyDeletes(std::span<const RowBatch> batches) {
  return std::all_of(batches.begin(), batches.end(), [](const RowBatch& batch) {
    return std::all_of(batch.cells.begin(), batch.cells.end(),
                       [](const Cell& cell) { return IsTombstone(cell.type); });
  });
}

uint64_t UnflushedBytes(const TableState& state) {
  return state.active->memstore().bytes() +
         (state.frozen == nullptr ? 0 : state.frozen->memstore().bytes());
}

Status Gone() { return Status(StatusCode::kTableNotFound, "the table has been dropped"); }

bool MayHoldPlaceOf(const FileFacts& facts, const CellView& cell) {
  return facts.first_row <= cell.row && cell.row <= facts.last_row &&
         facts.oldest <= cell.timestamp && cell.timestamp <= facts.newest;
}

// Whether cells go with time alone.
bool HasTimeLimits(const FamilySchema& family) {
  return family.time_to_live() != kForever || family.deleted_ttl().has_value();
}

TimeRange TimesOf(const Query& query, const std::string& family) {
  const auto own = query.family_time_ranges.find(family);
  return own == query.family_time_ranges.end() ? query.time_range : own->second;
}

}  // namespace

LocalStorage::LocalStorage(std::shared_ptr<StoreContext> context, StoredTable table,
                           std::shared_ptr<const TableFolder> folder, const Manifest& manifest)
    : folder_(std::move(folder)),
      context_(std::move(context)),
      next_file_(manifest.next_file),
      flushed_(manifest.flushed) {
  StoreFiles files;
  for (const FileFacts& facts : manifest.files) {
    // The family has been dropped, and the manifest could not be told: it must not come back.
    if (table.schema->FindFamily(facts.family) == nullptr) continue;
    files.push_back(std::make_shared<StoreFile>(folder_, facts, context_->cache));
  }
  TableState state{.schema = std::move(table.schema)};
  state.active = std::make_shared<MemoryCells>(*state.schema);
  state.files = std::make_shared<TableFiles>(files);
  state_ = std::make_shared<TableState>(std::move(state));
}

TableStatePtr LocalStorage::State() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

// ---- Reading ------------------------------------------------------------------------------------

StatusOr<TableView> LocalStorage::TakeView(const Moment* moment) const {
  if (dropped_) return Gone();
  if (moment != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(TableStatePtr state,
                            context_->moments->StateFor(*moment, id(), [this] { return State(); }));
    return TableView(std::move(state), moment->sequence_id);
  }
  const std::lock_guard lock(state_mutex_);
  return TableView(state_, context_->read_point.load());
}

StatusOr<RowCells> LocalStorage::Read(const Get& get, Timestamp now) {
  if (get.moment != nullptr) now = get.moment->now;
  CELLFS_ASSIGN_OR_RETURN(const TableView view, TakeView(get.moment.get()));
  const CursorSource source = [&](const std::string& family, bool lengths_only) {
    const auto named = get.columns.find(family);
    const bool is_whole = named == get.columns.end() || named->second.empty();
    return view.OpenCursor(family, lengths_only,
                           {.row = &get.row,
                            .columns = is_whole ? nullptr : &named->second,
                            .times = TimesOf(get, family),
                            .now = now});
  };
  return RegionScanner::Read(get, {view.schema(), context_->options.site.max_row_size}, source,
                             now);
}

// Takes a view for each batch, and so holds nothing between them.
class LocalStorage::LocalScanner : public Scanner {
 public:
  LocalScanner(std::shared_ptr<LocalStorage> storage, const Scan& scan,
               std::unique_ptr<RegionScanner> scanner)
      : storage_(std::move(storage)),
        moment_(scan.moment),
        raw_(scan.raw),
        times_(scan.time_range),
        family_times_(scan.family_time_ranges),
        scanner_(std::move(scanner)) {
    if (!scan.IsOfOneRow() || scan.reversed) return;
    only_row_ = scan.start_row;
    if (scan.filter == nullptr) return;
    if (auto column = scan.filter->OnlyColumn()) only_column_.insert(*std::move(column));
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    CELLFS_ASSIGN_OR_RETURN(const TableView view, storage_->TakeView(moment_.get()));
    const Timestamp now =
        moment_ != nullptr ? moment_->now : storage_->context_->options.clock->Now();
    const CursorSource source = [&](const std::string& family, bool lengths_only) {
      return view.OpenCursor(family, lengths_only, ScopeOf(family, now));
    };
    return scanner_->Next(batch, source, now);
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  ReadScope ScopeOf(const std::string& family, Timestamp now) const {
    const auto own = family_times_.find(family);
    return {.row = only_row_ ? &*only_row_ : nullptr,
            .columns = only_column_.empty() ? nullptr : &only_column_,
            .times = own == family_times_.end() ? times_ : own->second,
            .raw = raw_,
            .now = now};
  }

  const std::shared_ptr<LocalStorage> storage_;
  const std::shared_ptr<const Moment> moment_;
  const bool raw_;
  const TimeRange times_;
  const std::map<std::string, TimeRange> family_times_;
  const std::unique_ptr<RegionScanner> scanner_;
  std::optional<std::string> only_row_;
  std::set<std::string> only_column_;  // of that row; empty: all
};

StatusOr<std::unique_ptr<Scanner>> LocalStorage::OpenScanner(const Scan& scan) {
  // A moment sees families that have gone since.
  CELLFS_ASSIGN_OR_RETURN(const TableView view, TakeView(scan.moment.get()));
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<RegionScanner> scanner,
      RegionScanner::Open(scan, {view.schema(), context_->options.site.max_row_size}));
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
  CELLFS_ASSIGN_OR_RETURN(const TableView view, TakeView());
  // A column may have thousands of versions: they are walked over only where tombstones lie among
  // them.
  CELLFS_ASSIGN_OR_RETURN(const bool of_family, view.MayHaveTombstones(family, row, {}));
  bool of_column = of_family;
  if (!qualifier.empty()) {
    CELLFS_ASSIGN_OR_RETURN(of_column, view.MayHaveTombstones(family, row, qualifier));
  }
  const std::string only_row(row);
  const std::set<std::string> columns{std::string(qualifier)};
  // Raw: a tombstone that has expired hides as before.
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<CellCursor> cursor,
      view.OpenCursor(std::string(family), true,
                      {.row = &only_row, .columns = &columns, .times = {}, .raw = true}));
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
  SequenceId last = context_->read_point.load();
  std::vector<std::vector<CellView>> cells;
  std::vector<LogRecord> records;
  cells.reserve(batches.size());
  const TableStatePtr state = State();
  const std::shared_ptr<MemoryCells>& active = state->active;
  Memstore::Addition addition = active->Begin();  // nothing may fail once the log has the cells
  for (const RowBatch& batch : batches) {
    cells.push_back(CellsOf(batch, ++last));
    active->Prepare(cells.back(), addition);
    if (batch.durability != Durability::kSkipWal) {
      records.push_back({id(), last, batch.row, cells.back()});
    }
  }
  CELLFS_ASSIGN_OR_RETURN(const LogPosition position, context_->wal->Append(records));
  const auto before = static_cast<int64_t>(active->memstore().bytes());
  addition.Finish();
  context_->memstore_bytes += static_cast<int64_t>(active->memstore().bytes()) - before;
  context_->read_point.store(last);
  context_->mutations += batches.size();
  if (static_cast<int64_t>(active->memstore().bytes()) >= FlushSizeOf(*state)) {
    context_->wake_maintenance();
  }
  return position;
}

// What cannot be flushed must not be acknowledged: no later flush of the table would succeed.
Status LocalStorage::CheckStorable(std::span<const RowBatch> batches) const {
  constexpr uint64_t kMost = StoreFileBuilder::kMostBytesOfCell;
  for (const RowBatch& batch : batches) {
    for (const Cell& cell : batch.cells) {
      const uint64_t size = batch.row.size() + cell.qualifier.size() + cell.value.size();
      if (size <= kMost) continue;
      return {StatusCode::kValueTooLarge,
              "a cell of " + std::to_string(size) +
                  " bytes, its key included, is over the store's maximum of " +
                  std::to_string(kMost)};
    }
  }
  return {};
}

double LocalStorage::Fullness(bool only_deletes) const {
  const TableStatePtr state = State();
  const auto own = static_cast<double>(UnflushedBytes(*state));
  const double of_table = own / (static_cast<double>(FlushSizeOf(*state)) * kRoomFactor);
  const double of_all = static_cast<double>(context_->memstore_bytes) /
                        static_cast<double>(context_->options.memstore_limit);
  return std::max(of_table, of_all) / (only_deletes ? kExtraOfDeletes : 1);
}

// Writers wait for flushes that are making room. Where these fail they are refused, or memory would
// grow until the process ends. While nobody flushes they go on.
Status LocalStorage::WaitForRoom(bool only_deletes) {
  double fullness = Fullness(only_deletes);
  if (fullness < kSlowFrom) return {};
  const auto can_wait = [&] {
    return context_->maintained && context_->failing_tables == 0 && !dropped_;
  };
  if (fullness < 1) {
    if (can_wait())
      std::this_thread::sleep_for(kLongestDelay * (fullness - kSlowFrom) / (1 - kSlowFrom));
    return {};
  }
  for (; fullness >= 1 && can_wait(); fullness = Fullness(only_deletes)) {
    context_->wake_maintenance();
    std::unique_lock lock(context_->room_mutex);
    context_->room_made.wait_for(lock, std::chrono::milliseconds(100));
  }
  if (fullness < 1 || context_->failing_tables == 0 || dropped_) return {};
  const std::lock_guard lock(context_->room_mutex);
  return {context_->flush_error.code(),
          "no memory is left for writes until the store can be flushed: " +
              context_->flush_error.message()};
}

void LocalStorage::Recover(const LogRecord& record) {
  if (record.sequence_id <= flushed()) return;
  const std::shared_ptr<MemoryCells> active = State()->active;
  Memstore::Addition addition = active->Begin();
  active->Prepare(record.cells, addition);
  const auto before = static_cast<int64_t>(active->memstore().bytes());
  addition.Finish();
  context_->memstore_bytes += static_cast<int64_t>(active->memstore().bytes()) - before;
}

void LocalStorage::SettleRecovered() { context_->wal->Flushed(id(), flushed()); }

// ---- Flush --------------------------------------------------------------------------------------

int64_t LocalStorage::FlushSizeOf(const TableState& state) const {
  return state.schema->memstore_flush_size().value_or(context_->options.site.memstore_flush_size);
}

Rewrite LocalStorage::RewriteNow(RewriteKind kind) const {
  return {.kind = kind,
          .now = context_->options.clock->Now(),
          .time_to_purge_deletes = context_->options.site.time_to_purge_deletes};
}

Status LocalStorage::Flush() {
  const std::lock_guard flush_lock(flush_mutex_);
  return FlushLocked();
}

// What a failed flush has left comes first, for its cells are older.
Status LocalStorage::FlushLocked() {
  for (;;) {
    if (dropped_) return Status();
    if (State()->frozen == nullptr) Freeze();
    const TableStatePtr state = State();
    if (state->frozen == nullptr) return Status();
    const bool again = flush_failed_;
    Status status;
    try {
      status = FlushFrozen(state);
      // Readers may have the descriptors, and not need them.
      if (status.code() == StatusCode::kIoError && context_->cache.readers.CloseIdle())
        status = FlushFrozen(state);
    } catch (const std::bad_alloc&) {
      FlushEnded({StatusCode::kIoError, "out of memory"});
      throw;
    }
    // What is in force has freed its memory.
    FlushEnded(status.code() == StatusCode::kOutcomeUnknown ? Status() : status);
    CELLFS_RETURN_IF_ERROR(status);
    if (!again) return Status();
  }
}

void LocalStorage::FlushEnded(const Status& status) {
  {
    const std::lock_guard lock(context_->room_mutex);
    if (flush_failed_ != !status.ok()) context_->failing_tables += status.ok() ? -1 : 1;
    flush_failed_ = !status.ok();
    if (!status.ok())
      context_->flush_error = {status.code(),
                               "table '" + name().ToString() + "': " + status.message()};
  }
  context_->room_made.notify_all();
}

// Nothing where the active memstore is empty.
void LocalStorage::Freeze() {
  const std::lock_guard write_lock(context_->write_mutex);  // no mutation is half in
  const TableStatePtr now = State();
  if (now->active->memstore().cells() == 0) return;
  auto next = std::make_shared<TableState>(*now);
  next->frozen = std::exchange(next->active, std::make_shared<MemoryCells>(*now->schema));
  const std::lock_guard state_lock(state_mutex_);
  state_ = std::move(next);
}

// A moment that is pinned meanwhile goes on with the memstore.
Status LocalStorage::FlushFrozen(const TableStatePtr& state) {
  // Without a new segment the log only keeps more than it must; it says itself what is wrong with
  // it.
  static_cast<void>(context_->wal->Roll());
  const SequenceId keep_up_to = context_->moments->Newest();
  DroppedColumns dropped;
  FileChange change{.added = {},
                    .removed = {},
                    .flushed = state->frozen->memstore().highest_sequence_id(),
                    .complete_up_to = keep_up_to};
  CELLFS_ASSIGN_OR_RETURN(change.added, WriteFiles(state, keep_up_to, dropped));
  const Status committed = Commit(change, [](TableState& next) { next.frozen = nullptr; });
  if (!committed.ok() && committed.code() != StatusCode::kOutcomeUnknown) return committed;
  TellObserver(std::move(dropped), state);
  ++flushes_;
  if (durable_) context_->wal->Flushed(id(), flushed());
  return committed;
}

StatusOr<std::vector<FileFacts>> LocalStorage::WriteFiles(const TableStatePtr& state,
                                                          SequenceId keep_up_to,
                                                          DroppedColumns& dropped) {
  std::vector<FileFacts> written;
  for (const auto& [name, family] : state->schema->families) {
    if (state->frozen->memstore().CellsOfFamily(name) == 0) continue;
    StatusOr<std::optional<FileFacts>> facts = WriteFamily(state, family, keep_up_to, dropped);
    if (!facts.ok()) {
      Discard(written);
      return facts.status();
    }
    if (facts->has_value()) written.push_back(**std::move(facts));
  }
  return written;
}

StatusOr<std::optional<FileFacts>> LocalStorage::WriteFamily(const TableStatePtr& state,
                                                             const FamilySchema& family,
                                                             SequenceId keep_up_to,
                                                             DroppedColumns& dropped) {
  const Memstore& memstore = state->frozen->memstore();
  Rewrite rules = RewriteNow(RewriteKind::kMinor);
  rules.keep_up_to = keep_up_to;
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<StoreFileBuilder> builder,
      StoreFileBuilder::Begin(
          folder_, family,
          {.number = next_file_++,
           .inline_value_limit = context_->options.inline_value_limit,
           .cells_at_most = static_cast<int64_t>(memstore.CellsOfFamily(family.name())),
           .written = rules.now}));
  RewriteInput input;
  input.cells.push_back(OpenMemstoreCursor(
      std::shared_ptr<const Memstore>(state->frozen, &memstore), family.name(), kMaxSequenceId));
  input.is_withdrawn_in_memory = [&](const CellView& cell) {
    return state->active->MayWithdraw(family.name(), cell);
  };
  input.older_may_hold = [&](const CellView& withdrawal) {
    const StoreFiles& files = state->files->Of(family.name());
    return std::any_of(files.begin(), files.end(),
                       [&](const auto& file) { return MayHoldPlaceOf(file->facts(), withdrawal); });
  };
  input.stopped = [this] { return dropped_.load(); };
  CELLFS_RETURN_IF_ERROR(RewriteFamily(std::move(input), family, rules, *builder, dropped));
  return builder->Finish(context_->files, flushed() + 1, memstore.highest_sequence_id());
}

// Files that nothing has named.
void LocalStorage::Discard(const std::vector<FileFacts>& files) const {
  for (const FileFacts& facts : files)
    std::remove((folder_->path() + "/" + StoreFileName(facts.number)).c_str());
}

Status LocalStorage::Commit(const FileChange& change, const NextState& next) {
  const std::lock_guard commit_lock(commit_mutex_);
  StoreFiles files = State()->files->All();
  const size_t found = std::erase_if(files, [&](const auto& file) {
    return std::find(change.removed.begin(), change.removed.end(), file) != change.removed.end();
  });
  if (found != change.removed.size() || dropped_) {
    Discard(change.added);
    return {StatusCode::kUnavailable, "the table has been altered meanwhile"};
  }
  for (const FileFacts& facts : change.added)
    files.push_back(std::make_shared<StoreFile>(folder_, facts, context_->cache));
  Manifest manifest{.store_id = folder_->store_id(),
                    .table = id(),
                    .flushed = std::max(flushed(), change.flushed),
                    .next_file = next_file_,
                    .files = {}};
  for (const auto& file : files) manifest.files.push_back(file->facts());
  // Nothing may fail once the manifest is in place.
  const auto after_files = std::make_shared<const TableFiles>(files);
  const auto after = std::make_shared<TableState>();
  const Status saved = SaveManifest(context_->files, folder_->path(), manifest);
  if (!saved.ok() && saved.code() != StatusCode::kOutcomeUnknown) {
    Discard(change.added);
    return saved;
  }
  if (!saved.ok()) durable_ = false;
  {
    const std::lock_guard write_lock(context_->write_mutex);
    const auto moments_lock = context_->moments->HoldOff();
    const TableStatePtr before = State();
    *after = *before;
    after->files = after_files;
    next(*after);
    if (change.complete_up_to) {
      context_->moments->KeepOverFlush(moments_lock, id(), before, after, *change.complete_up_to);
    } else {
      context_->moments->Keep(moments_lock, id(), before);
    }
    flushed_ = manifest.flushed;
    for (const auto& cells : {before->active, before->frozen})
      if (cells != nullptr && cells != after->active && cells != after->frozen)
        context_->memstore_bytes -= static_cast<int64_t>(cells->memstore().bytes());
    const std::lock_guard state_lock(state_mutex_);
    state_ = after;
  }
  if (durable_) {
    for (const auto& file : change.removed) file->SetObsolete();
  }
  return saved;
}

// Tombstones that come now are no concern: who reads them sees the rewrite as well.
void LocalStorage::TellObserver(DroppedColumns dropped, const TableStatePtr& before) {
  const TableView view(before, kMaxSequenceId);
  if (dropped.empty() || !view.MayHaveTombstones()) return;
  const TableName& table = before->schema->name();
  std::vector<RewrittenColumn> changed;
  if (!dropped.too_many()) {
    changed = std::move(dropped).Changed(
        [&](const std::string& family, const std::string& row, std::string_view qualifier) {
          const StatusOr<bool> may_have = view.MayHaveTombstones(family, row, qualifier);
          return !may_have.ok() || *may_have;
        });
    if (changed.empty()) return;
  }
  const std::lock_guard lock(context_->observer_mutex);
  if (context_->observer == nullptr) return;
  if (changed.empty()) {
    context_->observer->TableRewritten(table);
  } else {
    context_->observer->Rewritten(table, changed);
  }
}

bool LocalStorage::WantsFlush() const {
  const TableStatePtr state = State();
  return !dropped_ &&
         (state->frozen != nullptr ||
          static_cast<int64_t>(state->active->memstore().bytes()) >= FlushSizeOf(*state));
}

bool LocalStorage::HasUnflushed() const {
  const TableStatePtr state = State();
  return state->frozen != nullptr || state->active->memstore().cells() > 0;
}

uint64_t LocalStorage::memstore_bytes() const { return UnflushedBytes(*State()); }

// ---- Compaction ---------------------------------------------------------------------------------

// Every file of every family.
Status LocalStorage::Compact(CompactionKind kind) {
  const std::lock_guard compact_lock(compact_mutex_);
  const std::shared_ptr<const TableSchema> schema = State()->schema;
  for (const auto& [name, family] : schema->families) {
    for (int attempt = 1;; ++attempt) {
      CELLFS_RETURN_IF_ERROR(DropExpired(family).status());
      const Status status = CompactSelection({family, State()->files->Of(name), kind}, {});
      if (status.code() == StatusCode::kUnavailable && attempt < kCompactAttempts && !dropped_)
        continue;
      CELLFS_RETURN_IF_ERROR(status);
      break;
    }
  }
  ++compactions_;
  return Status();
}

StatusOr<bool> LocalStorage::CompactByPolicy(const std::function<bool()>& stopped) {
  const std::lock_guard compact_lock(compact_mutex_);
  const std::shared_ptr<const TableSchema> schema = State()->schema;
  if (!schema->compaction_enabled()) return false;
  for (const auto& [name, family] : schema->families) {
    if (dropped_) return false;
    CELLFS_ASSIGN_OR_RETURN(const bool has_dropped, DropExpired(family));
    if (has_dropped) return true;
    const std::optional<Selection> selection = SelectByPolicy(family);
    if (!selection) continue;
    const Status status = CompactSelection(*selection, stopped);
    if (status.code() == StatusCode::kCancelled || status.code() == StatusCode::kUnavailable)
      return false;
    CELLFS_RETURN_IF_ERROR(status);
    ++compactions_;
    return true;
  }
  return false;
}

std::optional<LocalStorage::Selection> LocalStorage::SelectByPolicy(
    const FamilySchema& family) const {
  const StoreFiles files = State()->files->Of(family.name());
  if (files.empty()) return std::nullopt;
  int64_t cells = 0;
  int64_t garbage = 0;
  std::vector<uint64_t> sizes;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    cells += facts.cells;
    // A tombstone stands for itself and for what it hides.
    if (!facts.is_major) garbage += facts.surplus + 2 * (facts.tombstones + facts.withdrawals);
    sizes.push_back(facts.bytes);
    oldest = std::min(oldest, facts.written);
  }
  const bool is_worth_it = garbage >= kLeastGarbage && garbage * 100 >= cells * kGarbagePercent;
  if (is_worth_it || IsMajorDue(family, files, oldest))
    return Selection{family, files, CompactionKind::kMajor};
  const SiteSettings& site = context_->options.site;
  const CompactionLimits limits{.min_files = static_cast<size_t>(site.compaction_min),
                                .max_files = static_cast<size_t>(site.compaction_max),
                                .ratio = site.compaction_ratio,
                                .min_size = static_cast<uint64_t>(FlushSizeOf(*State())),
                                .blocking_files = static_cast<size_t>(site.blocking_store_files)};
  const auto range = SelectCompaction(sizes, limits);
  if (!range) return std::nullopt;
  const auto begin = files.begin() + static_cast<ptrdiff_t>(range->begin);
  const auto end = files.begin() + static_cast<ptrdiff_t>(range->end);
  const bool is_all = range->begin == 0 && range->end == files.size();
  return Selection{family, StoreFiles(begin, end),
                   is_all ? CompactionKind::kMajor : CompactionKind::kMinor};
}

bool LocalStorage::IsMajorDue(const FamilySchema& family, const StoreFiles& files,
                              Timestamp oldest) const {
  const SiteSettings& site = context_->options.site;
  if (files.size() >= static_cast<size_t>(site.compaction_max)) return false;
  // Nothing would come of it but what time has ended since.
  if (files.size() == 1 && files.front()->facts().is_major && !HasTimeLimits(family)) return false;
  return NeedsMajor(
      context_->options.clock->Now(), oldest,
      {.period = site.major_compaction_period, .jitter = site.major_compaction_jitter},
      name().ToString(), family.name());
}

// A file that is expired as a whole goes unread.
StatusOr<bool> LocalStorage::DropExpired(const FamilySchema& family) {
  if (family.min_versions() != 0) return false;
  const Timestamp oldest = OldestUnexpired(family, context_->options.clock->Now());
  FileChange change;
  for (const auto& file : State()->files->Of(family.name()))
    if (file->facts().newest < oldest) change.removed.push_back(file);
  if (change.removed.empty()) return false;
  CELLFS_RETURN_IF_ERROR(Commit(change, [](TableState&) {}));
  return true;
}

Status LocalStorage::CompactSelection(const Selection& selection,
                                      const std::function<bool()>& stopped) {
  if (selection.files.empty()) return Status();
  const FamilySchema& family = selection.family;
  const TableStatePtr state = State();
  const bool major = selection.kind == CompactionKind::kMajor;
  Rewrite rules = RewriteNow(major ? RewriteKind::kMajor : RewriteKind::kMinor);
  BuilderOptions options{.number = next_file_++,
                         .inline_value_limit = context_->options.inline_value_limit,
                         .written = rules.now,
                         .is_major = major};
  for (const auto& file : selection.files) {
    rules.oldest_put = std::min(rules.oldest_put, file->facts().oldest_put);
    options.cells_at_most += file->facts().cells;
    if (!major) options.written = std::min(options.written, file->facts().written);
  }
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, InputOf(state, selection));
  input.stopped = [&] { return dropped_ || (stopped && stopped()); };
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreFileBuilder> builder,
                          StoreFileBuilder::Begin(folder_, family, options));
  DroppedColumns dropped;
  CELLFS_RETURN_IF_ERROR(RewriteFamily(std::move(input), family, rules, *builder, dropped));
  CELLFS_ASSIGN_OR_RETURN(std::optional<FileFacts> facts,
                          builder->Finish(context_->files, selection.files.front()->facts().lowest,
                                          selection.files.back()->facts().highest));
  FileChange change{.added = {}, .removed = selection.files};
  if (facts) change.added.push_back(*std::move(facts));
  const TableStatePtr before = State();
  const Status committed = Commit(change, [](TableState&) {});
  if (committed.ok() || committed.code() == StatusCode::kOutcomeUnknown)
    TellObserver(std::move(dropped), before);
  return committed;
}

StatusOr<RewriteInput> LocalStorage::InputOf(const TableStatePtr& state,
                                             const Selection& selection) const {
  RewriteInput input;
  for (const auto& file : selection.files) {
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    input.cells.push_back(std::make_unique<StoreFileCursor>(std::move(lease), kMaxSequenceId,
                                                            /*lengths_only=*/false));
  }
  const FileFacts& oldest = selection.files.front()->facts();
  const FileFacts& newest = selection.files.back()->facts();
  std::vector<FileFacts> older;
  for (const auto& file : state->files->Of(selection.family.name())) {
    const FileFacts& facts = file->facts();
    if (facts.highest < oldest.lowest) older.push_back(facts);
    if (facts.lowest <= newest.highest || facts.withdrawals == 0) continue;
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    input.newer_withdrawals.push_back(OpenWithdrawals(std::move(lease)));
  }
  input.older_may_hold = [older = std::move(older)](const CellView& withdrawal) {
    return std::any_of(older.begin(), older.end(),
                       [&](const FileFacts& facts) { return MayHoldPlaceOf(facts, withdrawal); });
  };
  input.is_withdrawn_in_memory = [state, family = selection.family.name()](const CellView& cell) {
    return state->active->MayWithdraw(family, cell) ||
           (state->frozen != nullptr && state->frozen->MayWithdraw(family, cell));
  };
  return input;
}

// ---- The table as a whole -----------------------------------------------------------------------

// The caller has seen to it that nobody writes.
Status LocalStorage::ReplaceSchema(std::shared_ptr<const TableSchema> schema) {
  const std::lock_guard flush_lock(flush_mutex_);
  const Status flushed = FlushLocked();
  if (flushed.code() != StatusCode::kOutcomeUnknown) CELLFS_RETURN_IF_ERROR(flushed);
  FileChange change;
  for (const auto& file : State()->files->All())
    if (schema->FindFamily(file->facts().family) == nullptr) change.removed.push_back(file);
  auto active = std::make_shared<MemoryCells>(*schema);
  return Commit(change, [&](TableState& next) {
    next.active = std::move(active);
    next.schema = std::move(schema);
  });
}

Status LocalStorage::Truncate() {
  const std::lock_guard flush_lock(flush_mutex_);
  // A replay of the log leaves out what has been flushed, so it does not bring the cells back.
  FileChange change{
      .added = {}, .removed = State()->files->All(), .flushed = context_->read_point.load()};
  auto active = std::make_shared<MemoryCells>(*State()->schema);
  const Status committed = Commit(change, [&](TableState& next) {
    next.active = std::move(active);
    next.frozen = nullptr;
  });
  if (!committed.ok() && committed.code() != StatusCode::kOutcomeUnknown) return committed;
  FlushEnded({});
  if (durable_) context_->wal->Flushed(id(), flushed());
  return committed;
}

void LocalStorage::Drop() {
  dropped_ = true;  // ends flush and compaction, soon
  const std::lock_guard flush_lock(flush_mutex_);
  const std::lock_guard compact_lock(compact_mutex_);
  std::error_code ignored;  // what is left is found when the store is opened the next time
  std::filesystem::remove_all(folder_->path(), ignored);
  context_->wal->DropTable(id());
  FlushEnded({});
  context_->memstore_bytes -= static_cast<int64_t>(memstore_bytes());
}

TableStatistics LocalStorage::GetStatistics() {
  const TableStatePtr state = State();
  TableStatistics statistics;
  for (const auto& cells : {state->active, state->frozen}) {
    if (cells == nullptr) continue;
    statistics.memstore_bytes += cells->memstore().cells() == 0 ? 0 : cells->memstore().bytes();
    statistics.memstore_cells += cells->memstore().cells();
  }
  statistics.file_bytes = state->files->bytes();
  statistics.flushes = flushes_;
  statistics.compactions = compactions_;
  return statistics;
}

}  // namespace cellfs
