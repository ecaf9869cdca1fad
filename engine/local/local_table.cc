// SPDX-License-Identifier: MIT
#include "engine/local/local_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory_resource>

#include "engine/local/column_head_search.h"
#include "engine/local/dropped_columns.h"
#include "engine/local/lost_tables.h"
#include "engine/local/table_write_room.h"
#include "engine/visibility/region_scanner.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesOfDeletes = uint64_t{256} << 10;  // of the reserve, for the log
// On the stack, for what a write of a few cells needs until its end.
constexpr size_t kBytesOfFew = 1024;

bool HasOnlyDeletes(std::span<const RowBatch> batches) {
  return std::all_of(batches.begin(), batches.end(), [](const RowBatch& batch) {
    return std::all_of(batch.cells.begin(), batch.cells.end(),
                       [](const Cell& cell) { return IsTombstone(cell.type); });
  });
}

Status Gone() { return {StatusCode::kTableNotFound, "the table has been dropped"}; }

TimeRange TimesOf(const Query& query, const std::string& family) {
  const auto own = query.family_time_ranges.find(family);
  return own == query.family_time_ranges.end() ? query.time_range : own->second;
}

// Those asked for of the family; null: all of it.
const std::set<std::string>* NamedColumns(const Columns& columns, const std::string& family) {
  const auto named = columns.find(family);
  const bool is_whole = named == columns.end() || named->second.empty();
  return is_whole ? nullptr : &named->second;
}

}  // namespace

LocalTable::LocalTable(std::shared_ptr<TableServices> services, StoredTable table,
                       std::shared_ptr<const TableFolder> folder, const Manifest& manifest)
    : services_(std::move(services)),
      versions_(*services_, table, std::move(folder), manifest),
      flusher_(*services_, versions_),
      compactor_(*services_, versions_),
      dropped_families_(std::move(table.dropped_families)) {}

// ---- Reading ------------------------------------------------------------------------------------

StatusOr<RowCells> LocalTable::Read(const Get& get, Timestamp now) {
  if (get.moment != nullptr) now = get.moment->now;
  CELLFS_ASSIGN_OR_RETURN(const TableView view, versions_.ViewAt(get.moment.get()));
  const CursorSource source = [&](const std::string& family, bool lengths_only) {
    return view.OpenCursor(family, lengths_only,
                           {.row = get.row,
                            .columns = NamedColumns(get.columns, family),
                            .times = TimesOf(get, family),
                            .now = now});
  };
  StatusOr<RowCells> cells =
      RegionScanner::Read(get, {view.schema(), services_->options.site.max_row_size}, source, now);
  if (!cells.ok()) return versions_.NoteDamage(cells.status());
  return cells;
}

// Takes a view for each batch, and so holds nothing between them.
class LocalTable::LocalScanner : public Scanner {
 public:
  LocalScanner(std::shared_ptr<LocalTable> table, const Scan& scan,
               std::unique_ptr<RegionScanner> scanner)
      : table_(std::move(table)), scan_(scan), scanner_(std::move(scanner)) {
    is_of_one_row_ = scan.IsOfOneRow() && !scan.reversed;
    if (!is_of_one_row_ || scan.filter == nullptr) return;
    if (auto column = scan.filter->OnlyColumn()) only_column_.insert(*std::move(column));
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    const Moment* const moment = scan_.moment.get();
    CELLFS_ASSIGN_OR_RETURN(const TableView view, table_->versions_.ViewAt(moment));
    const Timestamp now = moment != nullptr ? moment->now : table_->services_->options.clock->Now();
    const CursorSource source = [&](const std::string& family, bool lengths_only) {
      return view.OpenCursor(family, lengths_only, ScopeOf(family, now));
    };
    StatusOr<std::vector<RowCells>> rows = scanner_->Next(batch, source, now);
    if (!rows.ok()) return table_->versions_.NoteDamage(rows.status());
    return rows;
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  ReadScope ScopeOf(const std::string& family, Timestamp now) const {
    ReadScope scope{.row = {},
                    .columns = ColumnsOf(family),
                    .times = TimesOf(scan_, family),
                    .raw = scan_.raw,
                    .hidden_rows = scan_.filter != nullptr && scan_.filter->RemembersHiddenRows(),
                    .now = now};
    if (is_of_one_row_) scope.row = scan_.start_row;
    return scope;
  }

  // Of one row; null: all.
  const std::set<std::string>* ColumnsOf(const std::string& family) const {
    if (!is_of_one_row_) return nullptr;
    if (!only_column_.empty()) return &only_column_;
    return NamedColumns(scan_.columns, family);
  }

  const std::shared_ptr<LocalTable> table_;
  const Scan scan_;
  const std::unique_ptr<RegionScanner> scanner_;
  bool is_of_one_row_ = false;
  std::set<std::string> only_column_;  // of that row; empty: all
};

StatusOr<std::unique_ptr<Scanner>> LocalTable::OpenScanner(const Scan& scan) {
  // A moment sees families that have gone since.
  CELLFS_ASSIGN_OR_RETURN(const TableView view, versions_.ViewAt(scan.moment.get()));
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<RegionScanner> scanner,
      RegionScanner::Open(scan, {view.schema(), services_->options.site.max_row_size}));
  return std::unique_ptr<Scanner>(
      std::make_unique<LocalScanner>(shared_from_this(), scan, std::move(scanner)));
}

