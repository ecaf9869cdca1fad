// SPDX-License-Identifier: MIT
#include "engine/file/store_file_builder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "engine/file/stored_facts.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

int64_t YOf(const CellView& cell) {
  if (cell.type != kWithdrawMarker) return -static_cast<int64_t>(cell.type);
  return YOfWithdrawal(static_cast<uint8_t>(cell.value[0]));
}

}  // namespace

StoreFileBuilder::StoreFileBuilder(FileLayer& files, std::shared_ptr<const TableFolder> folder,
                                   const FamilySchema& family, const BuilderOptions& options)
    : files_(files),
      folder_(std::move(folder)),
      family_(family),
      inline_value_limit_(std::max(options.inline_value_limit, 0)),
      tells_hidden_(options.tells_hidden),
      sync_times_(options.sync_times),
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
  if (is_made_ && !finished_ && !is_left_) std::remove(path_.c_str());
}

StatusOr<std::unique_ptr<StoreFileBuilder>> StoreFileBuilder::Begin(
    FileLayer& files, std::shared_ptr<const TableFolder> folder, const FamilySchema& family,
    const BuilderOptions& options) {
  std::unique_ptr<StoreFileBuilder> builder(
      new StoreFileBuilder(files, std::move(folder), family, options));
  CELLFS_RETURN_IF_ERROR(builder->Prepare());
  return builder;
}

// SQLite makes the tables, and all that is asked of them is where their roots lie.
Status StoreFileBuilder::Prepare() {
  CELLFS_RETURN_IF_ERROR(files_.CheckIsInPlace());
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Build(path_));
  is_made_ = true;
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database));
  CELLFS_RETURN_IF_ERROR(database->Execute(
      "PRAGMA application_id = " + std::to_string(kStoreFileApplicationId) +
      "; PRAGMA user_version = " + std::to_string(kStoreFileFormat) + ";" + StoreFileSchema()));
  CELLFS_RETURN_IF_ERROR(transaction.Commit());
  CELLFS_ASSIGN_OR_RETURN(pages_, PageWriter::Open(path_));
  using Kind = TreeBuilder::Kind;
  for (const auto& [tree, name, kind] :
       {std::tuple(&shown_.cells, TableOf(CellSet::kShown), Kind::kIndex),
        std::tuple(&shown_.tombstones, TombstonesOf(CellSet::kShown), Kind::kIndex),
        std::tuple(&hidden_.cells, TableOf(CellSet::kHidden), Kind::kIndex),
        std::tuple(&hidden_.tombstones, TombstonesOf(CellSet::kHidden), Kind::kIndex),
        std::tuple(&withdrawals_, "withdrawals", Kind::kIndex),
        std::tuple(&long_values_, "long_values", Kind::kTable),
        std::tuple(&filter_blocks_, "filter", Kind::kTable)}) {
    CELLFS_ASSIGN_OR_RETURN(const uint32_t root, database->RootOf(name));
    tree->root = root;
    tree->builder.emplace(*pages_, kind);
  }
  return {};
}

Status StoreFileBuilder::Put(const CellView& cell) {
  const int64_t y = YOf(cell);
  CELLFS_RETURN_IF_ERROR(CheckComesNext(cell, y));
  const bool is_withdrawal = cell.type == kWithdrawMarker;
  const bool joins_held = is_withdrawal && IsInColumn(cell) && -cell.timestamp == last_t_;
  if (!joins_held) CELLFS_RETURN_IF_ERROR(PutHeld());
  const CellSet set = Count(cell, y);
  if (is_withdrawal) {
    held_.emplace_back(y, -static_cast<int64_t>(cell.sequence_id), cell.time_to_live);
    return {};
  }
  StoredCell stored;
  stored.cell = cell;
  stored.cell.value_length = cell.value.size();
  CELLFS_RETURN_IF_ERROR(PutValue(cell, stored));
  CELLFS_RETURN_IF_ERROR(PutRow(stored, y, set));
  return SyncNowAndThen(stored);
}

// Those of a column and timestamp come by sequence id, and lie by the type that they take back.
Status StoreFileBuilder::PutHeld() {
  if (held_.empty()) return {};
  std::sort(held_.begin(), held_.end());
  for (const auto& [y, s, time_to_live] : std::exchange(held_, {})) {
    StoredCell stored;
    stored.cell = {.row = facts_.last_row,
                   .qualifier = qualifier_,
                   .timestamp = -last_t_,
                   .type = kWithdrawMarker,
                   .sequence_id = static_cast<SequenceId>(-s),
                   .time_to_live = time_to_live,
                   .value_length = static_cast<uint64_t>(WithdrawnTypeOf(y))};
    CELLFS_RETURN_IF_ERROR(PutRow(stored, y, CellSet::kShown));
    CELLFS_RETURN_IF_ERROR(SyncNowAndThen(stored));
  }
  return {};
}

bool StoreFileBuilder::IsInColumn(const CellView& cell) const {
  return facts_.cells > 0 && cell.row == facts_.last_row && cell.qualifier == qualifier_;
}

// A tree out of order would hide cells.
Status StoreFileBuilder::CheckComesNext(const CellView& cell, int64_t y) const {
  if (facts_.cells == 0) return {};
  int order = cell.row.compare(facts_.last_row);
  if (order == 0) order = cell.qualifier.compare(qualifier_);
  const auto both_withdraw = IsYOfWithdrawal(y) && IsYOfWithdrawal(last_y_);
  const std::tuple here(-cell.timestamp, y, -static_cast<int64_t>(cell.sequence_id));
  const bool is_behind =
      both_withdraw ? -cell.timestamp >= last_t_ : here > std::tie(last_t_, last_y_, last_s_);
  if (order > 0 || (order == 0 && is_behind)) return {};
  return {StatusCode::kCorruption,
          path_ + ": cells of family '" + family_.name() + "' do not come in their order"};
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
  if (sync_times_ == nullptr) return file->Sync();
  return sync_times_->Time([&] { return file->Sync(); });
}

