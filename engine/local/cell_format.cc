// SPDX-License-Identifier: MIT
#include "engine/local/cell_format.h"

#include <xxhash.h>

namespace cellfs {
namespace {

int32_t LowBits(uint64_t hash) { return static_cast<int32_t>(hash & 0xffffffffu); }

}  // namespace

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
