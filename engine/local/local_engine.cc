// SPDX-License-Identifier: MIT
#include "engine/local/local_engine.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "engine/disk/remedies.h"
#include "engine/file/stored_facts.h"
#include "engine/local/unnamed_files.h"

namespace cellfs {
namespace {

// Of a table that is not opened.
Status WithRemedy(const Status& damaged) {
  return {damaged.code(), damaged.message() + "; " + kRemedyOfManifest};
}

Status WithRemedyOfLog(const Status& damaged) {
  if (damaged.code() != StatusCode::kCorruption) return damaged;
  return {damaged.code(), damaged.message() + "; " + kRemedyOfLog};
}

}  // namespace

StatusOr<std::unique_ptr<LocalEngine>> LocalEngine::Open(const std::string& directory,
                                                         const StoreOptions& options,
                                                         FileLayer& files) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreDirectory> opened,
                          StoreDirectory::Open(files, directory,
                                               options.read_only
                                                   ? StoreDirectory::Making::kNever
                                                   : StoreDirectory::Making::kWhereMissing));
  return std::unique_ptr<LocalEngine>(new LocalEngine(std::move(opened), options));
}

LocalEngine::LocalEngine(std::unique_ptr<StoreDirectory> directory, const StoreOptions& options)
    : files_(*directory->files()),
      directory_(std::move(directory)),
      services_(std::make_shared<TableServices>(directory_->path(), directory_->files(), options)),
      lost_tables_(files_, directory_->path()) {}

LocalEngine::~LocalEngine() {
  if (services_->options.background_maintenance)
    services_->cache.leaves_from_bytes = kBytesOfLargeFile;
  scheduler_.reset();
  services_->moments->Close();
  if (services_->wal == nullptr || services_->options.read_only)
    return;  // not recovered, or not to the end: nothing is to be changed
  // What cannot be flushed now stays in the log, for the next time.
  for (const auto& table : Tables()) static_cast<void>(table->Flush());
  static_cast<void>(services_->wal->Roll());
  RemoveLeftovers();
  // At once: each file that is closed looks through all of it for what is its own.
  services_->cache.blocks.SetCapacity(0);
}

// Of a compaction that has just been ended, mostly; what takes longer waits for the next opening.
void LocalEngine::RemoveLeftovers() {
  constexpr std::chrono::seconds kLongest{1};
  const auto until = std::chrono::steady_clock::now() + kLongest;
  services_->leftovers.Remove([&] { return std::chrono::steady_clock::now() >= until; });
}

std::string LocalEngine::PathOf(TableId id) const {
  return directory_->tables_path() + "/" + std::to_string(id);
}

std::vector<std::shared_ptr<LocalTable>> LocalEngine::Tables() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LocalTable>> tables;
  for (const auto& [id, table] : tables_) tables.push_back(table);
  return tables;
}

void LocalEngine::NoteDamage(TableId id, const Status& damage) const {
  for (const auto& table : Tables())
    if (table->id() == id) static_cast<void>(table->versions().NoteDamage(damage));
}

StatusOr<OpenedTables> LocalEngine::OpenTables(const std::vector<StoredTable>& tables,
                                               TableId next_id) {
  OpenedTables opened_tables;
  auto& answers = opened_tables.storages;
  for (const StoredTable& table : tables) {
    StatusOr<std::shared_ptr<LocalTable>> opened = OpenTable(table);
    if (opened.ok()) {
      answers.emplace_back(std::shared_ptr<CellStorage>(*opened));
    } else {
      answers.emplace_back(WithRemedy(opened.status()));
    }
  }
  CELLFS_RETURN_IF_ERROR(RecoverLog(tables));
  CELLFS_ASSIGN_OR_RETURN(opened_tables.next_id, SettleStrangers(tables, next_id));
  for (size_t i = 0; i < tables.size(); ++i) {
    if (Status damaged = SettleTable(tables[i].id); !damaged.ok()) answers[i] = std::move(damaged);
  }
  scrub_ = std::make_unique<Scrub>(*services_, directory_->path());
  scrub_->SetTellTable([this](TableId id, const Status& damage) { NoteDamage(id, damage); });
  if (services_->options.background_maintenance && !services_->options.read_only) {
    scheduler_ =
        std::make_unique<Scheduler>(services_, [this] { return Tables(); }, scrub_.get());
    services_->wake_maintenance = [scheduler = scheduler_.get()] { scheduler->Wake(); };
    scheduler_->Wake();  // what was recovered may be a lot
  }
  return opened_tables;
}

