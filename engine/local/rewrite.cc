// SPDX-License-Identifier: MIT
#include "engine/local/rewrite.h"

#include <utility>

#include "engine/visibility/withdrawals.h"

namespace cellfs {
namespace {

constexpr uint64_t kLookEvery = 1024;  // cells, whether to stop

using Cursors = std::vector<std::unique_ptr<CellCursor>>;

bool IsBefore(const CellView& a, const CellView& b) {
  if (const int order = a.row.compare(b.row); order != 0) return order < 0;
  return CompareInFamily(a, b) < 0;
}

// All cells of several cursors in order, from the first to the last; withdrawals too.
class ForwardMerge {
 public:
  explicit ForwardMerge(Cursors cursors) : cursors_(std::move(cursors)) {}

  Status Begin() {
    for (auto& cursor : cursors_) CELLFS_RETURN_IF_ERROR(cursor->Seek({}));
    Choose();
    return {};
  }
  bool valid() const { return current_ != nullptr; }
  CellCursor& cursor() { return *current_; }
  const CellView& cell() const { return current_->cell(); }

  Status Next() {
    CELLFS_RETURN_IF_ERROR(current_->Next());
    const bool goes_on =
        current_->valid() && (next_ == nullptr || IsBefore(current_->cell(), next_->cell()));
    if (!goes_on) Choose();
    return {};
  }

 private:
  // The smallest, and the one that comes after it.
  void Choose() {
    current_ = next_ = nullptr;
    for (auto& cursor : cursors_) {
      if (!cursor->valid()) continue;
      if (current_ == nullptr || IsBefore(cursor->cell(), current_->cell())) {
        next_ = std::exchange(current_, cursor.get());
      } else if (next_ == nullptr || IsBefore(cursor->cell(), next_->cell())) {
        next_ = cursor.get();
      }
    }
  }

  const Cursors cursors_;
  CellCursor* current_ = nullptr;
  CellCursor* next_ = nullptr;
};

class FamilyRewrite {
 public:
  FamilyRewrite(RewriteInput input, const FamilySchema& family, const Rewrite& rules,
                StoreFileBuilder& builder, DroppedColumns& dropped)
      : cells_(std::move(input.cells)),
        newer_(std::move(input.newer_withdrawals)),
        input_(std::move(input)),
        family_(family),
        keep_up_to_(rules.keep_up_to),
        matcher_(MakeCompactionMatcher(family, rules)),
        builder_(builder),
        dropped_(dropped) {}

  Status Run() {
    CELLFS_RETURN_IF_ERROR(cells_.Begin());
    CELLFS_RETURN_IF_ERROR(newer_.Begin());
    for (uint64_t cells = 1; cells_.valid(); ++cells) {
      if (cells % kLookEvery == 0 && input_.stopped && input_.stopped()) {
        return {StatusCode::kCancelled, "the rewrite has been stopped"};
      }
      CELLFS_RETURN_IF_ERROR(Take(cells_.cell()));
      CELLFS_RETURN_IF_ERROR(cells_.Next());
    }
    return {};
  }

 private:
  Status Take(const CellView& cell) {
    const bool is_hidden = withdrawals_.Hides(cell);
    if (cell.type == kWithdrawMarker) {
      const bool stays = keep_up_to_ > 0 || input_.older_may_hold(cell);
      return stays ? Put() : Status();
    }
    if (is_hidden) return cell.sequence_id <= keep_up_to_ ? Put() : Status();
    CELLFS_ASSIGN_OR_RETURN(const bool is_withdrawn, IsWithdrawnElsewhere(cell));
    if (is_withdrawn || matcher_->Keep(cell)) return Put();
    dropped_.Add(family_.name(), cell);
    return {};
  }

  StatusOr<bool> IsWithdrawnElsewhere(const CellView& cell) {
    for (; newer_.valid() && !IsBefore(cell, newer_.cell());) {
      static_cast<void>(newer_withdrawals_.Hides(newer_.cell()));
      CELLFS_RETURN_IF_ERROR(newer_.Next());
    }
    return newer_withdrawals_.Hides(cell) || input_.is_withdrawn_in_memory(cell);
  }

  Status Put() {
    CELLFS_RETURN_IF_ERROR(cells_.cursor().LoadValue());
    return builder_.Put(cells_.cell());
  }

  ForwardMerge cells_;
  ForwardMerge newer_;
  const RewriteInput input_;  // without its cursors
  const FamilySchema& family_;
  const SequenceId keep_up_to_;
  const std::unique_ptr<CompactionMatcher> matcher_;
  StoreFileBuilder& builder_;
  DroppedColumns& dropped_;
  Withdrawals withdrawals_;
  Withdrawals newer_withdrawals_;
};

}  // namespace

Status RewriteFamily(RewriteInput input, const FamilySchema& family, const Rewrite& rules,
                     StoreFileBuilder& builder, DroppedColumns& dropped) {
  return FamilyRewrite(std::move(input), family, rules, builder, dropped).Run();
}

}  // namespace cellfs
