// SPDX-License-Identifier: MIT
#include "engine/memory/table_cells.h"

#include <algorithm>

namespace cellfs {

bool IsInOrder(const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; }

std::vector<SequenceId> MemoryShared::Pinned() {
  std::vector<SequenceId> pinned;
  std::erase_if(moments, [&](const auto& weak) {
    const auto moment = weak.lock();
    if (moment != nullptr) pinned.push_back(moment->sequence_id);
    return moment == nullptr;
  });
  std::sort(pinned.begin(), pinned.end());
  return pinned;
}

SequenceId ReadPointOf(const Moment* moment) {
  return moment == nullptr ? kMaxSequenceId : moment->sequence_id;
}

RowAsRead ReadRow(TableCells& table, const std::string& row, const Moment* moment) {
  RowAsRead read;
  table.ForEachList([&](const SortedCells& cells) {
    const auto [begin, end] =
        std::equal_range(cells.begin(), cells.end(), Cell{.row = row},
                         [](const Cell& a, const Cell& b) { return a.row < b.row; });
    for (auto cell = begin; cell != end; ++cell) {
      if (!cell->IsSeenAt(ReadPointOf(moment))) continue;
      read.families[cell->family].push_back(&read.cells.emplace_back(*cell));
    }
  });
  for (auto& [family, cells] : read.families) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell* a, const Cell* b) { return IsInOrder(*a, *b); });
  }
  return read;
}

}  // namespace cellfs