// Tables of which the store has files or records, and which the catalog does not name. An id is
// below the catalog's next one where the table was there once and was dropped: what is left of it
// goes. Any other was cut short in its creation, and has nothing in it; or the catalog is an older
// one, and the table is set aside with its part of the log. It is known by that from then on.
StatusOr<TableId> LocalEngine::SettleStrangers(const std::vector<StoredTable>& tables,
                                               TableId next_id) {
  CELLFS_ASSIGN_OR_RETURN(std::set<TableId> strangers, lost_tables_.FindStored());
  const StatusOr<std::set<TableId>> found = lost_tables_.Find();
  const std::set<TableId> lost = found.ok() ? *found : std::set<TableId>();
  TableId next = next_id;  // or a table made later would have such an id, and its records
  if (!strangers.empty()) next = std::max(next, *strangers.rbegin() + 1);
  if (!lost.empty()) next = std::max(next, *lost.rbegin() + 1);
  if (!found.ok()) return next;  // what is lost cannot be told from what was dropped: all stays
  for (const auto& [id, highest] : in_log_) strangers.insert(id);
  for (const auto& [id, mark] : services_->wal->marks()) strangers.insert(id);
  for (const StoredTable& table : tables) strangers.erase(table.id);
  for (const TableId id : strangers) {
    const bool is_dropped = id < next_id && !lost.contains(id);
    if (is_dropped || (!lost.contains(id) && IsUnusedCreation(id))) {
      RemoveFiles(id);
      services_->wal->DropTable(id);
      continue;
    }
    CELLFS_RETURN_IF_ERROR(lost_tables_.SetAside(id));
    set_aside_.insert(id);
    next = std::max(next, id + 1);
  }
  return next;
}

// No cells, neither in its files nor in the log: also no file that a manifest may have named.
bool LocalEngine::IsUnusedCreation(TableId id) const {
  if (in_log_.contains(id)) return false;
  const TableMarks& marks = services_->wal->marks();
  if (const auto mark = marks.find(id); mark != marks.end() && mark->second != TableMark())
    return false;
  const StatusOr<bool> is_there = files_.Exists(PathOf(id));
  if (!is_there.ok() || !*is_there) return is_there.ok();
  const StatusOr<std::vector<std::string>> names = files_.List(PathOf(id));
  if (!names.ok() || std::any_of(names->begin(), names->end(), IsStoreFileName)) return false;
  if (std::find(names->begin(), names->end(), kManifestFile) == names->end()) return true;
  const auto manifest = ReadManifest(files_, PathOf(id), directory_->id(), id);
  return manifest.ok() && manifest->flushed == 0;
}

// What is left is found when the store is opened the next time.
void LocalEngine::RemoveFiles(TableId id) const { files_.RemoveTree(PathOf(id)); }

StatusOr<std::shared_ptr<LocalTable>> LocalEngine::OpenTable(const StoredTable& table) {
  CELLFS_RETURN_IF_ERROR(lost_tables_.BringBack(table.id));
  const std::string path = PathOf(table.id);
  CELLFS_ASSIGN_OR_RETURN(const Manifest manifest,
                          ReadManifest(files_, path, directory_->id(), table.id));
  if (manifest.logged > known_end_.position)
    known_end_ = {manifest.logged, path + "/" + kManifestFile};
  CELLFS_RETURN_IF_ERROR(UnnamedFiles(files_, path, manifest).status());
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<LocalTable> opened, AddTable(table, manifest));
  for (const FileFacts& facts : manifest.files)
    static_cast<void>(opened->versions().NoteDamage(
        LookAtStoreFile(path + "/" + StoreFileName(facts.number), facts)));
  return opened;
}

StatusOr<std::shared_ptr<LocalTable>> LocalEngine::AddTable(const StoredTable& table,
                                                              const Manifest& manifest) {
  auto folder =
      std::make_shared<TableFolder>(TableFolder{PathOf(table.id), directory_->id(), table.id});
  auto opened = std::make_shared<LocalTable>(services_, table, std::move(folder), manifest);
  const std::lock_guard lock(mutex_);
  tables_[table.id] = opened;
  return opened;
}

