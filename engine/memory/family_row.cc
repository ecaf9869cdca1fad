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

// Newest timestamp first, and of one timestamp the put that was written last.
using Alive = std::map<Timestamp, CellList, std::greater<>>;

// Takes out what lies under the puts of `max_versions` writings, of the puts that `counts` names.
// Puts of one mutation are one writing: HBase counts sequence ids.
template <typename Counts>
void EnforceVersions(int32_t max_versions, const Counts& counts, Alive& alive) {
  std::set<SequenceId> above;
  for (auto& [timestamp, puts] : alive) {
    std::erase_if(puts, [&](const Cell* put) {
      if (!counts(*put)) return false;
      if (above.size() >= static_cast<size_t>(max_versions)) return true;
      above.insert(put->sequence_id);
      return false;
    });
  }
}

// Which puts of a timestamp that was written more than once count.
class RepeatedPuts {
 public:
  explicit RepeatedPuts(const CellList& writings) : writings_(writings) {
    for (const Cell* cell : writings) {
      if (IsTombstone(cell->type)) continue;
      SequenceId& last = last_writing_[cell->timestamp];
      last = std::max(last, cell->sequence_id);
    }
  }

  bool IsLast(const Cell& put) const { return put.sequence_id == last_writing_.at(put.timestamp); }

  // Before the tombstone of `sequence_id`. One that is repeated later counts where HBase, which
  // goes through the cells in their order, has met a version tombstone by then, written between the
  // one in question and the last put of the timestamp.
  bool CountsBefore(const Cell& put, SequenceId sequence_id) const {
    if (IsLast(put)) return true;
    return std::any_of(writings_.begin(), writings_.end(), [&](const Cell* cell) {
      const bool met = cell->type == CellType::kDeleteFamilyVersion ||
                       (cell->type == CellType::kDelete && cell->timestamp >= put.timestamp);
      return met && cell->sequence_id >= sequence_id &&
             cell->sequence_id <= last_writing_.at(put.timestamp);
    });
  }

 private:
  const CellList& writings_;
  std::map<Timestamp, SequenceId> last_writing_;
};

}  // namespace

std::set<const Cell*> LeftByRewriting(const CellList& writings, const std::string& column,
                                      int32_t max_versions) {
  std::map<SequenceId, CellList> mutations;
  for (const Cell* cell : writings) mutations[cell->sequence_id].push_back(cell);
  const RepeatedPuts repeated(writings);
  Alive alive;
  for (const auto& [sequence_id, cells] : mutations) {
    const Cell* family_tombstone = nullptr;
    bool counts = false;
    for (const Cell* cell : cells) {
      if (!IsTombstone(cell->type)) {
        CellList& puts = alive[cell->timestamp];
        puts.insert(puts.begin(), cell);
      }
      // Of several in one mutation HBase goes by the last in order, the one with the lowest
      // timestamp.
      if (cell->type == CellType::kDeleteFamily) family_tombstone = cell;
      counts |= IsTombstone(cell->type) && cell->type != CellType::kDeleteColumn;
    }
    if (counts) {
      EnforceVersions(
          max_versions,
          [&, id = sequence_id](const Cell& put) { return repeated.CountsBefore(put, id); }, alive);
    }
    for (const Cell* cell : cells) {
      if (!IsTombstone(cell->type)) continue;
      if (cell->type == CellType::kDeleteFamily && cell != family_tombstone) continue;
      std::erase_if(alive, [&](const auto& puts) { return Covers(*cell, column, puts.first); });
    }
  }
  EnforceVersions(
      max_versions, [&](const Cell& put) { return repeated.IsLast(put); }, alive);
  std::set<const Cell*> left;
  for (const auto& [timestamp, puts] : alive) {
    for (const Cell* put : puts) {
      if (repeated.IsLast(*put)) left.insert(put);
    }
  }
  return left;
}

}  // namespace cellfs