Status StoreFileBuilder::PutValue(const CellView& cell, StoredCell& stored) {
  stored.packed = PackValue(cell.value, family_.compression(), &buffer_);
  if (stored.packed.bytes.size() <= static_cast<size_t>(inline_value_limit_)) return {};
  stored.reference = next_reference_++;
  record_.Begin();
  record_.Null();  // the row's id
  record_.BlobBehind(stored.packed.bytes.size());
  return long_values_.builder->AddRow(stored.reference, record_.Finish(), stored.packed.bytes);
}

// With the columns of the key, which the indexes have as well.
void StoreFileBuilder::BeginRecord(const CellView& cell, int64_t y) {
  record_.Begin();
  record_.Blob(cell.row);
  record_.Blob(cell.qualifier);
  record_.Integer(-cell.timestamp);
  record_.Integer(y);
  record_.Integer(-static_cast<int64_t>(cell.sequence_id));
}

// And of what is no put, the entry of the index of such.
Status StoreFileBuilder::PutRow(const StoredCell& stored, int64_t y, CellSet set) {
  const CellView& cell = stored.cell;
  TreesOfSet& trees = set == CellSet::kShown ? shown_ : hidden_;
  BeginRecord(cell, y);
  const bool is_apart = stored.reference != 0;
  is_apart ? record_.Null() : record_.Blob(stored.packed.bytes);
  const bool tells_length =
      is_apart || stored.packed.tag != ValueTag::kPlain || cell.type == kWithdrawMarker;
  record_.IntegerUnless(!tells_length, static_cast<int64_t>(cell.value_length));
  record_.IntegerUnless(!is_apart, stored.reference);
  record_.IntegerUnless(cell.time_to_live == kNoCellTtl, cell.time_to_live);
  record_.IntegerUnless(stored.packed.tag == ValueTag::kPlain,
                        static_cast<int64_t>(stored.packed.tag));
  CELLFS_RETURN_IF_ERROR(trees.cells.builder->Add(record_.Finish()));
  if (cell.type == CellType::kPut) return {};
  // Both indexes have the same columns in the end.
  BeginRecord(cell, y);
  return (IsYOfWithdrawal(y) ? withdrawals_ : trees.tombstones).builder->Add(record_.Finish());
}

// Answers with the set that it belongs to.
CellSet StoreFileBuilder::Count(const CellView& cell, int64_t y) {
  const bool new_row = facts_.cells == 0 || cell.row != facts_.last_row;
  const bool new_column = new_row || cell.qualifier != qualifier_;
  if (facts_.cells == 0) facts_.first_row = cell.row;
  if (new_row) facts_.last_row = cell.row;
  if (new_column) qualifier_ = cell.qualifier;
  if (new_column) puts_ = 0;
  last_t_ = -cell.timestamp;
  last_y_ = y;
  last_s_ = -static_cast<int64_t>(cell.sequence_id);
  AddToFilter(cell, new_row, new_column);
  const bool is_hidden = hidden_cells_.IsHidden(cell, new_row);
  room_.Add(cell, is_hidden, new_column);
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
  if (!tells_hidden_ || !is_hidden) return CellSet::kShown;
  ++facts_.hidden.cells;
  if (IsTombstone(cell.type))
    facts_.hidden.newest_tombstone = std::max(facts_.hidden.newest_tombstone, cell.timestamp);
  return CellSet::kHidden;
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
  for (int64_t i = 0; i < facts_.filter_blocks; ++i) {
    record_.Begin();
    record_.Null();  // the row's id
    record_.Blob(filter_->Block(i));
    CELLFS_RETURN_IF_ERROR(filter_blocks_.builder->AddRow(i, record_.Finish()));
  }
  return {};
}

Status StoreFileBuilder::FinishTrees() {
  for (Tree* tree : {&shown_.cells, &shown_.tombstones, &hidden_.cells, &hidden_.tombstones,
                     &withdrawals_, &long_values_, &filter_blocks_})
    CELLFS_RETURN_IF_ERROR(tree->builder->Finish(tree->root));
  CELLFS_RETURN_IF_ERROR(pages_->Finish());
  pages_.reset();
  return {};
}

Status StoreFileBuilder::PutFacts() {
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::GoOnBuilding(path_));
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database));
  StoredFacts stored{.store_id = folder_->store_id, .table = folder_->table, .facts = facts_};
  CELLFS_RETURN_IF_ERROR(PutStoredFacts(*database, stored));
  facts_.bytes = stored.facts.bytes;
  return transaction.Commit();
}

StatusOr<std::optional<FileFacts>> StoreFileBuilder::Finish(SequenceId lowest, SequenceId highest,
                                                            bool is_followed) {
  if (facts_.cells == 0) return std::optional<FileFacts>();
  facts_.is_followed = is_followed;
  facts_.lowest = lowest;
  facts_.highest = highest;
  facts_.room = room_.Facts();
  CELLFS_RETURN_IF_ERROR(PutHeld());
  CELLFS_RETURN_IF_ERROR(PutFilter());
  CELLFS_RETURN_IF_ERROR(FinishTrees());
  CELLFS_RETURN_IF_ERROR(PutFacts());
  finished_ = true;  // from here on the file is to be removed by name
  const Status synced = SyncFile();
  if (!synced.ok()) {
    std::remove(path_.c_str());
    return synced;
  }
  return std::optional(facts_);
}

}  // namespace cellfs
