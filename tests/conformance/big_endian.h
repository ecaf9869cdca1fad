// SPDX-License-Identifier: MIT
//
// The eight bytes of a counter, as HBase's Bytes.toBytes(long) writes them.
#ifndef CELLFS_TESTS_CONFORMANCE_BIG_ENDIAN_H_
#define CELLFS_TESTS_CONFORMANCE_BIG_ENDIAN_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cellfs::conformance {

inline std::string BigEndian(int64_t number) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) {
    bytes[static_cast<size_t>(i)] =
        static_cast<char>(static_cast<uint64_t>(number) >> (56 - 8 * i) & 0xff);
  }
  return bytes;
}

inline int64_t FromBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(number);
}

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_BIG_ENDIAN_H_
