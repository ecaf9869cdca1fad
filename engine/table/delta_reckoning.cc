// SPDX-License-Identifier: MIT
#include "engine/table/delta_reckoning.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "engine/big_endian.h"
#include "engine/table/request_check.h"

namespace cellfs {
namespace {

constexpr size_t kLongSize = 8;

std::string EncodeLong(uint64_t number) {
  std::string bytes;
  AppendBigEndian(number, bytes);
  return bytes;
}

StatusOr<std::string> NewValue(const Cell* old, const IncrementCell& delta) {
  uint64_t amount = static_cast<uint64_t>(delta.amount);  // unsigned, as an overflow wraps
  if (old == nullptr) return EncodeLong(amount);
  if (old->value.size() != kLongSize) {
    return Status(StatusCode::kNotALong, "field is not a long, it is " +
                                             std::to_string(old->value.size()) + " bytes wide");
  }
  return EncodeLong(ReadBigEndian<uint64_t>(old->value) + amount);
}

StatusOr<std::string> NewValue(const Cell* old, const AppendCell& delta) {
  return old == nullptr ? delta.value : old->value + delta.value;
}

// The order of the old values, then the given timestamps, the largest first.
template <typename Delta>
std::vector<size_t> InCellOrder(const std::vector<Delta>& deltas) {
  std::vector<size_t> order(deltas.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const Delta& a = deltas[i];
    const Delta& b = deltas[j];
    return std::tie(a.family, a.qualifier, b.timestamp) <
           std::tie(b.family, b.qualifier, a.timestamp);
  });
  return order;
}

template <typename AnyMutation>
StatusOr<RowCells> ReadOldValues(const AnyMutation& mutation, RowStorage& storage, Timestamp now) {
  Get get;
  get.row = mutation.row;
  get.time_range = mutation.time_range;
  for (const auto& delta : mutation.cells) get.columns[delta.family].insert(delta.qualifier);
  return storage.Read(get, now);
}

template <typename Delta>
StatusOr<Cell> NewCell(const Cell* old, const Delta& delta, int64_t time_to_live, Timestamp now) {
  Cell cell;
  cell.family = delta.family;
  cell.qualifier = delta.qualifier;
  CELLFS_ASSIGN_OR_RETURN(cell.value, NewValue(old, delta));
  cell.value_length = cell.value.size();
  cell.time_to_live = time_to_live;
  if (old == nullptr) {
    cell.timestamp = delta.timestamp == kLatestTimestamp ? now : delta.timestamp;
    return cell;
  }
  if (time_to_live == kNoCellTtl) cell.time_to_live = old->time_to_live;
  cell.timestamp = std::max(old->timestamp + 1, now);
  if (cell.timestamp < kLatestTimestamp) return cell;
  return Status(StatusCode::kTimestampsExhausted, "no timestamp is left above the old value");
}

template <typename AnyMutation>
StatusOr<std::vector<ReckonedCell>> ReckonAll(const AnyMutation& mutation, RowStorage& storage,
                                              const SiteSettings& site, Timestamp now) {
  CELLFS_ASSIGN_OR_RETURN(const RowCells old_cells, ReadOldValues(mutation, storage, now));
  std::vector<ReckonedCell> reckoned;
  reckoned.reserve(mutation.cells.size());
  auto old = old_cells.begin();
  for (size_t index : InCellOrder(mutation.cells)) {
    const auto& delta = mutation.cells[index];
    while (old != old_cells.end() &&
           std::tie(old->family, old->qualifier) < std::tie(delta.family, delta.qualifier)) {
      ++old;
    }
    bool found =
        old != old_cells.end() && old->family == delta.family && old->qualifier == delta.qualifier;
    CELLFS_ASSIGN_OR_RETURN(Cell cell,
                            NewCell(found ? &*old : nullptr, delta, mutation.time_to_live, now));
    CELLFS_RETURN_IF_ERROR(CheckNewCellSize(mutation.row, cell, site));
    reckoned.push_back({std::move(cell), index, !found});
  }
  return reckoned;
}

}  // namespace

StatusOr<std::vector<ReckonedCell>> Reckon(const Increment& increment, RowStorage& storage,
                                           const SiteSettings& site, Timestamp now) {
  return ReckonAll(increment, storage, site, now);
}

StatusOr<std::vector<ReckonedCell>> Reckon(const Append& append, RowStorage& storage,
                                           const SiteSettings& site, Timestamp now) {
  return ReckonAll(append, storage, site, now);
}

}  // namespace cellfs
