// SPDX-License-Identifier: MIT
#include "fs/tree/column_key.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cellfs::fs {
namespace {

constexpr size_t kParts = 5;
using Lengths = std::array<uint16_t, kParts - 1>;  // no name or row has more bytes

std::array<std::string_view, kParts> PartsOf(const Place& column) {
  return {column.table.namespace_name, column.table.name, column.row, column.family,
          column.qualifier};
}

Lengths LengthsOf(const std::array<std::string_view, kParts>& parts) {
  Lengths lengths;
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<uint16_t>(parts[i].size());
  return lengths;
}

}  // namespace

ColumnKey::ColumnKey(const Place& column) {
  const auto parts = PartsOf(column);
  const Lengths lengths = LengthsOf(parts);
  size_t size = sizeof lengths;
  for (const std::string_view part : parts) size += part.size();
  bytes_.resize(size);
  std::memcpy(bytes_.data(), lengths.data(), sizeof lengths);
  char* end = bytes_.data() + sizeof lengths;
  for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
}

bool ColumnKey::IsOf(const Place& column) const {
  const auto parts = PartsOf(column);
  const Lengths lengths = LengthsOf(parts);
  if (std::memcmp(bytes_.data(), lengths.data(), sizeof lengths) != 0) return false;
  std::string_view rest = std::string_view(bytes_).substr(sizeof lengths);
  for (const std::string_view part : parts) {
    if (!rest.starts_with(part)) return false;
    rest.remove_prefix(part.size());
  }
  return rest.empty();
}

}  // namespace cellfs::fs
