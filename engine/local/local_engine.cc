// SPDX-License-Identifier: MIT
#include "engine/local/local_engine.h"

#include <algorithm>
#include <set>

namespace cellfs {

StatusOr<std::unique_ptr<LocalEngine>> LocalEngine::Open(const std::string& directory,
                                                         const StoreOptions& options,
                                                         FileLayer& files) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreDirectory> opened,
                          StoreDirectory::Open(files, directory));
  return std::unique_ptr<LocalEngine>(new LocalEngine(files, std::move(opened), options));
}

LocalEngine::LocalEngine(FileLayer& files, std::unique_ptr<StoreDirectory> directory,
                         const StoreOptions& options)
    : files_(files),
      directory_(std::move(directory)),
      context_(std::make_shared<StoreContext>(options)) {}

LocalEngine::~LocalEngine() {
  maintenance_.reset();
  if (context_->wal == nullptr)
    return;  // not recovered, or not to the end: nothing is to be changed
  // What cannot be flushed now stays in the log, for the next time.
  for (const auto& table : Tables()) static_cast<void>(table->Flush());
  static_cast<void>(context_->wal->Roll());
}

std::string LocalEngine::PathOf(TableId id) const {
  return directory_->tables_path() + "/" + std::to_string(id) + ".db";
}

std::vector<std::shared_ptr<LocalStorage>> LocalEngine::Tables() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LocalStorage>> tables;
  for (const auto& [id, table] : tables_) tables.push_back(table);
  return tables;
}

StatusOr<std::vector<StatusOr<std::shared_ptr<CellStorage>>>> LocalEngine::OpenTables(
    const std::vector<StoredTable>& tables) {
  RemoveStrangers(tables);
  std::vector<StatusOr<std::shared_ptr<CellStorage>>> answers;
  for (const StoredTable& table : tables) {
    StatusOr<std::shared_ptr<LocalStorage>> opened = OpenTable(table, Database::Mode::kOpen);
    if (opened.ok()) {
      answers.emplace_back(std::shared_ptr<CellStorage>(*opened));
    } else {
      answers.emplace_back(opened.status());
    }
  }
  CELLFS_RETURN_IF_ERROR(RecoverLog(tables));
  for (size_t i = 0; i < tables.size(); ++i) {
    if (Status lost = TakeOutIfIncomplete(tables[i].id); !lost.ok()) answers[i] = std::move(lost);
  }
  if (context_->options.background_maintenance) {
    maintenance_ = std::make_unique<Maintenance>(context_, [this] { return Tables(); });
    context_->wake_maintenance = [maintenance = maintenance_.get()] { maintenance->Wake(); };
    maintenance_->Wake();  // what was recovered may be a lot
  }
  return answers;
}

// Store files of tables whose creation or drop was cut short.
void LocalEngine::RemoveStrangers(const std::vector<StoredTable>& tables) {
  const StatusOr<std::vector<std::string>> names = files_.List(directory_->tables_path());
  if (!names.ok()) return;  // then opening the tables has more to say
  for (const std::string& name : *names) {
    const bool known = std::any_of(tables.begin(), tables.end(), [&](const StoredTable& table) {
      return name.starts_with(std::to_string(table.id) + ".db");
    });
    if (!known) static_cast<void>(files_.Remove(directory_->tables_path() + "/" + name));
  }
}

StatusOr<std::shared_ptr<LocalStorage>> LocalEngine::OpenTable(const StoredTable& table,
                                                               Database::Mode mode) {
  std::vector<std::string> families;
  for (const auto& [name, family] : table.schema->families) families.push_back(name);
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<StoreFile> file,
                          StoreFile::Open(PathOf(table.id), mode, {directory_->id(), table.id},
                                          families, context_->cache));
  auto storage = std::make_shared<LocalStorage>(context_, table, std::move(file));
  const std::lock_guard lock(mutex_);
  tables_[table.id] = storage;
  return storage;
}

// Brings back what the store files do not have. The records of a table that cannot be opened stay
// in the log; those of tables that are gone go.
Status LocalEngine::RecoverLog(const std::vector<StoredTable>& tables) {
  const auto is_gone = [&](TableId id) {
    return std::none_of(tables.begin(), tables.end(),
                        [id](const StoredTable& stored) { return stored.id == id; });
  };
  SequenceId last = 0;
  for (const auto& [id, table] : tables_) last = std::max(last, table->flushed());
  std::set<TableId> gone;
  const LogVisitor visitor = [&](const LogRecord& record, LogPosition) {
    last = std::max(last, record.sequence_id);
    if (const auto table = tables_.find(record.table_id); table != tables_.end()) {
      table->second->Recover(record);
    } else if (is_gone(record.table_id)) {
      gone.insert(record.table_id);
    }
    return Status();
  };
  const WalOptions options{.store_id = directory_->id(), .must_exist = !tables.empty()};
  CELLFS_ASSIGN_OR_RETURN(context_->wal,
                          Wal::Open(files_, directory_->log_path(), options, visitor));
  for (const auto& [id, highest] : context_->wal->older()) {
    last = std::max(last, highest);
    if (is_gone(id)) gone.insert(id);
  }
  context_->read_point = last;
  for (const TableId id : gone) context_->wal->DropTable(id);
  return Status();
}

// A table that lacks what the log has had of it, and has no more, is not shown without it. Its
// records stay in the log.
Status LocalEngine::TakeOutIfIncomplete(TableId id) {
  const auto table = tables_.find(id);
  if (table == tables_.end()) return Status();
  const auto& older = context_->wal->older();
  if (const auto needed = older.find(id); needed != older.end()) {
    const Status complete = CheckHasFlushed(PathOf(id), table->second->flushed(), needed->second,
                                            SegmentName(context_->wal->first_segment() - 1));
    if (!complete.ok()) {
      const std::lock_guard lock(mutex_);
      tables_.erase(table);
      return complete;
    }
  }
  table->second->SettleRecovered();
  return Status();
}

StatusOr<std::shared_ptr<CellStorage>> LocalEngine::CreateTable(const StoredTable& table) {
  StoreFile::Remove(PathOf(table.id));  // what a creation that was cut short has left
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<LocalStorage> storage,
                          OpenTable(table, Database::Mode::kCreate));
  return std::shared_ptr<CellStorage>(std::move(storage));
}

Status LocalEngine::DropTable(TableId id) {
  std::shared_ptr<LocalStorage> table;
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
    StoreFile::Remove(PathOf(id));
    context_->wal->DropTable(id);
  }
  return Status();
}

std::shared_ptr<const Moment> LocalEngine::PinMoment() {
  return context_->moments->Pin(context_->read_point, context_->options.clock->Now());
}

void LocalEngine::SetMaintenancePaused(bool paused) {
  if (maintenance_ != nullptr) maintenance_->SetPaused(paused);
}

Statistics LocalEngine::GetStatistics() {
  const Timestamp now = context_->options.clock->Now();
  Statistics statistics;
  statistics.log_bytes = context_->wal->bytes();
  statistics.log_syncs = context_->wal->syncs();
  statistics.mutations = context_->mutations;
  statistics.last_sequence_id = context_->read_point;
  statistics.maintenance = maintenance_ != nullptr ? maintenance_->Progress() : "off";
  statistics.pinned_moments = context_->moments->Count();
  statistics.oldest_moment_age_ms = now - context_->moments->OldestNow(now);
  return statistics;
}

}  // namespace cellfs
