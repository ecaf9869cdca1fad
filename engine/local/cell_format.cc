// SPDX-License-Identifier: MIT
#include "engine/local/cell_format.h"

#include <xxhash.h>

#include "engine/local/database.h"

namespace cellfs {
namespace {

bool IsPlain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

int32_t LowBits(uint64_t hash) { return static_cast<int32_t>(hash & 0xffffffffu); }

}  // namespace

std::string CellTableName(std::string_view family) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name = "table$";
  for (const char c : family) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsPlain(byte)) {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return name;
}

std::string ValueTableName(std::string_view family) { return CellTableName(family) + "$values"; }

std::string TombstoneIndexName(std::string_view family) {
  return CellTableName(family) + "$tombstones";
}

std::string CreateFamilySql(std::string_view family) {
  const std::string cells = QuotedName(CellTableName(family));
  return "CREATE TABLE IF NOT EXISTS " + cells +
         "(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
         "S INTEGER NOT NULL, L INTEGER NOT NULL, H INTEGER NOT NULL, V BLOB, R INTEGER, "
         "X INTEGER, Z INTEGER, PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID;"
         "CREATE INDEX IF NOT EXISTS " +
         QuotedName(TombstoneIndexName(family)) + " ON " + cells +
         "(K, Q, T, Y) WHERE Y <> -4;"
         "CREATE TABLE IF NOT EXISTS " +
         QuotedName(ValueTableName(family)) +
         "(R INTEGER PRIMARY KEY, H INTEGER NOT NULL, V BLOB NOT NULL);";
}

std::string DropFamilySql(std::string_view cell_table) {
  return "DROP TABLE IF EXISTS " + QuotedName(cell_table) + ";DROP TABLE IF EXISTS " +
         QuotedName(std::string(cell_table) + "$values") + ";";
}

int32_t ChecksumOf(const StoredCell& stored) {
  const CellView& cell = stored.cell;
  const int64_t numbers[] = {cell.timestamp,
                             static_cast<int64_t>(cell.type),
                             static_cast<int64_t>(cell.sequence_id),
                             cell.time_to_live,
                             static_cast<int64_t>(cell.value_length),
                             stored.reference,
                             static_cast<int64_t>(stored.packed.tag)};
  // Each hash seeds the next, so that no byte can move from one field to its neighbour.
  uint64_t hash = XXH3_64bits(numbers, sizeof numbers);
  hash = XXH3_64bits_withSeed(cell.row.data(), cell.row.size(), hash);
  hash = XXH3_64bits_withSeed(cell.qualifier.data(), cell.qualifier.size(), hash);
  if (stored.reference == 0) {
    hash = XXH3_64bits_withSeed(stored.packed.bytes.data(), stored.packed.bytes.size(), hash);
  }
  return LowBits(hash);
}

int32_t ChecksumOfValue(std::string_view bytes, int64_t reference) {
  return LowBits(
      XXH3_64bits_withSeed(bytes.data(), bytes.size(), static_cast<uint64_t>(reference)));
}

}  // namespace cellfs
