// SPDX-License-Identifier: MIT
#include "engine/memory/family_row.h"

#include <algorithm>

namespace cellfs {

ColumnsOfRow ByColumn(const CellList& cells) {
  ColumnsOfRow columns;
  for (const Cell* cell : cells) columns[cell->qualifier].push_back(cell);
  return columns;
}

Timestamp OldestAlive(const FamilySchema& family, Timestamp now) {
  if (family.time_to_live() == kForever) return std::numeric_limits<Timestamp>::min();
  return now - int64_t{family.time_to_live()} * 1000;
}

bool OutlivedItself(const Cell& cell, Timestamp now) {
  return cell.time_to_live != kNoCellTtl && cell.time_to_live < now - cell.timestamp;
}

bool Covers(const Cell& tombstone, const std::string& column, Timestamp timestamp) {
  switch (tombstone.type) {
    case CellType::kDeleteFamily:
      return timestamp <= tombstone.timestamp;
    case CellType::kDeleteFamilyVersion:
      return timestamp == tombstone.timestamp;
    case CellType::kDeleteColumn:
      return tombstone.qualifier == column && timestamp <= tombstone.timestamp;
    case CellType::kDelete:
      return tombstone.qualifier == column && timestamp == tombstone.timestamp;
    case CellType::kPut:
      break;
  }
  return false;
}

namespace {

using Alive = std::map<Timestamp, const Cell*, std::greater<>>;  // newest first

// Takes out what lies under the puts of `max_versions` writings. Puts of one mutation are one
// writing: HBase counts sequence ids.
void EnforceVersions(int32_t max_versions, Alive& alive) {
  std::set<SequenceId> above;
  std::erase_if(alive, [&](const auto& put) {
    if (above.size() >= static_cast<size_t>(max_versions)) return true;
    above.insert(put.second->sequence_id);
    return false;
  });
}

}  // namespace

std::set<const Cell*> LeftByRewriting(const CellList& writings, const std::string& column,
                                      int32_t max_versions) {
  std::map<SequenceId, CellList> mutations;
  for (const Cell* cell : writings) mutations[cell->sequence_id].push_back(cell);
  Alive alive;
  for (const auto& [sequence_id, cells] : mutations) {
    const Cell* family_tombstone = nullptr;
    bool counts = false;
    for (const Cell* cell : cells) {
      if (!IsTombstone(cell->type)) alive[cell->timestamp] = cell;
      // Of several in one mutation HBase goes by the last in order, the one with the lowest
      // timestamp.
      if (cell->type == CellType::kDeleteFamily) family_tombstone = cell;
      counts |= IsTombstone(cell->type) && cell->type != CellType::kDeleteColumn;
    }
    if (counts) EnforceVersions(max_versions, alive);
    for (const Cell* cell : cells) {
      if (!IsTombstone(cell->type)) continue;
      if (cell->type == CellType::kDeleteFamily && cell != family_tombstone) continue;
      std::erase_if(alive, [&](const auto& put) { return Covers(*cell, column, put.first); });
    }
  }
  EnforceVersions(max_versions, alive);
  std::set<const Cell*> left;
  for (const auto& [timestamp, put] : alive) left.insert(put);
  return left;
}

}  // namespace cellfs
