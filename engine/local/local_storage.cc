// SPDX-License-Identifier: MIT
#include "engine/local/local_storage.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "engine/local/dropped_columns.h"
#include "engine/local/lost_tables.h"
#include "engine/visibility/region_scanner.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesOfDeletes = uint64_t{256} << 10;  // of the reserve, for the log

bool HasOnlyDeletes(std::span<const RowBatch> batches) {
  return std::all_of(batches.begin(), batches.end(), [](const RowBatch& batch) {
    return std::all_of(batch.cells.begin(), batch.cells.end(),
                       [](const Cell& cell) { return IsTombstone(cell.type); });
  });
}

Status Gone() { return Status(StatusCode::kTableNotFound, "the table has been dropped"); }

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
    if (table.schema->FindFamily(facts.family) != nullptr) {
      files.push_back(std::make_shared<StoreFile>(folder_, facts, context_->cache));
      continue;
    }
    strange_files_.push_back(facts);
    damage_ = DescribeStrangeFamily(facts.family);
  }
  TableState state{.schema = std::move(table.schema)};
  state.active = NewMemory(*state.schema);
  state.files = std::make_shared<TableFiles>(files);
  state_ = std::make_shared<TableState>(std::move(state));
}

std::shared_ptr<MemoryCells> LocalStorage::NewMemory(const TableSchema& schema) const {
  return std::make_shared<MemoryCells>(schema, context_->memory,
                                       context_->options.inline_value_limit);
}

Snapshot<TableState> LocalStorage::State() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

std::shared_ptr<const TableSchema> LocalStorage::Schema() const {
  const Snapshot<TableState> state = State();
  return state->schema;
}

