// SPDX-License-Identifier: MIT
//
// Whole numbers as HBase writes them, in its protocol and as counters: big-endian, of fixed width.
#ifndef CELLFS_ENGINE_BIG_ENDIAN_H_
#define CELLFS_ENGINE_BIG_ENDIAN_H_

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace cellfs {

template <std::unsigned_integral T>
void AppendBigEndian(T number, std::string& bytes) {
  for (size_t i = sizeof(T); i-- > 0;) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

// REQUIRES: bytes has at least sizeof(T).
template <std::unsigned_integral T>
T ReadBigEndian(std::string_view bytes) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    number = static_cast<T>((number << 8) | static_cast<unsigned char>(bytes[i]));
  }
  return number;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_BIG_ENDIAN_H_