StatusOr<ColumnHead> LocalTable::ReadColumnHead(std::string_view row, std::string_view family,
                                                std::string_view qualifier) {
  CELLFS_ASSIGN_OR_RETURN(const TableView view, versions_.ViewAt(nullptr));
  StatusOr<ColumnHead> head = ColumnHeadSearch(view, row, family, qualifier).Run();
  if (!head.ok()) return versions_.NoteDamage(head.status());
  return head;
}

// ---- Writing ------------------------------------------------------------------------------------

StatusOr<Applied> LocalTable::Apply(std::span<RowBatch> batches, WriteRoom* room) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  CELLFS_RETURN_IF_ERROR(CheckStorable(batches));
  const bool only_deletes = HasOnlyDeletes(batches);
  const TableServices::BytesOfPut bytes = BytesOf(batches);
  const auto* awaited = static_cast<const TableWriteRoom*>(room);
  if (awaited != nullptr && awaited->IsEnoughFor(bytes))
    return Write(batches, bytes, only_deletes, awaited->fullness());
  TableWriteRoom own(*services_, flusher_, bytes, only_deletes);
  if (own.Take()) return Write(batches, bytes, only_deletes, own.fullness());
  Applied nothing;
  nothing.lacks = std::make_unique<TableWriteRoom>(*services_, flusher_, bytes, only_deletes);
  return nothing;
}

namespace {

// So that nobody waits while they are copied.
void TakeLongValues(RowBatch& batch, std::span<CellView> cells, Memstore::Addition& addition) {
  for (size_t i = 0; i < batch.cells.size(); ++i) {
    std::string& value = batch.cells[i].value;
    if (value.size() >= Memstore::Addition::kLong)
      cells[i].value = addition.TakeValue(std::move(value));
  }
}

}  // namespace

StatusOr<Applied> LocalTable::Write(std::span<RowBatch> batches,
                                    const TableServices::BytesOfPut& bytes, bool only_deletes,
                                    double fullness) {
  const std::lock_guard write_lock(services_->write_mutex);
  // Its log has ended: a record would never be flushed, and keep the log for ever.
  if (versions_.is_dropped()) return Gone();
  SequenceId last = services_->read_point.load();
  std::array<std::byte, kBytesOfFew> few;
  std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
  std::pmr::vector<std::pmr::vector<CellView>> cells(&memory);
  std::pmr::vector<LogRecord> records(&memory);
  cells.reserve(batches.size());
  records.reserve(batches.size());
  const TableVersion& version = versions_.CurrentOfWriter();
  MemoryCells& active = *version.active;
  // Nothing may fail once the log has the cells.
  Memstore::Addition addition = active.Begin(&memory);
  for (RowBatch& batch : batches) {
    cells.push_back(CellsOf(batch, ++last, &memory));
    TakeLongValues(batch, cells.back(), addition);
    active.Prepare(cells.back(), addition);
    if (batch.durability != Durability::kSkipWal) {
      records.push_back({id(), last, batch.row, cells.back()});
    }
  }
  const auto append = [&] { return services_->wal->Append(records); };
  CELLFS_ASSIGN_OR_RETURN(
      const LogPosition position,
      only_deletes ? services_->reserve.Spend(kBytesOfDeletes, append) : append());
  active.Finish(addition);
  services_->reserve.Wrote(bytes.in_log);
  services_->read_point.store(last);
  services_->mutations += batches.size();
  const int64_t flush_size = FlushSizeOf(*version.schema, services_->options.site);
  if (static_cast<int64_t>(active.memstore().bytes()) >= flush_size) services_->wake_maintenance();
  return Applied{.position = position, .pause = PauseAfter(bytes.in_log, fullness, version)};
}

