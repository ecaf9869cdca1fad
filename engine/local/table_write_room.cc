// SPDX-License-Identifier: MIT
#include "engine/local/table_write_room.h"

namespace cellfs {

TableWriteRoom::TableWriteRoom(TableServices& services, TableFlusher& flusher,
                               const TableServices::BytesOfPut& bytes, bool only_deletes)
    : services_(services),
      flusher_(flusher),
      bytes_(bytes),
      only_deletes_(only_deletes),
      turn_(services.large_writes, bytes.in_log) {}

bool TableWriteRoom::Take() {
  if (TakeAll()) return true;
  turn_.LetGo();
  claim_.Shrink(0);
  return false;
}

bool TableWriteRoom::TakeAll() {
  if (!turn_.Take() || (turn_.is_large() && services_.wal->IsBehind())) return false;
  if (!only_deletes_ && !services_.TryClaimDiskRoom(bytes_, claim_)) return false;
  fullness_ = flusher_.Fullness(kind());
  return fullness_ < 1;
}

Status TableWriteRoom::Await() {
  CELLFS_RETURN_IF_ERROR(AwaitMemoryAndTurn());
  if (turn_.is_large()) services_.wal->CatchUp();
  if (!only_deletes_) CELLFS_RETURN_IF_ERROR(services_.ClaimDiskRoom(bytes_, claim_));
  return {};
}

// Who waits for memory keeps nobody from his turn, who writes to another table perhaps.
Status TableWriteRoom::AwaitMemoryAndTurn() {
  do {
    turn_.LetGo();
    CELLFS_RETURN_IF_ERROR(flusher_.WaitForRoom(kind()));
    turn_.Await();
  } while (turn_.is_large() && flusher_.MustWait(kind()));
  fullness_ = flusher_.Fullness(kind());
  return {};
}

bool TableWriteRoom::IsEnoughFor(const TableServices::BytesOfPut& bytes) const {
  return bytes.in_log <= bytes_.in_log && bytes.in_files <= bytes_.in_files;
}

WriteKind TableWriteRoom::kind() const {
  if (only_deletes_) return WriteKind::kDeletes;
  return turn_.is_large() ? WriteKind::kLarge : WriteKind::kSmall;
}

}  // namespace cellfs
