// SPDX-License-Identifier: MIT
//
// ColumnTable: the columns of which this mount knows something (fs/nodes/column.h), by key. It does
// not own them: they are there as long as somebody holds them. It holds those itself of which is
// known what was made of them lately: for temporary_age_ms, and of very many those of the last.
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
  // Likewise, for a node at that place; `number` is its ColumnNumber.
  ColumnPtr Get(const std::shared_ptr<const Place>& in_column, uint64_t number);

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

  ColumnShard& ShardOf(uint64_t number) const { return (*shards_)[number % shards_->size()]; }
  static ColumnPtr FindLocked(const ColumnShard& shard, const Place& in_column, uint64_t number);
  template <typename MakePlace>
  ColumnPtr FindOrMake(const Place& in_column, uint64_t number, MakePlace&& make_place);
  std::vector<ColumnPtr> FindAllOf(const ClosedColumns& closed) const;

  // For Column. What was noted then is still to be believed.
  bool IsRecent(Timestamp when) const { return when + age_ms_ >= clock_.Now(); }
  // The present, from which on it is kept.
  Timestamp KeepForAWhile(ColumnPtr column);

  // For ColumnLock, which holds the column's mutex when it asks.
  bool IsClosed(const Column& column) const;
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
  // The oldest first; a column may be here more than once. Guarded by recent_mutex_. Last: goes
  // before the parts, in which its columns are.
  std::deque<std::pair<ColumnPtr, Timestamp>> recent_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_TABLE_H_
