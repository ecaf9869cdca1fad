// SPDX-License-Identifier: MIT
//
// Two keys of one hash, as somebody finds them who knows how places are hashed: the hash of a key
// of 4 to 8 bytes is turned round step by step.
#ifndef CELLFS_TESTS_FS_COLLIDING_KEYS_H_
#define CELLFS_TESTS_FS_COLLIDING_KEYS_H_

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "fs/tree/place.h"

namespace cellfs::fs {

// What stands before a key in the hash of a place, but for its table (Place::HashAs).
inline uint64_t HashedUpTo(PlaceKind kind, std::initializer_list<std::string_view> parts) {
  const Timestamp timestamp = 0;
  uint64_t hash = XXH3_64bits_withSeed(&timestamp, sizeof timestamp, static_cast<uint64_t>(kind));
  for (const std::string_view part : parts) {
    hash = XXH3_64bits_withSeed(part.data(), part.size(), hash);
  }
  return hash;
}

// XXH3's last steps for 4 to 8 bytes (XXH3_rrmxmx), backwards.
inline uint64_t KeyedOf(uint64_t hash, uint64_t length) {
  uint64_t inverse = 1;  // of the multiplier, modulo 2^64
  constexpr uint64_t kMultiplier = 0x9FB21C651E98DF25;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  const auto rotated = [](uint64_t bits, int by) { return bits << by | bits >> (64 - by); };
  uint64_t bits = hash ^ hash >> 28 ^ hash >> 56;
  bits *= inverse;
  bits ^= (bits >> 35) + length;
  bits *= inverse;
  // x ^ rotated(x, 49) ^ rotated(x, 24): a power of two of such steps is no step at all.
  for (int i = 0; i < 6; ++i) {
    // The square of the step rotates by twice as much; the last is the identity.
    const int a = (49 << i) % 64, b = (24 << i) % 64;
    bits ^= (a == 0 ? bits : rotated(bits, a)) ^ (b == 0 ? bits : rotated(bits, b));
  }
  return bits;
}

// The key of 8 bytes that XXH3 hashes to `hash` from `seed` on.
inline std::string KeyOf(uint64_t hash, uint64_t seed) {
  seed ^= static_cast<uint64_t>(__builtin_bswap32(static_cast<uint32_t>(seed))) << 32;
  const uint64_t flip = (XXH_readLE64(XXH3_kSecret + 8) ^ XXH_readLE64(XXH3_kSecret + 16)) - seed;
  const uint64_t halves = KeyedOf(hash, 8) ^ flip;
  const uint64_t last = halves & 0xffffffff;
  const uint64_t bytes = halves >> 32 | last << 32;
  std::string key(8, '\0');
  std::memcpy(key.data(), &bytes, sizeof bytes);
  return key;
}

// Both may be file names.
inline std::pair<std::string, std::string> CollidingKeys(uint64_t seed) {
  for (int i = 1000;; ++i) {
    std::string mine = "v" + std::to_string(i);
    std::string theirs = KeyOf(XXH3_64bits_withSeed(mine.data(), mine.size(), seed), seed);
    if (theirs.find_first_of(std::string_view("\0/%.@", 5)) == theirs.npos) return {mine, theirs};
  }
}

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_COLLIDING_KEYS_H_
