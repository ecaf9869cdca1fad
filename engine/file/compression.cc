// SPDX-License-Identifier: MIT
#include "engine/file/compression.h"

#include <lz4.h>
#include <snappy.h>
#include <zstd.h>

#include <memory>

namespace cellfs {
namespace {

constexpr size_t kShortest = 32;  // below, no compression saves anything

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Made once for each thread: making one costs more than compressing a value.
ZSTD_CCtx* Compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* Decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

// The compressed size; 0 where it failed.
size_t PackZstandard(std::string_view value, std::string* buffer) {
  buffer->resize(ZSTD_compressBound(value.size()));
  const size_t size = ZSTD_compressCCtx(Compressor(), buffer->data(), buffer->size(), value.data(),
                                        value.size(), ZSTD_CLEVEL_DEFAULT);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

size_t PackLz4(std::string_view value, std::string* buffer) {
  if (value.size() > LZ4_MAX_INPUT_SIZE) return 0;
  buffer->resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(value.size()))));
  const int size =
      LZ4_compress_default(value.data(), buffer->data(), static_cast<int>(value.size()),
                           static_cast<int>(buffer->size()));
  return static_cast<size_t>(std::max(size, 0));
}

size_t PackSnappy(std::string_view value, std::string* buffer) {
  return snappy::Compress(value.data(), value.size(), buffer);
}

}  // namespace

PackedValue PackValue(std::string_view value, Compression compression, std::string* buffer) {
  if (value.size() < kShortest) return {ValueTag::kPlain, value};
  size_t size = 0;
  ValueTag tag = ValueTag::kPlain;
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kZstandard:
      tag = ValueTag::kZstandard;
      size = PackZstandard(value, buffer);
      break;
    case Compression::kLz4:
      tag = ValueTag::kLz4;
      size = PackLz4(value, buffer);
      break;
    case Compression::kSnappy:
      tag = ValueTag::kSnappy;
      size = PackSnappy(value, buffer);
      break;
  }
  if (size == 0 || size >= value.size()) return {ValueTag::kPlain, value};
  return {tag, std::string_view(*buffer).substr(0, size)};
}

bool UnpackValue(const PackedValue& packed, size_t length, std::string* value) {
  value->resize(length);
  const std::string_view bytes = packed.bytes;
  switch (packed.tag) {
    case ValueTag::kPlain:
      *value = bytes;
      return bytes.size() == length;
    case ValueTag::kZstandard:
      return ZSTD_decompressDCtx(Decompressor(), value->data(), length, bytes.data(),
                                 bytes.size()) == length;
    case ValueTag::kLz4:
      return LZ4_decompress_safe(bytes.data(), value->data(), static_cast<int>(bytes.size()),
                                 static_cast<int>(length)) == static_cast<int>(length);
    case ValueTag::kSnappy: {
      size_t unpacked = 0;
      return snappy::GetUncompressedLength(bytes.data(), bytes.size(), &unpacked) &&
             unpacked == length && snappy::RawUncompress(bytes.data(), bytes.size(), value->data());
    }
  }
  return false;
}

}  // namespace cellfs
