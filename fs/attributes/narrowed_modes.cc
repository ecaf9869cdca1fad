// SPDX-License-Identifier: MIT
#include "fs/attributes/narrowed_modes.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "fs/attributes/attribute_rows.h"
#include "fs/base/random_number.h"

namespace cellfs::fs {
namespace {

// Numbers in text, a line's end, and the names one behind the other:
// "over before narrowed uid gid mode version table namespace name row family\n…", of the names
// their lengths; the version is < 0 for a cell.
constexpr char kFormat[] = "%" PRId64 " %o %o %u %u %o %" PRId64 " %zu %zu %zu %zu %zu\n";

std::string WriteNarrowed(const NarrowedMode& narrowed, const std::string& table) {
  const Place& target = narrowed.target;
  const Timestamp version = target.kind == PlaceKind::kCell ? -1 : target.timestamp;
  char numbers[256];
  snprintf(numbers, sizeof numbers, kFormat, narrowed.over, narrowed.before, narrowed.narrowed,
           narrowed.source.uid, narrowed.source.gid, narrowed.source.mode, version,
           table.size(), target.table.namespace_name.size(), target.table.name.size(),
           target.row.size(), target.family.size());
  return numbers + table + target.table.namespace_name + target.table.name + target.row +
         target.family + target.qualifier;
}

std::optional<NarrowedModes::Unfinished> ReadNarrowed(const Cell& cell) {
  const std::string& text = cell.value;
  NarrowedModes::Unfinished read{cell.qualifier, {}, ""};
  auto& [target, over, before, narrowed, source] = read.narrowed;
  size_t table = 0, name_space = 0, name = 0, row = 0, family = 0;
  Timestamp version = -1;
  const int numbers =
      sscanf(text.c_str(), "%" SCNd64 " %o %o %u %u %o %" SCNd64 " %zu %zu %zu %zu %zu", &over,
             &before, &narrowed, &source.uid, &source.gid, &source.mode, &version, &table,
             &name_space, &name, &row, &family);
  size_t at = text.find('\n');
  if (numbers != 12 || at == std::string::npos) return std::nullopt;
  ++at;
  const auto take = [&](size_t length) {
    const size_t from = std::min(at, text.size());
    at = from + std::min(length, text.size() - from);
    return text.substr(from, at - from);
  };
  read.table = take(table);
  std::string in = take(name_space);
  const TableName table_name{std::move(in), take(name)};
  std::string key = take(row);
  std::string of = take(family);
  target = CellPlace(table_name, std::move(key), std::move(of), text.substr(at));
  if (version >= 0) target = target.As(PlaceKind::kVersion, version);
  return read;
}

}  // namespace

// A version that is put over another one of its timestamp shows the same before and after it.
bool NarrowedModes::CanTell(const Place& target, Timestamp over) {
  return target.kind == PlaceKind::kCell ? over >= 0 : over < 0;
}

StatusOr<std::string> NarrowedModes::Begin(const NarrowedMode& narrowed,
                                           const std::string& table) const {
  std::string begun = std::to_string(RandomNumber());
  Put put{std::string(kNarrowedRow), {}};
  put.cells.push_back(
      {kChangeFamily, begun, kLatestTimestamp, WriteNarrowed(narrowed, table), {}});
  CELLFS_RETURN_IF_ERROR(table_.Write(std::move(put)));
  return begun;
}

Status NarrowedModes::End(const std::string& begun) const {
  Delete gone{std::string(kNarrowedRow), {}};
  gone.markers.push_back({CellType::kDeleteColumn, kChangeFamily, begun, kLatestTimestamp});
  return table_.Write(std::move(gone));
}

StatusOr<std::vector<NarrowedModes::Unfinished>> NarrowedModes::All(Timestamp time) const {
  Get get;
  get.row = kNarrowedRow;
  get.columns[kChangeFamily] = {};
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table_.Read(get));
  std::vector<Unfinished> all;
  for (const Cell& cell : cells) {
    if (cell.timestamp >= time) continue;
    if (auto read = ReadNarrowed(cell)) all.push_back(*std::move(read));
  }
  return all;
}

}  // namespace cellfs::fs