std::chrono::microseconds LocalTable::PauseAfter(uint64_t bytes, double fullness,
                                                 const TableVersion& version) {
  if (!flusher_.CanWait()) return {};
  WriteBacklog backlog{.memory = fullness};
  if (version.schema->compaction_enabled())
    backlog.files = static_cast<double>(version.bytes_behind) /
                    static_cast<double>(FlushSizeOf(*version.schema, services_->options.site));
  return pace_.Take(bytes, backlog);
}

Timestamp LocalTable::NewestTimestamp() const {
  return versions_.AtCurrent([](const TableVersion& version) { return version.newest(); });
}

std::unique_ptr<WriteRoom> LocalTable::RoomAhead(uint64_t bytes) {
  if (bytes < LargeWrites::kLarge) return nullptr;
  return std::make_unique<TableWriteRoom>(*services_, flusher_, BytesOfValue(bytes), false);
}

Status LocalTable::CheckRoom(uint64_t bytes) {
  DiskReserve::Claim claim;
  return services_->ClaimDiskRoom(BytesOfValue(bytes), claim);
}

// With a key as long as most are, with the owner and the time that may be stored beside, and into a
// memstore without cells, for a flush may come before the put.
TableServices::BytesOfPut LocalTable::BytesOfValue(uint64_t bytes) const {
  constexpr uint64_t kBeside = 2048;
  const auto limit = static_cast<uint64_t>(std::max(services_->options.inline_value_limit, 0));
  const uint64_t empty_files = versions_.AtCurrent(
      [](const TableVersion& version) { return version.active->bytes_of_empty_files(); });
  return {.in_log = kBeside + bytes,
          .in_files = empty_files + MostBytesInFile(CellType::kPut, kBeside, bytes, limit)};
}

// What cannot be flushed must not be acknowledged: no later flush of the table would succeed.
Status LocalTable::CheckStorable(std::span<const RowBatch> batches) const {
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

TableServices::BytesOfPut LocalTable::BytesOf(std::span<const RowBatch> batches) const {
  constexpr uint64_t kRecord = 64;  // its header, and what a cell has beside its bytes
  const auto limit = static_cast<uint64_t>(std::max(services_->options.inline_value_limit, 0));
  const uint64_t to_begin = versions_.AtCurrent(
      [](const TableVersion& version) { return version.active->BytesToBegin(); });
  TableServices::BytesOfPut bytes{.in_log = 0, .in_files = to_begin};
  for (const RowBatch& batch : batches) {
    for (const Cell& cell : batch.cells) {
      const uint64_t key = batch.row.size() + cell.qualifier.size();
      bytes.in_log += kRecord + key + cell.value.size();
      bytes.in_files += MostBytesInFile(cell.type, key, cell.value.size(), limit);
    }
  }
  return bytes;
}

void LocalTable::Recover(const LogRecord& record) {
  if (record.sequence_id <= versions_.flushed()) return;
  const Snapshot<TableVersion> version = versions_.Current();
  std::vector<CellView> cells;
  for (const CellView& cell : record.cells) {
    const std::string family(cell.family);
    if (version->schema->FindFamily(family) == nullptr) {
      const auto dropped = dropped_families_.find(family);
      if (dropped != dropped_families_.end() && cell.timestamp <= dropped->second) continue;
      strange_family_ = family;
    }
    cells.push_back(cell);
  }
  Memstore::Addition addition = version->active->Begin();
  version->active->Prepare(cells, addition);
  version->active->Finish(addition);
}

// ---- The table as a whole -----------------------------------------------------------------------

Status LocalTable::Flush() {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  return flusher_.Flush();
}

Status LocalTable::Compact(CompactionKind kind) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  return compactor_.Compact(kind);
}

Status LocalTable::CompactSelected() {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  return compactor_.CompactSelected();
}

