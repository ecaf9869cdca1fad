// SPDX-License-Identifier: MIT
#include "engine/local/flush.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cellfs {
namespace {

// One column in so many is looked at to guess how much of the file is garbage.
constexpr int64_t kSample = 16;

class FamilyFlush {
 public:
  FamilyFlush(StoreFileWriter& writer, const FamilySchema& family, const Rewrite& rewrite,
              DroppedColumns& dropped)
      : writer_(writer),
        family_(family),
        matcher_(MakeCompactionMatcher(family, rewrite)),
        dropped_(dropped) {}

  Status Run(CellCursor& cells) {
    CELLFS_RETURN_IF_ERROR(cells.Seek({}));
    for (; cells.valid();) {
      CELLFS_RETURN_IF_ERROR(Take(cells.cell()));
      CELLFS_RETURN_IF_ERROR(cells.Next());
    }
    return Status();
  }

 private:
  struct Withdrawal {
    CellType type;
    SequenceId before;
  };

  Status Take(const CellView& cell) {
    if (cell.row != row_ || cell.qualifier != qualifier_) {
      // The memstore, which the views are of, outlives the flush.
      row_ = cell.row;
      qualifier_ = cell.qualifier;
      ++columns_;
      withdrawals_.clear();
    } else if (cell.timestamp != timestamp_) {
      withdrawals_.clear();
    }
    timestamp_ = cell.timestamp;
    if (cell.type == kWithdrawMarker) return Withdraw(cell);
    if (IsWithdrawn(cell)) return Status();
    if (!matcher_->Keep(cell)) {
      dropped_.Add(family_.name(), cell);
      return Status();
    }
    CELLFS_RETURN_IF_ERROR(writer_.Put(family_, cell));
    return CountGarbage(cell);
  }

  Status Withdraw(const CellView& marker) {
    const auto type = static_cast<CellType>(marker.value[0]);
    withdrawals_.push_back({type, marker.sequence_id});
    CellView key = marker;
    key.type = type;
    return writer_.Erase(family_.name(), key, 0, marker.sequence_id);
  }

  bool IsWithdrawn(const CellView& cell) const {
    return std::any_of(withdrawals_.begin(), withdrawals_.end(), [&](const Withdrawal& withdrawal) {
      return withdrawal.type == cell.type && cell.sequence_id < withdrawal.before;
    });
  }

  // A tombstone stands for itself and for what it hides; a column over its versions for one of
  // them.
  Status CountGarbage(const CellView& cell) {
    if (IsTombstone(cell.type)) writer_.facts().garbage += 2;
    if (columns_ < kSample) return Status();
    columns_ = 0;
    const int64_t most = family_.max_versions();
    CELLFS_ASSIGN_OR_RETURN(const int64_t versions,
                            writer_.CountVersions(family_.name(), cell.row, cell.qualifier,
                                                  std::min(most, int64_t{99}) + 1));
    if (versions > most) writer_.facts().garbage += kSample;
    return Status();
  }

  StoreFileWriter& writer_;
  const FamilySchema& family_;
  const std::unique_ptr<CompactionMatcher> matcher_;
  DroppedColumns& dropped_;
  std::string_view row_, qualifier_;
  Timestamp timestamp_ = 0;
  std::vector<Withdrawal> withdrawals_;  // of the present column and timestamp
  int64_t columns_ = kSample;            // since the last sample
};

}  // namespace

StatusOr<std::unique_ptr<StoreFileWriter>> WriteMemstore(StoreFile& file, const TableSchema& schema,
                                                         std::shared_ptr<const Memstore> memstore,
                                                         const Rewrite& rewrite,
                                                         int32_t inline_value_limit,
                                                         DroppedColumns& dropped) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreFileWriter> writer,
                          StoreFileWriter::Begin(file, inline_value_limit));
  for (const auto& [name, family] : schema.families) {
    if (memstore->CellsOfFamily(name) == 0) continue;
    const auto cells = OpenMemstoreCursor(memstore, name, kMaxSequenceId);
    CELLFS_RETURN_IF_ERROR(FamilyFlush(*writer, family, rewrite, dropped).Run(*cells));
  }
  SequenceId& flushed = writer->facts().flushed;
  flushed = std::max(flushed, memstore->highest_sequence_id());
  CELLFS_RETURN_IF_ERROR(writer->Prepare());
  return writer;
}

}  // namespace cellfs
