// SPDX-License-Identifier: MIT
#include "engine/memory/naive_rewrite.h"

namespace cellfs {
namespace {

// One column of the row. What makes HBase go on to the next column drops the rest of this one,
// tombstones too; but for the column of the empty qualifier, which it never leaves, because family
// tombstones may follow.
class ColumnRewrite {
 public:
  ColumnRewrite(const CellList& row, const std::string& column, const FamilySchema& family,
                const NaiveRewrite& rewrite)
      : row_(row),
        column_(column),
        family_(family),
        rewrite_(rewrite),
        oldest_alive_(OldestAlive(family, rewrite.now)) {
    if (!family.new_version_behavior()) return;
    CellList writings;
    for (const Cell* cell : row) {
      if (OutlivedItself(*cell, rewrite.now)) continue;
      if (cell->qualifier == column || IsFamilyTombstone(cell->type)) writings.push_back(cell);
    }
    left_ = LeftByRewriting(writings, column, family.max_versions());
  }

  CellList Kept(const CellList& cells) {
    CellList kept;
    for (const Cell* cell : cells) {
      const bool survives = (!over_ || column_.empty()) && Keep(*cell);
      if (survives || cell->sequence_id <= rewrite_.keep_up_to) kept.push_back(cell);
    }
    return kept;
  }

 private:
  bool Keep(const Cell& cell) {
    if (family_.min_versions() == 0 && Expired(cell) && !family_.new_version_behavior()) {
      return GoOn();
    }
    if (OutlivedItself(cell, rewrite_.now)) return false;
    return IsTombstone(cell.type) ? KeepTombstone(cell) : KeepPut(cell);
  }

  bool KeepTombstone(const Cell& tombstone) {
    if (!rewrite_.major || rewrite_.keep_up_to > 0) return !IsRedundant(tombstone);
    const int64_t purge = rewrite_.time_to_purge_deletes;
    if (purge > 0 && rewrite_.now - tombstone.timestamp <= purge) return true;
    if (Works(tombstone)) return false;
    if (tombstone.timestamp < rewrite_.oldest_put) return GoOn();
    return CountVersion(tombstone);
  }

  bool KeepPut(const Cell& put) {
    if (family_.new_version_behavior()) return left_.contains(&put) && CountNewVersion(put);
    bool hidden = false;
    for (const Cell* other : row_) {
      if (!IsTombstone(other->type) || !Works(*other)) continue;
      if (!Covers(*other, column_, put.timestamp)) continue;
      hidden = true;
      over_ |= other->type == CellType::kDeleteFamily || other->type == CellType::kDeleteColumn;
    }
    return !hidden && CountVersion(put);
  }

  // Whether it takes puts with it now (else KEEP_DELETED_CELLS keeps what it covers).
  bool Works(const Cell& tombstone) const {
    return family_.keep_deleted_cells() == KeepDeletedCells::kFalse ||
           (family_.keep_deleted_cells() == KeepDeletedCells::kTtl && Expired(tombstone));
  }

  // HBASE-30036: one before it in the order says as much or more.
  bool IsRedundant(const Cell& tombstone) const {
    if (family_.keep_deleted_cells() != KeepDeletedCells::kFalse) return false;
    const bool of_one_version =
        tombstone.type == CellType::kDelete || tombstone.type == CellType::kDeleteFamilyVersion;
    for (const Cell* other : row_) {
      if (other == &tombstone) return false;
      const bool of_all_versions =
          other->type == CellType::kDeleteFamily || other->type == CellType::kDeleteColumn;
      const bool as_wide = (of_all_versions || of_one_version) &&
                           (IsFamilyTombstone(other->type) || !IsFamilyTombstone(tombstone.type));
      if (as_wide && Covers(*other, column_, tombstone.timestamp)) return true;
    }
    return false;
  }

  bool CountVersion(const Cell& cell) {
    if (last_ != nullptr && last_->timestamp == cell.timestamp && last_->type == cell.type) {
      return false;
    }
    if (!IsTombstone(cell.type)) ++count_;
    if (count_ > family_.max_versions()) return GoOn();
    if (count_ > family_.min_versions() && Expired(cell)) return GoOn();
    last_ = &cell;
    return true;
  }

  bool CountNewVersion(const Cell& put) {
    ++count_;
    if (Expired(put) && count_ > family_.min_versions()) return GoOn();
    if (count_ == family_.max_versions() || (Expired(put) && count_ == family_.min_versions())) {
      over_ = true;
    }
    return true;
  }

  bool Expired(const Cell& cell) const { return cell.timestamp < oldest_alive_; }
  bool GoOn() {
    over_ = true;
    return false;
  }

  const CellList& row_;
  const std::string& column_;
  const FamilySchema& family_;
  const NaiveRewrite& rewrite_;
  const Timestamp oldest_alive_;
  std::set<const Cell*> left_;
  int32_t count_ = 0;
  const Cell* last_ = nullptr;
  bool over_ = false;
};

}  // namespace

CellList Rewritten(const CellList& cells, const FamilySchema& family, const NaiveRewrite& rewrite) {
  if (family.new_version_behavior() && (!rewrite.major || rewrite.keep_up_to > 0)) return cells;
  CellList kept;
  for (const auto& [column, list] : ByColumn(cells)) {
    for (const Cell* cell : ColumnRewrite(cells, column, family, rewrite).Kept(list)) {
      kept.push_back(cell);
    }
  }
  return kept;
}

}  // namespace cellfs
