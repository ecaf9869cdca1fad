// SPDX-License-Identifier: MIT
//
// ColumnTable: the columns of which this mount knows something (fs/nodes/column.h), by key. It does
// not own them: they are there as long as somebody holds them. It holds those itself of which is
// known what was made of them lately: for temporary_age_ms, and of very many those of the last; the
// one that was put last; and those that were looked at last.
#ifndef CELLFS_FS_NODES_COLUMN_TABLE_H_
#define CELLFS_FS_NODES_COLUMN_TABLE_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/cell.h"
#include "engine/clock.h"
#include "fs/nodes/column.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe. Its mutexes are leaves, but for a node's, which may be held before.
class ColumnTable {
 public:
  ColumnTable(const Clock& clock, int64_t temporary_age_ms)
      : clock_(clock), age_ms_(temporary_age_ms) {}
  ColumnTable(const ColumnTable&) = delete;
  ColumnTable& operator=(const ColumnTable&) = delete;

  // The one that the place, of any kind, is in; null: nothing is known of it.
  ColumnPtr Find(const Place& in_column) const;
  // The same, made where there is none.
  ColumnPtr Get(const Place& in_column);
  // Likewise; `number` is the place's ColumnNumber.
  ColumnPtr Get(const Place& in_column, uint64_t number);

  // ---- The last ones --------------------------------------------------------------------------
  // q was looked for, and is neither stored nor claimed. Who makes a file looks it up just before:
  // where nothing was put since then, it need not be read again, nor is its column made again, which
  // is a sixth of a create. `number`: as for Get; `looked_at`: as for Column::Learn.
  void NoteAbsent(const Place& cell, uint64_t number, uint64_t looked_at);
  // Whether that is known, and so still. Right for a column that is claimed: what was put before
  // the claim has changed it.
  bool IsAbsent(const Column& column) const;
  // These columns of one family, from which a name went, have values that no TTL ends. Names mostly
  // go with others of their family, which need not be read for each of them: that is a third of an
  // unlink. `looked_at`: as above.
  void NoteFilled(std::vector<ColumnPtr> columns, uint64_t looked_at);
  // Whether that is known of one that is in the same family, and so still. REQUIRES: this one is
  // told that it has changed.
  bool IsFilledBeside(const Place& cell) const;
  // The store has changed otherwise: nothing that was looked at before is known.
  void ForgetLooks();

  // What was put last, by a file that is closed now. Savers and copiers rename it at once, and a
  // rename puts these bytes again: without them a temporary takes 4 % more instructions, and its
  // bytes are read from the store.
  static constexpr size_t kMaxBytesPut = size_t{256} << 10;
  // `generation`: the column's after the put.
  void KeepPut(ColumnPtr column, uint64_t generation, std::string bytes);
  // What a read of q would return, from here on no more; nullopt where that is not known, or a TTL
  // may have ended it.
  std::optional<Cell> TakePut(const Column& column);

  // ---- Columns that go together, with their table, family or row ------------------------------
  struct Part {
    TableName table;
    std::optional<std::set<std::string>> families;  // nullopt: all
    std::optional<std::string> row;                 // likewise
  };
  // As long as it lives nobody gets the lock of one of the columns, nor holds one, nor closes others
  // of the table. Its owner may do what needs these locks.
  class ClosedColumns {
   public:
    ClosedColumns(ColumnTable& columns, Part part);
    ~ClosedColumns();
    ClosedColumns(const ClosedColumns&) = delete;
    ClosedColumns& operator=(const ClosedColumns&) = delete;

    // They have gone: what is known of them is not so any more.
    void Changed() const;

   private:
    friend class ColumnTable;
    bool Has(const Column& column) const;

    ColumnTable& columns_;
    const Part part_;
  };
  // Counts those that are over: whoever has seen that a file is there, and then waited for its lock,
  // asks whether that may have gone with others meanwhile.
  uint64_t closings() const { return closings_.load(); }

 private:
  friend class Column;
  friend class ColumnLock;

  using Shards = std::array<ColumnShard, 64>;
  struct Absent {
    ColumnPtr column;        // null: there is none
    uint64_t looked_at = 0;  // Generation::Newest() from before
  };
  struct Filled {
    std::vector<ColumnPtr> columns;  // of one family
    uint64_t looked_at = 0;
  };
  struct PutLast {
    ColumnPtr column;  // null: there is none
    uint64_t generation = 0;
    std::string bytes;
  };

  ColumnShard& ShardOf(uint64_t number) const { return (*shards_)[number % shards_->size()]; }
  static ColumnPtr FindLocked(const ColumnShard& shard, const Place& in_column, uint64_t number);
  std::vector<ColumnPtr> FindAllOf(const ClosedColumns& closed) const;

  // For Column. What was noted then is still to be believed.
  bool IsRecent(Timestamp when) const { return when + age_ms_ >= clock_.Now(); }
  // The present, from which on it is kept.
  Timestamp KeepForAWhile(ColumnPtr column);

  // For ColumnLock, which holds the column's mutex when it asks.
  bool IsClosed(const Column& column) const {
    return closed_count_.load() != 0 && IsClosedNow(column);
  }
  bool IsClosedNow(const Column& column) const;
  void AwaitOpening(const Column& column);

  const Clock& clock_;
  const int64_t age_ms_;
  const std::shared_ptr<Shards> shards_ = std::make_shared<Shards>();
  std::atomic<int> closed_count_{0};
  std::atomic<uint64_t> closings_{0};
  mutable std::mutex closed_mutex_;
  std::condition_variable opened_;
  std::vector<const ClosedColumns*> closed_;  // guarded by closed_mutex_
  std::mutex recent_mutex_;
  // The oldest first; a column may be here more than once. Guarded by recent_mutex_. Behind the
  // parts, in which its columns are: goes before them, as the last ones do.
  std::deque<std::pair<ColumnPtr, Timestamp>> recent_;

  mutable std::mutex last_mutex_;
  std::array<Absent, 8> absent_;  // guarded by last_mutex_, as the others
  size_t next_absent_ = 0;
  Filled filled_;
  uint64_t looks_forgotten_ = 0;  // Generation::Newest() then
  PutLast put_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_TABLE_H_
