// SPDX-License-Identifier: MIT
#include "fs/operations/bulk_change.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace cellfs::fs {
namespace {

// What a row's mutations name: of a tombstone of a family, or of the row, nullopt.
class NamedColumns {
 public:
  NamedColumns(const std::string& row, std::vector<RewrittenColumn>& names)
      : row_(row), names_(names) {}

  void operator()(const Put& put) { AddCells(put); }
  void operator()(const Increment& increment) { AddCells(increment); }
  void operator()(const Append& append) { AddCells(append); }
  void operator()(const Withdraw& withdraw) { AddCells(withdraw); }
  void operator()(const Delete& remove) {
    for (const DeleteMarker& marker : remove.markers) {
      if (IsFamilyTombstone(marker.type)) {
        names_.push_back({row_, marker.family, std::nullopt});
      } else {
        names_.push_back({row_, marker.family, marker.qualifier});
      }
    }
  }

 private:
  template <typename M>
  void AddCells(const M& mutation) {
    for (const auto& cell : mutation.cells) names_.push_back({row_, cell.family, cell.qualifier});
  }

  const std::string& row_;
  std::vector<RewrittenColumn>& names_;
};

std::vector<RewrittenColumn> NamesIn(const RowMutations& row) {
  std::vector<RewrittenColumn> names;
  for (const Mutation& mutation : row.mutations) std::visit(NamedColumns(row.row, names), mutation);
  return names;
}

// A tombstone of the whole row names no family, and what it takes is found by RowChange alone.
bool DeletesRow(const Mutation& mutation) {
  const auto* const remove = std::get_if<Delete>(&mutation);
  return remove != nullptr && remove->markers.empty();
}

struct BytesOfMutation {
  uint64_t operator()(const Put& put) const { return OfValues(put); }
  uint64_t operator()(const Append& append) const { return OfValues(append); }
  uint64_t operator()(const auto& /*other*/) const { return 0; }
  template <typename M>
  static uint64_t OfValues(const M& mutation) {
    uint64_t bytes = 0;
    for (const auto& cell : mutation.cells) bytes += cell.value.size();
    return bytes;
  }
};

uint64_t BytesOf(const std::vector<RowMutations>& rows) {
  uint64_t bytes = 0;
  for (const RowMutations& row : rows) {
    for (const Mutation& mutation : row.mutations) bytes += std::visit(BytesOfMutation(), mutation);
  }
  return bytes;
}

}  // namespace

BulkChange::BulkChange(FileSystem& filesystem, Store& store, const TableName& table)
    : filesystem_(filesystem),
      tree_(filesystem.parts().tree),
      store_(store),
      table_(table),
      is_table_known_(tree_.inodes.Find(TablePlace(table)) != nullptr),
      has_unstored_(!tree_.unstored.IsEmpty()) {}

bool BulkChange::IsKnown(const RowMutations& row) const {
  if (std::ranges::any_of(row.mutations, DeletesRow)) return true;
  if (!is_table_known_ && !has_unstored_) return false;
  const Place place = RowPlace(table_, row.row);
  if (is_table_known_ && tree_.inodes.Find(place) != nullptr) return true;
  if (!has_unstored_) return false;
  if (tree_.unstored.Find(place) != nullptr) return true;
  return std::ranges::any_of(NamesIn(row), [&](const RewrittenColumn& column) {
    return tree_.unstored.Find(FamilyPlace(table_, row.row, column.family)) != nullptr;
  });
}

std::vector<StatusOr<MutationResult>> BulkChange::Make(const Caller& caller,
                                                       const std::vector<RowMutations>& rows) {
  // Who has the columns closed is not to wait for a flush: this waits for it before.
  if (const Status room = store_.CheckRoom(table_, BytesOf(rows)); !room.ok())
    return std::vector<StatusOr<MutationResult>>(rows.size(), room);
  std::vector<StatusOr<MutationResult>> results;
  {
    const ColumnTable::ClosedColumns closed(tree_.columns, {table_, {}, {}});
    results = store_.Batch(caller, table_, rows);
    closed.Changed();
    Tell(rows);
  }
  filesystem_.NamesChanged(TablePlace(table_));
  return results;
}

// The kernel may have asked for one of them meanwhile.
void BulkChange::Tell(const std::vector<RowMutations>& rows) {
  tree_.columns.ForgetLooks();
  std::vector<RewrittenColumn> known;
  if (tree_.inodes.Find(TablePlace(table_)) != nullptr) {
    for (const RowMutations& row : rows) {
      if (tree_.inodes.Find(RowPlace(table_, row.row)) == nullptr) continue;
      const auto names = NamesIn(row);
      known.insert(known.end(), names.begin(), names.end());
    }
  }
  filesystem_.CellsChanged(table_, known);
}

}  // namespace cellfs::fs
