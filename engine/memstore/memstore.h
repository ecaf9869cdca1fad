// SPDX-License-Identifier: MIT
//
// Memstore: the cells of one table that have not been flushed yet, in order (HBase's
// DefaultMemStore, with one skip list per family). Cells are added and never removed; a memstore
// goes as a whole, once it has been flushed and the last cursor has closed.
//
// One thread adds at a time (the caller's mutex); any number read meanwhile, without a lock. What a
// reader sees is bounded by its read point: the caller publishes a mutation's sequence id after
// adding all of its cells, and cursors pass over cells with a greater one.
#ifndef CELLFS_ENGINE_MEMSTORE_MEMSTORE_H_
#define CELLFS_ENGINE_MEMSTORE_MEMSTORE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/memstore/arena.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

class Memstore {
 public:
  explicit Memstore(const std::vector<std::string>& families);
  ~Memstore();
  Memstore(const Memstore&) = delete;
  Memstore& operator=(const Memstore&) = delete;

  // Copies the cells of one mutation: all of the same row, with their sequence ids. Cells of a
  // family that the memstore does not have are passed over (a replayed log may name a dropped one).
  // REQUIRES: no cell has the key and sequence id of another, withdrawals apart.
  void Add(std::span<const CellView> cells);
  // Add in two steps, for one or more mutations: the first may run out of memory, and shows nothing
  // to anybody; the second cannot fail.
  class Addition;

  // What the cells take of memory: rows (once for each Add), qualifiers, values, and the node of
  // each cell with its links; not what is still free in the arena. Flushes are decided by it.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t cells() const { return cells_.load(std::memory_order_relaxed); }
  // 0: there is no cell.
  SequenceId highest_sequence_id() const {
    return highest_sequence_id_.load(std::memory_order_relaxed);
  }
  // Of all cells. 0: there is no later one.
  Timestamp newest() const { return newest_.load(std::memory_order_relaxed); }
  struct FamilyFigures {
    uint64_t cells = 0;
    // Of puts and withdrawals, which store files' tombstones may hide and which may withdraw these;
    // kLatestTimestamp: there is none.
    Timestamp oldest_that_shows = kLatestTimestamp;
  };
  FamilyFigures FiguresOf(std::string_view family) const;

 private:
  struct Node;
  class FamilyList;
  class Cursor;
  friend std::unique_ptr<CellCursor> OpenMemstoreCursor(std::shared_ptr<const Memstore>,
                                                        std::string_view, SequenceId, bool);
  const FamilyList* Find(std::string_view family) const;

  Arena arena_;   // rows, and nodes with their qualifiers: what a look for a cell goes over
  Arena values_;  // apart, so that the others lie close together
  std::map<std::string, std::unique_ptr<FamilyList>, std::less<>> families_;  // never changes
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> cells_{0};
  std::atomic<SequenceId> highest_sequence_id_{0};
  std::atomic<Timestamp> newest_{0};
};

// One at a time. What is not finished gives its memory back.
class Memstore::Addition {
 public:
  // `memory`, which outlives it, has what is needed until the end of the addition alone.
  explicit Addition(Memstore& memstore,
                    std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : memstore_(memstore),
        mark_(memstore.arena_.Here()),
        values_mark_(memstore.values_.Here()),
        taken_(memory),
        nodes_(memory) {}
  ~Addition();
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;

  // Values from so many bytes on are worth it.
  static constexpr size_t kLong = size_t{256} << 10;
  // A value of a cell that Prepare will get, which is not copied then.
  std::string_view TakeValue(std::string&& value);
  void Prepare(std::span<const CellView> cells);
  void Finish() noexcept;

 private:
  Memstore& memstore_;
  const Arena::Mark mark_;
  const Arena::Mark values_mark_;
  bool finished_ = false;
  std::pmr::vector<const char*> taken_;
  std::pmr::vector<std::pair<FamilyList*, Node*>> nodes_;
  uint64_t bytes_ = 0;
};

// The cells of a family with a sequence id up to `read_point`, withdrawals among them. Keeps the
// memstore; the views that it gives are good as long as the memstore lives. Of lengths only, values
// are left out (but not the withdrawals'). Empty for a family that the memstore does not have.
std::unique_ptr<CellCursor> OpenMemstoreCursor(std::shared_ptr<const Memstore> memstore,
                                               std::string_view family, SequenceId read_point,
                                               bool lengths_only = false);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_MEMSTORE_H_
