// SPDX-License-Identifier: MIT
#include "engine/file/store_file.h"

#include <cstdio>

#include "engine/file/bloom_filter.h"
#include "engine/file/stored_facts.h"

namespace cellfs {
namespace {

// Its format. kCorruption: it is no store file of that folder with these facts.
StatusOr<int64_t> CheckIsStoreFile(Database& database, const TableFolder& folder,
                                   const FileFacts& facts) {
  const auto no_store_file = [&](const std::string& why) {
    return Status(StatusCode::kCorruption, database.path() + ": " + why);
  };
  CELLFS_ASSIGN_OR_RETURN(const StoredFacts stored, ReadStoredFacts(database));
  if (stored.store_id != folder.store_id) return no_store_file("it is a file of another store");
  if (stored.table != folder.table)
    return no_store_file("it is a file of table " + std::to_string(stored.table));
  if (stored.facts.number == facts.number && stored.facts.highest == facts.highest)
    return stored.format;
  return no_store_file("it is not the file that the manifest names");
}

}  // namespace

// What an exception has ended in the midst of a statement is not used again.
StoreFile::Lease::~Lease() {
  const bool is_broken = std::uncaught_exceptions() > exceptions_;
  if (!entry_.empty() && !is_broken) file_->cache_.readers.Give(std::move(entry_));
}

StatusOr<bool> StoreFile::Lease::MayHaveTombstones(CellSet set, std::string_view row,
                                                   std::string_view qualifier) {
  if (set == CellSet::kHidden && facts().hidden.cells == 0) return false;
  StatusOr<bool> has = reader().HasTombstones(set, row, qualifier);
  if (has.ok() || has.status().code() != StatusCode::kCorruption) return has;
  NoteDamage(has.status());
  return true;
}

StoreFile::StoreFile(std::shared_ptr<const TableFolder> folder, FileFacts facts, FileCache& cache)
    : folder_(std::move(folder)),
      facts_(std::move(facts)),
      path_(folder_->path + "/" + StoreFileName(facts_.number)),
      cache_(cache),
      pages_owner_(cache.blocks.NewOwner()),
      filter_owner_(cache.blocks.NewOwner()) {}

StoreFile::~StoreFile() {
  cache_.readers.Forget(idle_);
  cache_.blocks.Forget(pages_owner_);
  cache_.blocks.Forget(filter_owner_);
  const bool stays = facts_.bytes >= cache_.leaves_from_bytes;
  if (obsolete_ && !stays) std::remove(path_.c_str());
}

StatusOr<StoreFile::Lease> StoreFile::Open() {
  ReaderPool::Entries entry = cache_.readers.Take(idle_);
  if (entry.empty()) {
    CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreFileReader> reader, Connect());
    entry.emplace_back(idle_, std::move(reader));
  }
  return Lease(shared_from_this(), std::move(entry));
}

StatusOr<std::unique_ptr<StoreFileReader>> StoreFile::Connect() {
  auto opened = Database::OpenImmutable(path(), cache_.blocks, pages_owner_);
  // Others may have the descriptors, and not need them.
  if (!opened.ok() && cache_.readers.CloseIdle())
    opened = Database::OpenImmutable(path(), cache_.blocks, pages_owner_);
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, std::move(opened));
  if (format_ == 0) {
    CELLFS_ASSIGN_OR_RETURN(format_, CheckIsStoreFile(*database, *folder_, facts_));
  }
  return std::make_unique<StoreFileReader>(std::move(database), format_);
}

StatusOr<bool> StoreFile::MayHold(std::string_view row, const WantedColumns& columns) {
  if (row < facts_.first_row || row > facts_.last_row) return false;
  if (facts_.filter_blocks == 0) return true;
  if (columns.AreAll() || !facts_.filter_has_columns) return FilterMayHold(HashOfRow(row));
  if (facts_.family_tombstones > 0 || facts_.withdrawals > 0) {
    CELLFS_ASSIGN_OR_RETURN(const bool may, FilterMayHold(HashOfFamilyTombstones(row)));
    if (may) return true;
  }
  StatusOr<bool> may = false;
  columns.AnyOf([&](std::string_view qualifier) {
    may = FilterMayHold(HashOfColumn(row, qualifier));
    return !may.ok() || *may;
  });
  return may;
}

StatusOr<bool> StoreFile::FilterMayHold(uint64_t hash) {
  const auto number = static_cast<uint64_t>(BlockOf(hash, facts_.filter_blocks));
  const auto may_contain = [hash](std::string_view block) { return MayContain(block, hash); };
  if (const auto known = cache_.blocks.Ask(filter_owner_, number, may_contain)) return *known;
  CELLFS_ASSIGN_OR_RETURN(const std::string block, FilterBlock(number));
  // It answers for thousands of keys, and each page for thirty.
  cache_.blocks.Insert(filter_owner_, number, block, BlockCache::Keep::kAtOnce);
  return may_contain(block);
}

// One that is damaged has all bits set: no key is known not to be here.
StatusOr<std::string> StoreFile::FilterBlock(uint64_t number) {
  CELLFS_ASSIGN_OR_RETURN(Lease lease, Open());
  StatusOr<std::string> block = lease.reader().FilterBlock(static_cast<int64_t>(number));
  if (block.ok() && block->size() != kFilterBlockSize)
    block = Status(StatusCode::kCorruption, path() + ": a block of its filter is missing");
  if (block.ok() || block.status().code() != StatusCode::kCorruption) return block;
  NoteDamage(block.status());
  return std::string(kFilterBlockSize, '\xff');
}

void StoreFile::NoteDamage(const Status& found) {
  const std::lock_guard lock(damage_mutex_);
  if (damage_.empty()) damage_ = found.message();
}

std::string StoreFile::damage() const {
  const std::lock_guard lock(damage_mutex_);
  return damage_;
}

}  // namespace cellfs
