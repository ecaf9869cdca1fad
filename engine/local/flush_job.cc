// SPDX-License-Identifier: MIT
#include "engine/local/flush_job.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/file/store_file_builder.h"
#include "engine/local/rewrite.h"

namespace cellfs {

StatusOr<VersionEdit> FlushJob::Run() {
  const Memstore& memstore = version_->frozen->memstore();
  const SequenceId keep_up_to = services_.moments->Newest();
  VersionEdit edit;
  edit.flushed = memstore.highest_sequence_id();
  edit.ends_frozen = true;
  edit.complete_up_to = keep_up_to;
  for (const auto& [name, family] : version_->schema->families) {
    if (memstore.FiguresOf(name).cells == 0) continue;
    if (Status written = WriteFamily(family, keep_up_to, edit); !written.ok()) {
      versions_.Discard(edit.added);
      return written;
    }
  }
  return edit;
}

Status FlushJob::WriteFamily(const FamilySchema& family, SequenceId keep_up_to,
                             VersionEdit& edit) {
  const Memstore& memstore = version_->frozen->memstore();
  Rewrite rules = services_.RewriteNow(RewriteKind::kMinor);
  rules.keep_up_to = keep_up_to;
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<StoreFileBuilder> builder,
      StoreFileBuilder::Begin(
          services_.files, versions_.folder(), family,
          {.number = versions_.NewFileNumber(),
           .inline_value_limit = services_.options.inline_value_limit,
           .cells_at_most = static_cast<int64_t>(memstore.FiguresOf(family.name()).cells),
           .written = rules.now,
           .sync_times = &services_.file_sync_times}));
  RewriteInput input;
  input.cells.push_back(
      OpenMemstoreCursor(std::shared_ptr<const Memstore>(version_->frozen, &memstore),
                         family.name(), kMaxSequenceId));
  input.is_withdrawn_in_memory = [&](const CellView& cell) {
    return version_->active->MayWithdraw(family.name(), cell);
  };
  input.older_may_hold = [&](const CellView& withdrawal) {
    const StoreFiles& files = version_->files->Of(family.name());
    return std::any_of(files.begin(), files.end(),
                       [&](const auto& file) { return MayHoldPlaceOf(file->facts(), withdrawal); });
  };
  input.stopped = [this] { return versions_.is_dropped(); };
  CELLFS_ASSIGN_OR_RETURN(
      const Timestamp complete_since,
      RewriteFamily(std::move(input), family, rules, Into(*builder), dropped_));
  CELLFS_ASSIGN_OR_RETURN(
      std::optional<FileFacts> facts,
      builder->Finish(versions_.flushed() + 1, memstore.highest_sequence_id()));
  if (facts) edit.added.push_back(*std::move(facts));
  if (complete_since > 0) edit.past[family.name()].complete_since = complete_since;
  return {};
}

}  // namespace cellfs
