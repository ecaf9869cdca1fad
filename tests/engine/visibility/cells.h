// SPDX-License-Identifier: MIT
//
// Short ways to say cells, for the tests of what a read sees.
#ifndef CELLFS_TESTS_ENGINE_VISIBILITY_CELLS_H_
#define CELLFS_TESTS_ENGINE_VISIBILITY_CELLS_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/schema.h"
#include "engine/visibility/region_scanner.h"
#include "engine/visibility/vector_cursor.h"

namespace cellfs {

inline Cell PutOf(std::string row, std::string qualifier, Timestamp timestamp, SequenceId sequence,
                  std::string value = "v") {
  Cell cell{.row = std::move(row),
            .family = "f",
            .qualifier = std::move(qualifier),
            .timestamp = timestamp,
            .type = CellType::kPut,
            .sequence_id = sequence,
            .value = std::move(value)};
  cell.value_length = cell.value.size();
  return cell;
}

inline Cell TombstoneOf(std::string row, CellType type, std::string qualifier, Timestamp timestamp,
                        SequenceId sequence) {
  return {.row = std::move(row),
          .family = "f",
          .qualifier = std::move(qualifier),
          .timestamp = timestamp,
          .type = type,
          .sequence_id = sequence};
}

// Takes back a cell of the type.
inline Cell WithdrawalOf(std::string row, std::string qualifier, Timestamp timestamp,
                         SequenceId sequence, CellType type = CellType::kPut) {
  Cell marker =
      TombstoneOf(std::move(row), kWithdrawMarker, std::move(qualifier), timestamp, sequence);
  marker.value.assign(1, static_cast<char>(type));
  return marker;
}

inline std::vector<Cell> Sorted(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; });
  return cells;
}

inline std::unique_ptr<CellCursor> CursorOver(std::vector<Cell> cells) {
  return MakeVectorCursor(std::make_shared<const std::vector<Cell>>(Sorted(std::move(cells))));
}

// Counts how often a cursor is moved; says of itself how new its cells are.
class CountingCursor : public CellCursor {
 public:
  CountingCursor(std::unique_ptr<CellCursor> cursor, int* moves,
                 Timestamp newest = kLatestTimestamp)
      : cursor_(std::move(cursor)), moves_(*moves), newest_(newest) {}

  Status Seek(const CellPlace& place) override {
    ++moves_;
    return cursor_->Seek(place);
  }
  Status SeekToRowBefore(std::string_view row) override { return cursor_->SeekToRowBefore(row); }
  Status Next() override {
    ++moves_;
    return cursor_->Next();
  }
  bool valid() const override { return cursor_->valid(); }
  const CellView& cell() const override { return cursor_->cell(); }
  StatusOr<bool> MayHaveFamilyTombstones(std::string_view) override { return false; }
  Timestamp newest() const override { return newest_; }

 private:
  const std::unique_ptr<CellCursor> cursor_;
  int& moves_;
  const Timestamp newest_;
};

// Table "t" with the one family "f".
inline std::shared_ptr<const TableSchema> SchemaWith(
    std::initializer_list<std::pair<const char*, const char*>> attributes) {
  FamilySchema family("f");
  for (auto [name, value] : attributes) {
    if (!family.Set(name, value).ok()) std::abort();
  }
  auto schema = std::make_shared<TableSchema>(TableName{.name = "t"});
  schema->families.emplace("f", family);
  return schema;
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_ENGINE_VISIBILITY_CELLS_H_
