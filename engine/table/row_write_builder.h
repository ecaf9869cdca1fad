// SPDX-License-Identifier: MIT
//
// From the mutations of one row to the cells that are stored: each gets its timestamp, increments
// and appends their values (HRegion.MutationBatchOperation). All of them see the row as it was
// before.
#ifndef CELLFS_ENGINE_TABLE_ROW_WRITE_BUILDER_H_
#define CELLFS_ENGINE_TABLE_ROW_WRITE_BUILDER_H_

#include "engine/mutation.h"
#include "engine/options.h"
#include "engine/schema.h"
#include "engine/status_or.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

// A column whose head has been read under the row's lock.
struct KnownHead {
  const ColumnCondition* column = nullptr;  // null: there is none
  const ColumnHead* head = nullptr;
};

struct WriteContext {
  const TableSchema& schema;
  RowStorage& storage;
  const SiteSettings& site;
  Timestamp now = 0;
  // What a Put without a timestamp gets: `now`, or that of the cell a condition looked at if later.
  Timestamp put_floor = 0;
  KnownHead known;
};

struct RowWrite {
  RowBatch batch;  // without its durability
  MutationResult result;
};

// REQUIRES: the mutations have been checked, and the row's lock is held.
StatusOr<RowWrite> BuildRowWrite(const RowMutations& mutations, const WriteContext& context);

// Whether the cells stand in the mutations alone, so that the row need not be looked at, and
// nothing can refuse them.
bool IsPlain(const RowMutations& mutations);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_ROW_WRITE_BUILDER_H_
