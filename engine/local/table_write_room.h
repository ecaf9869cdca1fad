// SPDX-License-Identifier: MIT
//
// TableWriteRoom: what a write has until it is in the log: a turn among the large ones, a claim on
// the disk, and memory that was free when it was looked at.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_WRITE_ROOM_H_
#define CELLFS_ENGINE_LOCAL_TABLE_WRITE_ROOM_H_

#include "engine/local/table_flusher.h"
#include "engine/local/table_services.h"
#include "engine/memstore/large_writes.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

// One thread. Outlived by the services and the flusher.
class TableWriteRoom : public WriteRoom {
 public:
  // Deletes need no claim: they make room where the disk is full.
  TableWriteRoom(TableServices& services, TableFlusher& flusher,
                 const TableServices::BytesOfPut& bytes, bool only_deletes);

  bool Take() override;
  Status Await() override;

  double fullness() const { return fullness_; }  // of memory, when it was looked at
  bool IsEnoughFor(const TableServices::BytesOfPut& bytes) const;

 private:
  WriteKind kind() const;
  bool TakeAll();
  Status AwaitMemoryAndTurn();

  TableServices& services_;
  TableFlusher& flusher_;
  const TableServices::BytesOfPut bytes_;
  const bool only_deletes_;
  LargeWrites::Turn turn_;
  DiskReserve::Claim claim_;
  double fullness_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_WRITE_ROOM_H_
