// SPDX-License-Identifier: MIT
#include "engine/cell.h"

namespace cellfs {

std::string_view TypeName(CellType type) {
  switch (type) {
    case CellType::kPut:
      return "Put";
    case CellType::kDelete:
      return "Delete";
    case CellType::kDeleteFamilyVersion:
      return "DeleteFamilyVersion";
    case CellType::kDeleteColumn:
      return "DeleteColumn";
    case CellType::kDeleteFamily:
      return "DeleteFamily";
  }
  return "Unknown";
}

CellView ViewOf(const Cell& cell) {
  return {cell.row,         cell.family,       cell.qualifier, cell.timestamp,   cell.type,
          cell.sequence_id, cell.time_to_live, cell.value,     cell.value_length};
}

Cell CopyOf(const CellView& view) {
  return {std::string(view.row),
          std::string(view.family),
          std::string(view.qualifier),
          view.timestamp,
          view.type,
          view.sequence_id,
          view.time_to_live,
          std::string(view.value),
          view.value_length};
}

std::strong_ordering CompareCells(const CellView& a, const CellView& b) {
  if (auto order = a.row <=> b.row; order != 0) return order;
  if (auto order = a.family <=> b.family; order != 0) return order;
  return CompareInFamily(a, b);
}

std::string RowAfter(std::string_view row) {
  std::string after(row);
  after.push_back('\0');
  return after;
}

std::string RowAfterPrefix(std::string_view prefix) {
  std::string after(prefix);
  while (!after.empty() && static_cast<unsigned char>(after.back()) == 0xff) after.pop_back();
  if (!after.empty())
    after.back() = static_cast<char>(static_cast<unsigned char>(after.back()) + 1);
  return after;
}

}  // namespace cellfs
