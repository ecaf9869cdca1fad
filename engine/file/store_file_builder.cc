// SPDX-License-Identifier: MIT
#include "engine/file/store_file_builder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/file/stored_facts.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

constexpr char kPutSql[] =
    "INSERT INTO cells(K, Q, T, Y, S, L, H, V, R, X, Z) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
constexpr char kPutValueSql[] = "INSERT INTO long_values(R, H, V) VALUES (?1, ?2, ?3)";

}  // namespace

StoreFileBuilder::StoreFileBuilder(FileLayer& files, std::shared_ptr<const TableFolder> folder,
                                   const FamilySchema& family, const BuilderOptions& options)
    : files_(files),
      folder_(std::move(folder)),
      family_(family),
      inline_value_limit_(std::max(options.inline_value_limit, 0)),
      path_(folder_->path + "/" + StoreFileName(options.number)) {
  facts_.number = options.number;
  facts_.family = family.name();
  facts_.written = options.written;
  facts_.is_major = options.is_major;
  facts_.follows = options.follows;
  const BloomFilter kind = family.bloom_filter();
  if (kind == BloomFilter::kNone) return;
  facts_.filter_has_columns = kind == BloomFilter::kRowAndColumn;
  filter_.emplace(options.cells_at_most * (facts_.filter_has_columns ? 2 : 1));
}

StoreFileBuilder::~StoreFileBuilder() {
  if (finished_) return;
  put_ = {};
  put_value_ = {};
  transaction_.reset();
  const bool made = database_ != nullptr;
  database_.reset();
  if (made && !is_left_) std::remove(path_.c_str());
}

StatusOr<std::unique_ptr<StoreFileBuilder>> StoreFileBuilder::Begin(
    FileLayer& files, std::shared_ptr<const TableFolder> folder, const FamilySchema& family,
    const BuilderOptions& options) {
  std::unique_ptr<StoreFileBuilder> builder(
      new StoreFileBuilder(files, std::move(folder), family, options));
  CELLFS_RETURN_IF_ERROR(builder->Prepare());
  return builder;
}

Status StoreFileBuilder::Prepare() {
  CELLFS_RETURN_IF_ERROR(files_.CheckIsInPlace());
  CELLFS_ASSIGN_OR_RETURN(database_, Database::Build(path_));
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  transaction_.emplace(std::move(transaction));
  CELLFS_RETURN_IF_ERROR(database_->Execute(
      "PRAGMA application_id = " + std::to_string(kStoreFileApplicationId) +
      "; PRAGMA user_version = " + std::to_string(kStoreFileFormat) + ";" + kStoreFileSchema));
  CELLFS_ASSIGN_OR_RETURN(put_, database_->Prepare(kPutSql));
  CELLFS_ASSIGN_OR_RETURN(put_value_, database_->Prepare(kPutValueSql));
  return {};
}

Status StoreFileBuilder::Put(const CellView& cell) {
  Count(cell);
  StoredCell stored;
  stored.cell = cell;
  if (cell.type == kWithdrawMarker) {  // the type that it takes back stands for the length
    stored.cell.value_length = static_cast<uint8_t>(cell.value[0]);
  } else {
    stored.cell.value_length = cell.value.size();
    CELLFS_RETURN_IF_ERROR(PutValue(cell, stored));
  }
  CELLFS_RETURN_IF_ERROR(PutRow(stored));
  return SyncNowAndThen(stored);
}

// Else the sync at the end has the whole file to write, and syncs of the log wait behind it; so
// does an unmount, which ends a compaction within a megabyte of what it reads.
Status StoreFileBuilder::SyncNowAndThen(const StoredCell& stored) {
  constexpr uint64_t kBytesBetween = uint64_t{4} << 20;
  constexpr uint64_t kMostBehind = uint64_t{64} << 20;  // of a disk that is slower than we are
  constexpr uint64_t kBesideBytes = 32;                 // numbers, checksums
  const uint64_t bytes =
      stored.cell.row.size() + stored.cell.qualifier.size() + stored.packed.bytes.size();
  bytes_ += bytes + kBesideBytes;
  unsynced_ += bytes;
  if (unsynced_ < kBytesBetween) return {};
  behind_ += std::exchange(unsynced_, 0);
  files_.StartSync(path_);
  struct stat found {};
  if (stat(path_.c_str(), &found) == 0) bytes_on_disk_ = static_cast<uint64_t>(found.st_size);
  if (behind_ < kMostBehind) return {};
  behind_ = 0;
  return SyncFile();
}

Status StoreFileBuilder::SyncFile() {
  CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(path_));
  return file->Sync();
}

Status StoreFileBuilder::PutValue(const CellView& cell, StoredCell& stored) {
  stored.packed = PackValue(cell.value, family_.compression(), &buffer_);
  if (stored.packed.bytes.size() <= static_cast<size_t>(inline_value_limit_)) return {};
  stored.reference = next_reference_++;
  put_value_.Bind(1, stored.reference);
  put_value_.Bind(2, ChecksumOfValue(stored.packed.bytes, stored.reference));
  put_value_.Bind(3, stored.packed.bytes);
  return put_value_.Run();
}

