// SPDX-License-Identifier: MIT
#include "engine/local/compaction.h"

namespace cellfs {
namespace {

constexpr int kCellsOfBatch = 16384;
constexpr size_t kMostDoomed = 4096;  // remembered before they are removed: bounds the memory

}  // namespace

StatusOr<bool> FamilyCompaction::RunBatch(StoreFileWriter& writer, const IsWithdrawn& is_withdrawn,
                                          DroppedColumns& dropped) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor, writer.OpenCursor(family_.name()));
  CELLFS_RETURN_IF_ERROR(cursor->Seek({next_row_}));
  std::string row = next_row_;
  for (int cells = 0; cursor->valid(); ++cells) {
    if (cursor->cell().row != row) {
      row = cursor->cell().row;
      if (cells >= kCellsOfBatch) {
        next_row_ = row;
        cursor.reset();
        CELLFS_RETURN_IF_ERROR(EraseDoomed(writer));
        return true;
      }
    }
    const CellView& cell = cursor->cell();
    if (!is_withdrawn(cell) && !matcher_->Keep(cell)) {
      doomed_.push_back(CopyOf(cell));
      dropped.Add(family_.name(), cell);
    }
    if (doomed_.size() < kMostDoomed) {
      CELLFS_RETURN_IF_ERROR(cursor->Next());
      continue;
    }
    // A cursor is not to stand where rows go: it starts anew behind the last cell it showed.
    const Cell last = CopyOf(cursor->cell());
    cursor.reset();
    CELLFS_RETURN_IF_ERROR(EraseDoomed(writer));
    CELLFS_ASSIGN_OR_RETURN(cursor, writer.OpenCursor(family_.name()));
    CELLFS_RETURN_IF_ERROR(cursor->Seek({last.row, last.qualifier, last.timestamp}));
    while (cursor->valid() && cursor->cell().row == last.row &&
           CompareInFamily(cursor->cell(), ViewOf(last)) <= 0) {
      CELLFS_RETURN_IF_ERROR(cursor->Next());
    }
  }
  cursor.reset();
  CELLFS_RETURN_IF_ERROR(EraseDoomed(writer));
  return false;
}

Status FamilyCompaction::EraseDoomed(StoreFileWriter& writer) {
  for (const Cell& cell : doomed_) {
    CELLFS_RETURN_IF_ERROR(
        writer.Erase(family_.name(), ViewOf(cell), cell.sequence_id, cell.sequence_id));
  }
  doomed_.clear();
  return Status();
}

}  // namespace cellfs
