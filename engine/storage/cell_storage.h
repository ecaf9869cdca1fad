// SPDX-License-Identifier: MIT
//
// CellStorage: the stored cells of one table, beneath the rules of mutations and above the disk.
// The two kinds of store differ only here: engine/local keeps cells in a log, a memstore and
// SQLite, engine/memory in sorted vectors. Each has an own idea of what a read sees (the first is
// the product, the second its oracle), so that boundary lies above visibility.
#ifndef CELLFS_ENGINE_STORAGE_CELL_STORAGE_H_
#define CELLFS_ENGINE_STORAGE_CELL_STORAGE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/admin.h"
#include "engine/column_head.h"
#include "engine/mutation.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/status_or.h"
#include "engine/write_room.h"

namespace cellfs {

// The cells of one row that become visible in one step, under one sequence id that the storage
// gives. No two of `cells` have the same column, timestamp and type: of two such the region keeps
// the later.
struct RowBatch {
  std::string row;
  std::vector<Cell> cells;  // row may be left empty in them; sequence_id is ignored
  std::vector<WithdrawCell> withdrawn;
  Durability durability = Durability::kSyncWal;  // never kUseDefault
};

// A place in the log; what has a smaller one is durable no later.
using LogPosition = uint64_t;

// What has become of a write.
struct Applied {
  LogPosition position = 0;
  // Memory fills up: the writer is to pause for so long, once his locks are free.
  std::chrono::microseconds pause{0};
  // Nothing was written, for lack of this.
  std::unique_ptr<WriteRoom> lacks;
};

// What a writer of a row reads and changes: the cells of a table, or of one row that is kept for
// him.
class RowStorage {
 public:
  virtual ~RowStorage() = default;

  // Reads as `now` sees it, or as query.moment does. The columns named exist in the schema.
  virtual StatusOr<RowCells> Read(const Get& get, Timestamp now) = 0;
  virtual StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) = 0;
  virtual StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                              std::string_view qualifier) = 0;

  // Writes batches in order; each is visible, whole, when this returns. What each durability
  // promises holds once CellStorage::MakeDurable has returned for the position. Waits for no
  // room: what the same write lacked before and has got by now is `room`, else null. Values are
  // taken out of the batches, unless room is lacking.
  virtual StatusOr<Applied> Apply(std::span<RowBatch> batches, WriteRoom* room) = 0;
};

// Thread-safe. The region holds a row's lock while it reads to write, and keeps Flush, Compact and
// ReplaceSchema apart from nothing: the storage itself orders them with reads and writes.
class CellStorage : public RowStorage {
 public:
  // No cell has a later one. At once.
  virtual Timestamp NewestTimestamp() const { return kLatestTimestamp; }

  // Where others write the same cells: the rows, kept from them until the result goes, so that what
  // is read there and then applied, once, is one step. Null: nobody else writes, and the region's
  // own locks of the rows will do.
  virtual StatusOr<std::unique_ptr<RowStorage>> KeepRows(
      std::span<const std::string_view> /*rows*/) {
    return std::unique_ptr<RowStorage>();
  }
  // Whatever was applied up to that position.
  virtual Status MakeDurable(LogPosition /*position*/, Durability /*durability*/) { return {}; }

  // What a write of about so many bytes is to have before it locks its rows, for it would keep
  // others waiting there; null: it looks for room with them locked.
  virtual std::unique_ptr<WriteRoom> RoomAhead(uint64_t /*bytes*/) { return nullptr; }

  // Whether a value of so many bytes finds room now: kStoreFull.
  virtual Status CheckRoom(uint64_t /*bytes*/) { return {}; }

  virtual Status Flush() = 0;
  virtual Status Compact(CompactionKind kind) = 0;
  virtual Status CompactSelected() = 0;  // as StoreControls has it
  // Flushes under the old schema, then goes on with the new one; families that it leaves out lose
  // their cells. Where the name alone is another, takes no time.
  virtual Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) = 0;
  // Drops every cell.
  virtual Status Truncate() = 0;

  virtual TableStatistics GetStatistics() = 0;  // `table` is filled in by the caller
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_STORAGE_CELL_STORAGE_H_