// Brings back what the store files do not have. The records of a table that cannot be opened stay
// in the log.
Status LocalEngine::RecoverLog(const std::vector<StoredTable>& tables) {
  SequenceId last = 0;
  for (const auto& [id, table] : tables_) last = std::max(last, table->versions().flushed());
  const LogVisitor visitor = [&](const LogRecord& record, LogPosition) {
    last = std::max(last, record.sequence_id);
    if (const auto table = tables_.find(record.table_id); table != tables_.end()) {
      table->second->Recover(record);
    }
    SequenceId& highest = in_log_[record.table_id];
    highest = std::max(highest, record.sequence_id);
    return Status();
  };
  const WalOptions options{.store_id = directory_->id(),
                           .must_exist = !tables.empty(),
                           .known_end = known_end_,
                           .make_room = [this](uint64_t bytes) {
                             services_->reserve.MakeRoom(bytes + kBytesOfNames);
                           }};
  auto wal = Wal::Open(files_, directory_->log_path(), options, visitor);
  if (!wal.ok()) return WithRemedyOfLog(wal.status());
  services_->wal = *std::move(wal);
  for (const auto& [id, highest] : services_->wal->older()) {
    last = std::max(last, highest);
    in_log_.try_emplace(id, 0);  // what it had of that is gone
  }
  services_->read_point = last;
  return Status();
}

// A table that lacks what the log has had of it, and has no more, is not shown without it: nothing
// of it is changed, and its records stay in the log. Of any other what its manifest does not name
// goes: it was being made, or had been replaced, when something went wrong.
Status LocalEngine::SettleTable(TableId id) {
  const auto table = tables_.find(id);
  if (table == tables_.end()) return Status();
  const std::string& strange = table->second->strange_family();
  Status whole = CheckIsWhole(id);
  if (!whole.ok()) {
    whole = WithRemedy(whole);
  } else if (!strange.empty()) {
    whole = {StatusCode::kCorruption, DescribeStrangeFamilyInLog(strange)};
  }
  if (!whole.ok()) {
    const std::lock_guard lock(mutex_);
    tables_.erase(table);
    return whole;
  }
  table->second->versions().TellLog();
  return Status();
}

Status LocalEngine::CheckIsWhole(TableId id) {
  const std::string path = PathOf(id);
  CELLFS_ASSIGN_OR_RETURN(const Manifest manifest,
                          ReadManifest(files_, path, directory_->id(), id));
  const auto& older = services_->wal->older();
  if (const auto needed = older.find(id); needed != older.end()) {
    CELLFS_RETURN_IF_ERROR(CheckHasFlushed(path, manifest.flushed, needed->second,
                                           SegmentName(services_->wal->first_segment() - 1)));
  }
  const TableMarks& marks = services_->wal->marks();
  const auto mark = marks.find(id);
  if (mark != marks.end()) CELLFS_RETURN_IF_ERROR(CheckIsNotOlder(path, manifest, mark->second));
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> unnamed,
                          UnnamedFiles(files_, path, manifest));
  // Without a mark, as where the log was given up, only the files tell.
  if (mark == marks.end() && !directory_->was_of_older_format()) {
    const auto logged = in_log_.find(id);
    const SequenceId in_log = logged == in_log_.end() ? 0 : logged->second;
    CELLFS_RETURN_IF_ERROR(CheckAreNotNeeded(path, unnamed, std::max(manifest.flushed, in_log)));
  }
  for (const std::string& name : unnamed) RemoveUnnamed(path + "/" + name);
  if (mark == marks.end() || mark->second != MarkOf(manifest))
    services_->wal->MarkTable(id, MarkOf(manifest));
  return {};
}

// Whoever mounts need not wait for a large one.
void LocalEngine::RemoveUnnamed(const std::string& path) {
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(path, unknown);
  const bool is_large = !unknown && bytes >= kBytesOfLargeFile;
  if (is_large && services_->options.background_maintenance) {
    services_->leftovers.Add(path);
  } else {
    static_cast<void>(files_.Remove(path));
  }
}

StatusOr<std::shared_ptr<CellStorage>> LocalEngine::CreateTable(const StoredTable& table) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  if (in_log_.contains(table.id)) {
    return Status(StatusCode::kUnavailable,
                  "the log has records of a table with the id " + std::to_string(table.id) +
                      ", which CATALOG does not name; the next try takes another id");
  }
  RemoveFiles(table.id);  // what a creation that was cut short has left
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(PathOf(table.id)));
  const Manifest manifest{.store_id = directory_->id(),
                          .table = table.id,
                          .files = {},
                          .logged = services_->wal->synced()};
  CELLFS_RETURN_IF_ERROR(SaveManifest(files_, PathOf(table.id), manifest));
  CELLFS_RETURN_IF_ERROR(files_.SyncDirectory(directory_->tables_path()));
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<LocalTable> opened, AddTable(table, manifest));
  services_->wal->MarkTable(table.id, MarkOf(manifest));
  return std::shared_ptr<CellStorage>(std::move(opened));
}