StoreFiles LocalStorage::FilesOf(std::string_view family) const {
  const Snapshot<TableState> state = State();
  return state->files->Of(family);
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

namespace {

// Those asked for of the family; null: all of it.
const std::set<std::string>* NamedColumns(const Columns& columns, const std::string& family) {
  const auto named = columns.find(family);
  const bool is_whole = named == columns.end() || named->second.empty();
  return is_whole ? nullptr : &named->second;
}

}  // namespace

StatusOr<RowCells> LocalStorage::Read(const Get& get, Timestamp now) {
  if (get.moment != nullptr) now = get.moment->now;
  CELLFS_ASSIGN_OR_RETURN(const TableView view, TakeView(get.moment.get()));
  const CursorSource source = [&](const std::string& family, bool lengths_only) {
    return view.OpenCursor(family, lengths_only,
                           {.row = &get.row,
                            .columns = NamedColumns(get.columns, family),
                            .times = TimesOf(get, family),
                            .now = now});
  };
  StatusOr<RowCells> cells = RegionScanner::Read(
      get, {view.schema(), context_->options.site.max_row_size}, source, now);
  NoteDamage(cells.status());
  return cells;
}

// Takes a view for each batch, and so holds nothing between them.
class LocalStorage::LocalScanner : public Scanner {
 public:
  LocalScanner(std::shared_ptr<LocalStorage> storage, const Scan& scan,
               std::unique_ptr<RegionScanner> scanner)
      : storage_(std::move(storage)), scan_(scan), scanner_(std::move(scanner)) {
    is_of_one_row_ = scan.IsOfOneRow() && !scan.reversed;
    if (!is_of_one_row_ || scan.filter == nullptr) return;
    if (auto column = scan.filter->OnlyColumn()) only_column_.insert(*std::move(column));
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    const Moment* const moment = scan_.moment.get();
    CELLFS_ASSIGN_OR_RETURN(const TableView view, storage_->TakeView(moment));
    const Timestamp now =
        moment != nullptr ? moment->now : storage_->context_->options.clock->Now();
    const CursorSource source = [&](const std::string& family, bool lengths_only) {
      return view.OpenCursor(family, lengths_only, ScopeOf(family, now));
    };
    StatusOr<std::vector<RowCells>> rows = scanner_->Next(batch, source, now);
    storage_->NoteDamage(rows.status());
    return rows;
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  ReadScope ScopeOf(const std::string& family, Timestamp now) const {
    return {.row = is_of_one_row_ ? &scan_.start_row : nullptr,
            .columns = ColumnsOf(family),
            .times = TimesOf(scan_, family),
            .raw = scan_.raw,
            .now = now};
  }

  // Of one row; null: all.
  const std::set<std::string>* ColumnsOf(const std::string& family) const {
    if (!is_of_one_row_) return nullptr;
    if (!only_column_.empty()) return &only_column_;
    return NamedColumns(scan_.columns, family);
  }

  const std::shared_ptr<LocalStorage> storage_;
  const Scan scan_;
  const std::unique_ptr<RegionScanner> scanner_;
  bool is_of_one_row_ = false;
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
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  CELLFS_RETURN_IF_ERROR(CheckStorable(batches));
  const bool only_deletes = HasOnlyDeletes(batches);
  const StoreContext::BytesOfPut bytes = BytesOf(batches);
  DiskReserve::Claim claim;
  if (!only_deletes) CELLFS_RETURN_IF_ERROR(context_->ClaimDiskRoom(bytes, claim));
  CELLFS_RETURN_IF_ERROR(WaitForRoom(only_deletes));
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
  const auto append = [&] { return context_->wal->Append(records); };
  CELLFS_ASSIGN_OR_RETURN(
      const LogPosition position,
      only_deletes ? context_->reserve.Spend(kBytesOfDeletes, append) : append());
  active->Finish(addition);
  context_->reserve.Wrote(bytes.in_log);
  context_->read_point.store(last);
  context_->mutations += batches.size();
  if (static_cast<int64_t>(active->memstore().bytes()) >= FlushSizeOf(*state)) {
    context_->wake_maintenance();
  }
  return position;
}

Timestamp LocalStorage::NewestTimestamp() const {
  const Snapshot<TableState> state = State();
  Timestamp newest = std::max(state->files->newest(), state->active->memstore().newest());
  if (state->frozen != nullptr) newest = std::max(newest, state->frozen->memstore().newest());
  return newest;
}

Status LocalStorage::CheckRoom(uint64_t bytes) {
  DiskReserve::Claim claim;
  return context_->ClaimDiskRoom(BytesOfValue(bytes), claim);
}

// With a key as long as most are, with the owner and the time that may be stored beside, and into a
// memstore without cells, for a flush may come before the put.
StoreContext::BytesOfPut LocalStorage::BytesOfValue(uint64_t bytes) const {
  constexpr uint64_t kBeside = 2048;
  const auto limit = static_cast<uint64_t>(std::max(context_->options.inline_value_limit, 0));
  const Snapshot<TableState> state = State();
  return {.in_log = kBeside + bytes,
          .in_files = state->active->bytes_of_empty_files() +
                      MostBytesInFile(CellType::kPut, kBeside, bytes, limit)};
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

StoreContext::BytesOfPut LocalStorage::BytesOf(std::span<const RowBatch> batches) const {
  constexpr uint64_t kRecord = 64;  // its header, and what a cell has beside its bytes
  const auto limit = static_cast<uint64_t>(std::max(context_->options.inline_value_limit, 0));
  const Snapshot<TableState> state = State();
  StoreContext::BytesOfPut bytes{.in_log = 0, .in_files = state->active->BytesToBegin()};
  for (const RowBatch& batch : batches) {
    for (const Cell& cell : batch.cells) {
      const uint64_t key = batch.row.size() + cell.qualifier.size();
      bytes.in_log += kRecord + key + cell.value.size();
      bytes.in_files += MostBytesInFile(cell.type, key, cell.value.size(), limit);
    }
  }
  return bytes;
}

void LocalStorage::Recover(const LogRecord& record) {
  if (record.sequence_id <= flushed()) return;
  const Snapshot<TableState> state = State();
  for (const CellView& cell : record.cells) {
    if (state->schema->FindFamily(cell.family) == nullptr) strange_family_ = cell.family;
  }
  const std::shared_ptr<MemoryCells>& active = state->active;
  Memstore::Addition addition = active->Begin();
  active->Prepare(record.cells, addition);
  active->Finish(addition);
}

void LocalStorage::SettleRecovered() { context_->wal->Flushed(id(), flushed()); }

// ---- The table as a whole -----------------------------------------------------------------------

// Files that nothing has named.
void LocalStorage::Discard(const std::vector<FileFacts>& files) const {
  for (const FileFacts& facts : files)
    std::remove((folder_->path + "/" + StoreFileName(facts.number)).c_str());
}

Status LocalStorage::Commit(const FileChange& change, const NextState& next) {
  const std::lock_guard commit_lock(commit_mutex_);
  const Snapshot<TableState> state = State();
  StoreFiles files = state->files->All();
  const size_t found = std::erase_if(files, [&](const auto& file) {
    return std::find(change.removed.begin(), change.removed.end(), file) != change.removed.end();
  });
  if (found != change.removed.size() || dropped_) {
    Discard(change.added);
    return {StatusCode::kUnavailable, "the table has been altered meanwhile"};
  }
  for (const FileFacts& facts : change.added)
    files.push_back(std::make_shared<StoreFile>(folder_, facts, context_->cache));
  Manifest manifest{.store_id = folder_->store_id,
                    .table = id(),
                    .flushed = std::max(flushed(), change.flushed),
                    .next_file = next_file_,
                    .files = {}};
  for (const auto& file : files) manifest.files.push_back(file->facts());
  std::vector<FileFacts> strange = strange_files_;
  std::erase_if(strange, [&](const FileFacts& facts) {
    return change.schema != nullptr && change.schema->FindFamily(facts.family) != nullptr;
  });
  manifest.files.insert(manifest.files.end(), strange.begin(), strange.end());
  // Nothing may fail once the manifest is in place.
  const auto after_files = std::make_shared<const TableFiles>(files);
  const auto after = std::make_shared<TableState>();
  // The names of the files come first, and may not follow the manifest's.
  Status saved;
  if (!change.added.empty()) saved = context_->files.SyncDirectory(folder_->path);
  if (saved.ok()) {
    saved = context_->reserve.Spend(
        kBytesOfNames, [&] { return SaveManifest(context_->files, folder_->path, manifest); });
  }
  if (!IsInForce(saved)) {
    Discard(change.added);
    return saved;
  }
  if (!saved.ok()) durable_ = false;
  if (strange.size() != strange_files_.size()) {
    const std::lock_guard lock(damage_mutex_);
    damage_ = strange.empty() ? "" : DescribeStrangeFamily(strange.front().family);
  }
  strange_files_ = std::move(strange);
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
    context_->reserve.Forget();  // files were written, and memstores promise less
    for (const auto& cells : {before->active, before->frozen})
      if (cells != nullptr && cells != after->active && cells != after->frozen)
        cells->EndCharge();
    const std::lock_guard state_lock(state_mutex_);
    state_ = after;
  }
  if (durable_) {
    context_->wal->MarkTable(id(), MarkOf(manifest));
    for (const auto& file : change.removed) file->SetObsolete();
  }
  ForgetDamageOf(change.removed);
  return saved;
}

// Tombstones that come now are no concern: who reads them sees the rewrite as well.
// The rewrite is in force, and no exception undoes it.
void LocalStorage::TellObserver(DroppedColumns dropped, const TableStatePtr& before) noexcept {
  try {
    TellWhatChanged(std::move(dropped), before);
  } catch (const std::exception&) {
    const std::lock_guard lock(context_->observer_mutex);
    if (context_->observer != nullptr) context_->observer->LostTrack();
  }
}

void LocalStorage::TellWhatChanged(DroppedColumns dropped, const TableStatePtr& before) {
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

// The caller has seen to it that nobody writes.
Status LocalStorage::ReplaceSchema(std::shared_ptr<const TableSchema> schema) {
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  const std::lock_guard flush_lock(flush_mutex_);
  const Status flushed = FlushLocked();
  if (!IsInForce(flushed)) return flushed;
  FileChange change{.schema = schema};
  const Snapshot<TableState> state = State();
  for (const auto& file : state->files->All())
    if (schema->FindFamily(file->facts().family) == nullptr) change.removed.push_back(file);
  auto active = NewMemory(*schema);
  return Commit(change, [&](TableState& next) {
    next.active = std::move(active);
    next.schema = std::move(schema);
  });
}

Status LocalStorage::Truncate() {
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  const std::lock_guard flush_lock(flush_mutex_);
  // A replay of the log leaves out what has been flushed, so it does not bring the cells back.
  const Snapshot<TableState> state = State();
  FileChange change{
      .added = {}, .removed = state->files->All(), .flushed = context_->read_point.load()};
  auto active = NewMemory(*state->schema);
  const Status committed = Commit(change, [&](TableState& next) {
    next.active = std::move(active);
    next.frozen = nullptr;
  });
  if (!IsInForce(committed)) return committed;
  FlushEnded({});
  if (durable_) context_->wal->Flushed(id(), flushed());
  return committed;
}

void LocalStorage::Drop() {
  dropped_ = true;  // ends flush and compaction, soon
  const std::lock_guard flush_lock(flush_mutex_);
  const std::lock_guard compact_lock(compact_mutex_);
  context_->files.RemoveTree(folder_->path);  // what is left is found by the next opening
  context_->wal->DropTable(id());
  FlushEnded({});
  const std::lock_guard write_lock(context_->write_mutex);
  const TableStatePtr state = State();
  for (const auto& cells : {state->active, state->frozen})
    if (cells != nullptr) cells->EndCharge();
}

void LocalStorage::NoteDamage(const Status& found) {
  if (found.code() != StatusCode::kCorruption) return;
  const std::lock_guard lock(damage_mutex_);
  if (damage_.empty())
    damage_ = found.message() +
              "; the same file from a backup helps, put in place while the store is not mounted; "
              "'cellfs check' says what else is damaged";
}

// What is damaged is named by its path.
void LocalStorage::ForgetDamageOf(const StoreFiles& removed) {
  const std::lock_guard lock(damage_mutex_);
  for (const auto& file : removed) {
    const std::string path = folder_->path + "/" + StoreFileName(file->facts().number);
    if (damage_.find(path) != damage_.npos) damage_.clear();
  }
}

// All files are of its time or later (FileFacts::written), for those it found have become one. That
// one says so until a minor compaction takes it in. Where the table has every file that it was ever
// given, there was none.
Timestamp LocalStorage::LatestMajorCompaction(const TableFiles& of_table,
                                              const StoreFiles& files) const {
  if (of_table.All().size() + 1 == next_file_) return 0;
  if (files.empty()) return context_->options.clock->Now();
  const auto is_major = [](const auto& file) { return file->facts().is_major; };
  const auto made = std::find_if(files.begin(), files.end(), is_major);
  if (made != files.end()) return (*made)->facts().written;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) oldest = std::min(oldest, file->facts().written);
  return oldest;
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
  statistics.flushed = flushed();
  for (const auto& [name, family] : state->schema->families)
    statistics.major_compactions[name] =
        LatestMajorCompaction(*state->files, state->files->Of(name));
  {
    const std::lock_guard lock(damage_mutex_);
    statistics.damage = damage_;
  }
  if (const Status failed = flush_attempts_.last(); !failed.ok()) {
    statistics.error = "flush: " + failed.message();
  } else if (const Status compacted = compact_attempts_.last(); !compacted.ok()) {
    statistics.error = "compaction: " + compacted.message();
  }
  return statistics;
}

}  // namespace cellfs