// The caller has seen to it that nobody writes.
Status LocalTable::ReplaceSchema(std::shared_ptr<const TableSchema> schema) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  if (const auto present = versions_.Schema(); present->Renamed(schema->name()) == *schema) {
    versions_.Rename(std::move(schema));
    return {};
  }
  const TableFlusher::Held held = flusher_.HoldOff();
  const Status flushed = flusher_.Flush(held);
  if (!IsInForce(flushed)) return flushed;
  VersionEdit edit;
  edit.removes = [&](const FileFacts& file) { return schema->FindFamily(file.family) == nullptr; };
  // A replay of the log leaves out what a family that is gone, or will be there again, had.
  edit.flushed = services_->read_point.load();
  edit.active = versions_.NewMemory(*schema);
  edit.schema = schema;
  const auto present = versions_.Schema();
  for (const auto& [name, family] : schema->families) {
    const FamilySchema* const before = present->FindFamily(name);
    if (before != nullptr && KeepsMore(family, *before))
      edit.past[name].widened = services_->options.clock->Now();
  }
  return versions_.Apply(edit);
}

Status LocalTable::Truncate() {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  const TableFlusher::Held held = flusher_.HoldOff();
  const Snapshot<TableVersion> version = versions_.Current();
  VersionEdit edit;
  edit.removes = [](const FileFacts&) { return true; };
  // A replay of the log leaves out what has been flushed, so it does not bring the cells back.
  edit.flushed = services_->read_point.load();
  edit.active = versions_.NewMemory(*version->schema);
  edit.ends_frozen = true;
  const Status committed = versions_.Apply(edit);
  if (IsInForce(committed)) flusher_.Settle();
  return committed;
}

void LocalTable::Drop() {
  {
    const std::lock_guard write_lock(services_->write_mutex);  // no write is half in
    versions_.MarkDropped();                                   // ends flush and compaction, soon
  }
  const TableFlusher::Held held = flusher_.HoldOff();
  compactor_.Await();
  services_->files.RemoveTree(
      versions_.folder()->path);  // what is left is found by the next opening
  services_->wal->DropTable(id());
  flusher_.Settle();
  const std::lock_guard write_lock(services_->write_mutex);
  const TableVersionPtr version = versions_.Current();
  for (const auto& cells : {version->active, version->frozen})
    if (cells != nullptr) cells->EndCharge();
}

void LocalTable::ShowError(std::string_view work, const Attempts& attempts,
                           TableStatistics& statistics) const {
  const Status failed = attempts.last();
  if (failed.ok()) return;
  statistics.error = std::string(work) + ": " + failed.message();
  statistics.retry_ms = attempts.PauseLeft(services_->options.clock->Elapsed());
}

TableStatistics LocalTable::GetStatistics() {
  const TableVersionPtr version = versions_.Current();
  TableStatistics statistics;
  for (const auto& cells : {version->active, version->frozen}) {
    if (cells == nullptr) continue;
    statistics.memstore_bytes += cells->memstore().cells() == 0 ? 0 : cells->memstore().bytes();
    statistics.memstore_cells += cells->memstore().cells();
  }
  for (const auto& file : version->files->All()) {
    const FileFacts& facts = file->facts();
    statistics.file_bytes += facts.bytes;
    statistics.old_version_bytes += BytesOfThousandths(facts, facts.room.old_versions);
    statistics.deleted_bytes += BytesOfThousandths(facts, facts.room.deleted);
  }
  statistics.flushes = flusher_.flushes();
  statistics.compactions = compactor_.compactions();
  statistics.flushed = versions_.flushed();
  statistics.past = version->past;
  const bool has_every_file = versions_.HasEveryFile();
  const Timestamp now = services_->options.clock->Now();
  for (const auto& [name, family] : version->schema->families) {
    statistics.major_compactions[name] =
        LatestMajorCompaction(*version->files, name, has_every_file, now);
    const auto due = PickCompaction(*version, family, services_->options.site, now);
    if (due) statistics.compaction_debt += due->bytes();
    ShowError("compaction", compactor_.AttemptsOf(name), statistics);
  }
  ShowError("flush", flusher_.attempts(), statistics);
  statistics.damage = versions_.damage();
  return statistics;
}

}  // namespace cellfs
