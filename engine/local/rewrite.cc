// SPDX-License-Identifier: MIT
#include "engine/local/rewrite.h"

#include <utility>

#include "engine/visibility/lost_states.h"
#include "engine/visibility/withdrawals.h"

namespace cellfs {
namespace {

// Whether to stop is looked at after so many bytes: of values, and this for each cell.
constexpr uint64_t kBytesBetweenLooks = uint64_t{1} << 20;
constexpr uint64_t kBytesOfCell = 1024;

class FamilyRewrite {
 public:
  FamilyRewrite(RewriteInput input, const FamilySchema& family, const Rewrite& rules,
                const RewriteOutput& output, DroppedColumns& dropped)
      : cells_(MergeAllCells(std::move(input.cells))),
        newer_(MergeAllCells(std::move(input.newer_withdrawals))),
        input_(std::move(input)),
        family_(family),
        keep_up_to_(rules.keep_up_to),
        matcher_(MakeCompactionMatcher(family, rules)),
        output_(output),
        dropped_(dropped),
        states_(family, rules.now) {}

  StatusOr<Timestamp> Run() {
    CELLFS_RETURN_IF_ERROR(cells_->Seek({}));
    CELLFS_RETURN_IF_ERROR(newer_->Seek({}));
    uint64_t bytes = 0;
    while (cells_->valid()) {
      bytes += kBytesOfCell + cells_->cell().value_length;
      if (bytes >= kBytesBetweenLooks) {
        bytes = 0;
        if (input_.stopped && input_.stopped())
          return Status(StatusCode::kCancelled, "the rewrite has been stopped");
      }
      CELLFS_RETURN_IF_ERROR(Take(cells_->cell()));
      CELLFS_RETURN_IF_ERROR(cells_->Next());
    }
    return states_.complete_since();
  }

 private:
  Status Take(const CellView& cell) {
    const bool is_hidden = withdrawals_.Hides(cell);
    if (cell.type == kWithdrawMarker) {
      const bool stays = keep_up_to_ > 0 || input_.older_may_hold(cell);
      return stays ? Put() : Status();
    }
    CELLFS_ASSIGN_OR_RETURN(const bool is_withdrawn, IsWithdrawnInFiles(cell));
    if (is_hidden || is_withdrawn) return cell.sequence_id <= keep_up_to_ ? Put() : Status();
    if (cell.sequence_id > input_.highest) {
      if (!input_.is_withdrawn_in_memory(cell)) (void)Keep(cell);
      return {};
    }
    if (input_.is_withdrawn_in_memory(cell) || Keep(cell)) return Put();
    // A newer tombstone makes an older one superfluous; but it may be withdrawn some day.
    if (input_.highest != kMaxSequenceId && IsTombstone(cell.type)) return Put();
    dropped_.Add(family_.name(), cell);
    return {};
  }

  // Is asked of every cell, in order.
  StatusOr<bool> IsWithdrawnInFiles(const CellView& cell) {
    while (newer_->valid() && !IsBefore(cell, newer_->cell())) {
      newer_withdrawals_.Add(newer_->cell());
      CELLFS_RETURN_IF_ERROR(newer_->Next());
    }
    return newer_withdrawals_.Hides(cell);
  }

  bool Keep(const CellView& cell) {
    const bool stays = matcher_->Keep(cell);
    states_.See(cell, stays);
    return stays;
  }

  Status Put() { return output_(*cells_); }

  const std::unique_ptr<CellCursor> cells_;
  const std::unique_ptr<CellCursor> newer_;
  const RewriteInput input_;  // without its cursors
  const FamilySchema& family_;
  const SequenceId keep_up_to_;
  const std::unique_ptr<CompactionMatcher> matcher_;
  const RewriteOutput& output_;
  DroppedColumns& dropped_;
  LostStates states_;
  Withdrawals withdrawals_;
  Withdrawals newer_withdrawals_;
};

}  // namespace

StatusOr<Timestamp> RewriteFamily(RewriteInput input, const FamilySchema& family,
                                  const Rewrite& rules, const RewriteOutput& output,
                                  DroppedColumns& dropped) {
  return FamilyRewrite(std::move(input), family, rules, output, dropped).Run();
}

RewriteOutput Into(StoreFileBuilder& builder) {
  return [&builder](CellCursor& cells) -> Status {
    CELLFS_RETURN_IF_ERROR(cells.LoadValue());
    return builder.Put(cells.cell());
  };
}

}  // namespace cellfs