Status LocalEngine::DropTable(TableId id) {
  std::shared_ptr<LocalTable> table;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(id);
    if (found != tables_.end()) {
      table = found->second;
      tables_.erase(found);
    }
  }
  if (table != nullptr) {
    table->Drop();
  } else {  // one that could not be opened
    RemoveFiles(id);
    services_->wal->DropTable(id);
  }
  return Status();
}

Status LocalEngine::SaveCatalog(std::string_view document) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  return services_->reserve.Spend(document.size() + kBytesOfNames,
                                  [&] { return directory_->SaveCatalog(document); });
}

Status LocalEngine::SaveCatalogEdit(std::string_view edit) {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  return services_->reserve.Spend(directory_->BytesOfEdits() + edit.size() + kBytesOfNames,
                                  [&] { return directory_->SaveCatalogEdit(edit); });
}

Status LocalEngine::CheckTakesPuts() {
  CELLFS_RETURN_IF_ERROR(services_->CheckMayChange());
  CELLFS_RETURN_IF_ERROR(services_->wal->health());
  CELLFS_RETURN_IF_ERROR(services_->CheckDiskRoom());
  for (const auto& table : Tables()) CELLFS_RETURN_IF_ERROR(table->flusher().CheckTakesPuts());
  return {};
}

StatusOr<std::shared_ptr<const Moment>> LocalEngine::PinMoment(const std::string& holder) {
  Statistics kept;
  CountMoments(kept);
  const bool has_few = services_->moments->CountOf(holder) < kMomentsOfEach;
  if (!has_few && kept.moment_bytes >= kept.moment_limit && KeepsShareOfMoments(kept, holder)) {
    return Status(StatusCode::kUnavailable,
                  "moments of the past keep " + std::to_string(kept.moment_bytes) +
                      " bytes that have been replaced since, and may keep " +
                      std::to_string(kept.moment_limit) + " (moment_limit); of these " +
                      std::to_string(kept.moment_bytes_by_holder[holder]) + " are for this user's");
  }
  return services_->moments->Pin(services_->read_point, services_->options.clock->Now(), holder);
}

void LocalEngine::CountMoments(Statistics& statistics) {
  const auto present = [this](TableId id) -> TableVersionPtr {
    const std::lock_guard lock(mutex_);
    const auto table = tables_.find(id);
    if (table == tables_.end()) return nullptr;
    return table->second->versions().Current();
  };
  MomentRegistry::Kept kept = services_->moments->BytesBeyond(present);
  statistics.pinned_moments = services_->moments->Count();
  statistics.moment_bytes = kept.bytes;
  statistics.moment_bytes_by_holder = std::move(kept.by_holder);
  statistics.moment_limit = static_cast<uint64_t>(services_->options.moment_limit);
}

void LocalEngine::SetMaintenancePaused(bool paused) {
  if (scheduler_ != nullptr) scheduler_->SetPaused(paused);
}

// What runs, also of what was asked for; else what the background is about.
std::string LocalEngine::DescribeMaintenance() const {
  const std::string state = scheduler_ != nullptr ? scheduler_->State() : "off";
  const std::string jobs = services_->jobs.Text();
  if (jobs.empty()) return state;
  return state == "paused" ? state + ", " + jobs : jobs;
}

Statistics LocalEngine::GetStatistics() {
  const Timestamp now = services_->options.clock->Now();
  Statistics statistics;
  statistics.log_bytes = services_->wal->bytes();
  statistics.log_sync_times = services_->wal->sync_times();
  statistics.log_syncs = statistics.log_sync_times.Count();
  statistics.file_sync_times = services_->file_sync_times.Figures();
  statistics.mutations = services_->mutations;
  statistics.memstore_bytes = services_->memory->bytes();
  statistics.last_sequence_id = services_->read_point;
  statistics.maintenance = DescribeMaintenance();
  statistics.puts_refused = CheckTakesPuts();
  for (const TableId id : set_aside_)
    statistics.lost_tables.push_back(DescribeLostTable(directory_->path(), id));
  statistics.cut_off = services_->wal->CutOff();
  CountMoments(statistics);
  statistics.disk_reserve = services_->reserve.held();
  statistics.disk_reserve_wanted = services_->reserve.wanted();
  if (scrub_ != nullptr) statistics.scrub = scrub_->GetStatistics();
  statistics.oldest_moment_age_ms = now - services_->moments->OldestNow(now);
  return statistics;
}

}  // namespace cellfs