Status StoreFileBuilder::PutRow(const StoredCell& stored) {
  const CellView& cell = stored.cell;
  put_.Bind(1, cell.row);
  put_.Bind(2, cell.qualifier);
  put_.Bind(3, -cell.timestamp);
  put_.Bind(4, cell.type == kWithdrawMarker ? YOfWithdrawal(static_cast<int64_t>(cell.value_length))
                                            : -static_cast<int64_t>(cell.type));
  put_.Bind(5, -static_cast<int64_t>(cell.sequence_id));
  put_.Bind(6, static_cast<int64_t>(cell.value_length));
  put_.Bind(7, ChecksumOf(stored));
  if (stored.reference == 0) {
    put_.Bind(8, stored.packed.bytes);
    put_.BindNull(9);
  } else {
    put_.BindNull(8);
    put_.Bind(9, stored.reference);
  }
  if (cell.time_to_live == kNoCellTtl) {
    put_.BindNull(10);
  } else {
    put_.Bind(10, cell.time_to_live);
  }
  if (stored.packed.tag == ValueTag::kPlain) {
    put_.BindNull(11);
  } else {
    put_.Bind(11, static_cast<int64_t>(stored.packed.tag));
  }
  return put_.Run();
}

void StoreFileBuilder::Count(const CellView& cell) {
  const bool new_row = facts_.cells == 0 || cell.row != facts_.last_row;
  const bool new_column = new_row || cell.qualifier != qualifier_;
  if (facts_.cells == 0) facts_.first_row = cell.row;
  if (new_row) facts_.last_row = cell.row;
  if (new_column) qualifier_ = cell.qualifier;
  if (new_column) puts_ = 0;
  AddToFilter(cell, new_row, new_column);
  ++facts_.cells;
  facts_.oldest = std::min(facts_.oldest, cell.timestamp);
  facts_.newest = std::max(facts_.newest, cell.timestamp);
  if (cell.type == CellType::kPut) {
    facts_.oldest_put = std::min(facts_.oldest_put, cell.timestamp);
    if (++puts_ > family_.max_versions()) ++facts_.surplus;
  } else if (cell.type == kWithdrawMarker) {
    ++facts_.withdrawals;
  } else {
    ++facts_.tombstones;
    if (IsFamilyTombstone(cell.type)) ++facts_.family_tombstones;
  }
}

void StoreFileBuilder::AddToFilter(const CellView& cell, bool new_row, bool new_column) {
  if (!filter_) return;
  if (new_row) {
    filter_->Add(HashOfRow(cell.row));
    family_tombstone_ = false;
  }
  if (!facts_.filter_has_columns) return;
  if (new_column) filter_->Add(HashOfColumn(cell.row, cell.qualifier));
  // What takes a tombstone of the family back is of every column as well.
  const bool is_withdrawal = cell.type == kWithdrawMarker;
  const CellType type =
      is_withdrawal ? static_cast<CellType>(static_cast<uint8_t>(cell.value[0])) : cell.type;
  if (IsFamilyTombstone(type) && !std::exchange(family_tombstone_, true))
    filter_->Add(HashOfFamilyTombstones(cell.row));
}

Status StoreFileBuilder::PutFilter() {
  if (!filter_) return {};
  facts_.filter_blocks = filter_->blocks();
  CELLFS_ASSIGN_OR_RETURN(Statement put, database_->Prepare("INSERT INTO filter VALUES (?1, ?2)"));
  for (int64_t i = 0; i < facts_.filter_blocks; ++i) {
    put.Bind(1, i);
    put.Bind(2, filter_->Block(i));
    CELLFS_RETURN_IF_ERROR(put.Run());
  }
  return {};
}

Status StoreFileBuilder::PutFacts() {
  StoredFacts stored{.store_id = folder_->store_id, .table = folder_->table, .facts = facts_};
  CELLFS_RETURN_IF_ERROR(PutStoredFacts(*database_, stored));
  facts_.bytes = stored.facts.bytes;
  return {};
}

StatusOr<std::optional<FileFacts>> StoreFileBuilder::Finish(SequenceId lowest, SequenceId highest,
                                                            bool is_followed) {
  if (facts_.cells == 0) return std::optional<FileFacts>();
  facts_.is_followed = is_followed;
  facts_.lowest = lowest;
  facts_.highest = highest;
  CELLFS_RETURN_IF_ERROR(PutFilter());
  CELLFS_RETURN_IF_ERROR(PutFacts());
  CELLFS_RETURN_IF_ERROR(transaction_->Commit());
  put_ = {};
  put_value_ = {};
  transaction_.reset();
  database_.reset();
  finished_ = true;  // from here on the file is to be removed by name
  const Status synced = SyncFile();
  if (!synced.ok()) {
    std::remove(path_.c_str());
    return synced;
  }
  return std::optional(facts_);
}

}  // namespace cellfs
