// SPDX-License-Identifier: MIT
//
// TableCells: the cells of a table in memory, in sorted vectors for memstore and files.
#ifndef CELLFS_ENGINE_MEMORY_TABLE_CELLS_H_
#define CELLFS_ENGINE_MEMORY_TABLE_CELLS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/memory/family_row.h"
#include "engine/options.h"
#include "engine/read.h"
#include "engine/rewrite_observer.h"
#include "engine/schema.h"

namespace cellfs {

// A withdrawn cell stays stored for the moments that see it.
struct WrittenCell : Cell {
  SequenceId withdrawn_by = 0;  // the mutation that took it back; 0: none did

  bool IsSeenAt(SequenceId read_point) const {
    return sequence_id <= read_point && (withdrawn_by == 0 || read_point < withdrawn_by);
  }
};

using SortedCells = std::vector<WrittenCell>;  // by CompareCells
using SortedFiles = std::vector<SortedCells>;  // of one family, newest first

bool IsInOrder(const Cell& a, const Cell& b);

template <typename Cells>
uint64_t BytesOfCells(const Cells& cells) {
  uint64_t size = 0;
  for (const Cell& cell : cells) {
    size += cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + 20;
  }
  return size;
}

// What the tables of one store share. Everything below is guarded by `mutex`.
struct MemoryShared {
  explicit MemoryShared(const StoreOptions& store_options) : options(store_options) {}

  const StoreOptions options;
  std::mutex mutex;  // not held while a filter runs: it may read from the store itself
  SequenceId last_sequence_id = 0;
  uint64_t mutations = 0;
  std::vector<std::weak_ptr<const Moment>> moments;
  RewriteObserver* observer = nullptr;

  // The sequence ids up to which the pinned moments see, ascending.
  std::vector<SequenceId> Pinned();
};

struct TableCells {
  std::shared_ptr<const TableSchema> schema;
  SortedCells memstore;
  std::map<std::string, SortedFiles> files;  // by family
  SequenceId flushed = 0;
  std::map<std::string, Timestamp> major_compactions;  // by family
  uint64_t flushes = 0;
  uint64_t compactions = 0;

  // Of memstore and files alike.
  template <typename Visit>
  void ForEachList(const Visit& visit) {
    visit(memstore);
    for (auto& [family, list] : files) {
      for (SortedCells& file : list) visit(file);
    }
  }
};

SequenceId ReadPointOf(const Moment* moment);  // null: the present

// A copy of the cells of a row that a read at `moment` may look at.
struct RowAsRead {
  std::deque<Cell> cells;
  std::map<std::string, CellList> families;  // in order
};

RowAsRead ReadRow(TableCells& table, const std::string& row, const Moment* moment);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_TABLE_CELLS_H_
