// SPDX-License-Identifier: MIT
//
// ColumnTable: the columns of which this mount knows something (fs/nodes/column.h), by key. It does
// not own them: they are there as long as somebody holds them.
#ifndef CELLFS_FS_NODES_COLUMN_TABLE_H_
#define CELLFS_FS_NODES_COLUMN_TABLE_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fs/nodes/column.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe. Its mutexes are leaves, but for a node's, which may be held before.
class ColumnTable {
 public:
  ColumnTable() = default;
  ColumnTable(const ColumnTable&) = delete;
  ColumnTable& operator=(const ColumnTable&) = delete;

  // The one that the place, of any kind, is in; null: nothing is known of it.
  ColumnPtr Find(const Place& in_column) const;
  // The same, made where there is none.
  ColumnPtr Get(const Place& in_column);
  // Likewise, for a node at that place.
  ColumnPtr Get(const std::shared_ptr<const Place>& in_column);

  // ---- A family that goes if it is empty ------------------------------------------------------
  // As long as it lives nobody gets the lock of a column of the family, nor holds one.
  class ClosedFamily {
   public:
    ClosedFamily(ColumnTable& table, const Place& family);
    ~ClosedFamily();
    ClosedFamily(const ClosedFamily&) = delete;
    ClosedFamily& operator=(const ClosedFamily&) = delete;

   private:
    friend class ColumnTable;
    bool Has(const Column& column) const;

    ColumnTable& table_;
    const Place& family_;
  };

 private:
  friend class Column;
  friend class ColumnLock;

  // Its number is a hash already, and no secret one: places are compared.
  struct Identity {
    size_t operator()(uint64_t number) const { return static_cast<size_t>(number); }
  };
  struct alignas(64) Part {
    mutable std::mutex mutex;
    std::unordered_multimap<uint64_t, Column*, Identity> columns;  // guarded by mutex
  };
  static constexpr size_t kParts = 64;

  Part& PartOf(uint64_t number) { return parts_[number % kParts]; }
  const Part& PartOf(uint64_t number) const { return parts_[number % kParts]; }
  static ColumnPtr FindLocked(const Part& part, const Place& in_column, uint64_t number);
  template <typename MakePlace>
  ColumnPtr FindOrMake(const Place& in_column, MakePlace&& make_place);
  void Remove(const Column& column) noexcept;
  std::vector<ColumnPtr> FindAllIn(const ClosedFamily& family) const;

  // For ColumnLock, which holds the column's mutex when it asks.
  bool IsClosed(const Column& column) const;
  void AwaitOpening(const Column& column);

  std::array<Part, kParts> parts_;
  std::atomic<int> closed_count_{0};
  mutable std::mutex closed_mutex_;
  std::condition_variable opened_;
  std::vector<const ClosedFamily*> closed_;  // guarded by closed_mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_TABLE_H_
