// SPDX-License-Identifier: MIT
//
// Compression of single values, by the COMPRESSION of their family. A value lies as whatever is
// shortest, so a reader asks the stored tag and not the schema.
#ifndef CELLFS_ENGINE_FILE_COMPRESSION_H_
#define CELLFS_ENGINE_FILE_COMPRESSION_H_

#include <string>
#include <string_view>

#include "engine/schema.h"

namespace cellfs {

// How the bytes of a stored value are to be read. The numbers are part of the format.
enum class ValueTag : uint8_t { kPlain = 0, kZstandard = 1, kLz4 = 2, kSnappy = 3 };

struct PackedValue {
  ValueTag tag = ValueTag::kPlain;
  std::string_view bytes;  // of `buffer`, or of the value itself
};

// Thread-safe.
PackedValue PackValue(std::string_view value, Compression compression, std::string* buffer);

// False: the bytes are not a value of this length. Thread-safe.
bool UnpackValue(const PackedValue& packed, size_t length, std::string* value);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_COMPRESSION_H_
