// SPDX-License-Identifier: MIT
#include "engine/memstore/memory_cells.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/cell_format.h"

namespace cellfs {
namespace {

std::vector<std::string> FamilyNames(const TableSchema& schema) {
  std::vector<std::string> names;
  for (const auto& [name, family] : schema.families) names.push_back(name);
  return names;
}

size_t HashOfColumn(std::string_view family, std::string_view row, std::string_view qualifier) {
  const std::hash<std::string_view> hash;
  return (hash(row) * 31 + hash(qualifier)) * 31 + hash(family);
}

size_t HashOfCell(size_t column, Timestamp timestamp, CellType type) {
  return (column * 31 + static_cast<size_t>(timestamp)) * 31 + static_cast<size_t>(type);
}

}  // namespace

MemoryCells::MemoryCells(const TableSchema& schema, std::shared_ptr<MemoryAccount> account,
                         int32_t inline_value_limit)
    : memstore_(FamilyNames(schema)),
      charge_(std::move(account)),
      inline_value_limit_(static_cast<uint64_t>(std::max(inline_value_limit, 0))),
      bytes_of_files_(schema.families.size() * kBytesOfEmptyFile) {}

Memstore::Addition MemoryCells::Begin(std::pmr::memory_resource* memory) {
  added_file_bytes_ = BytesToBegin();
  return Memstore::Addition(memstore_, memory);
}

void MemoryCells::Prepare(std::span<const CellView> cells, Memstore::Addition& addition) {
  for (const CellView& cell : cells) {
    added_file_bytes_ += MostBytesInFile(cell.type, cell.row.size() + cell.qualifier.size(),
                                         cell.value.size(), inline_value_limit_);
    if (!IsTombstone(cell.type)) continue;
    const size_t column = HashOfColumn(cell.family, cell.row, cell.qualifier);
    const std::lock_guard lock(mutex_);
    if (cell.type == kWithdrawMarker) {
      const auto type = static_cast<CellType>(cell.value[0]);
      withdrawn_[HashOfCell(column, cell.timestamp, type)] = cell.sequence_id;
      with_withdrawals_.insert(column);
      any_withdrawals_ = true;
    } else {
      tombstoned_.insert(column);
      any_tombstones_ = true;
    }
  }
  addition.Prepare(cells);
}

void MemoryCells::Finish(Memstore::Addition& addition) noexcept {
  const uint64_t before = memstore_.bytes();
  addition.Finish();
  charge_.Add(memstore_.bytes() - before, added_file_bytes_);
}

bool MemoryCells::MayHaveTombstones(std::string_view family, std::string_view row,
                                    std::string_view qualifier) const {
  if (!any_tombstones_) return false;
  const std::lock_guard lock(mutex_);
  return tombstoned_.contains(HashOfColumn(family, row, qualifier));
}

bool MemoryCells::MayHaveWithdrawals(std::string_view family, std::string_view row,
                                     const WantedColumns& columns) const {
  if (!any_withdrawals_ || columns.AreAll()) return any_withdrawals_;
  const std::lock_guard lock(mutex_);
  const auto has = [&](std::string_view qualifier) {
    return with_withdrawals_.contains(HashOfColumn(family, row, qualifier));
  };
  // Family tombstones lie in the empty column.
  return has({}) || columns.AnyOf(has);
}

bool MemoryCells::MayWithdraw(std::string_view family, const CellView& cell) const {
  if (!any_withdrawals_) return false;
  const size_t column = HashOfColumn(family, cell.row, cell.qualifier);
  const std::lock_guard lock(mutex_);
  const auto found = withdrawn_.find(HashOfCell(column, cell.timestamp, cell.type));
  return found != withdrawn_.end() && cell.sequence_id < found->second;
}

}  // namespace cellfs
