// SPDX-License-Identifier: MIT
#include "fs/files/file_bytes.h"

namespace cellfs::fs {
namespace {

// A string that grows has up to twice the memory that it needs; so little more is no matter.
constexpr uint64_t kSpare = 4096;

}  // namespace

void WriteInto(std::string& file, std::string_view bytes, uint64_t offset) {
  if (bytes.empty()) return;
  if (file.size() < offset) file.resize(offset);
  file.replace(offset, bytes.size(), bytes);  // of those there are
}

void SetLength(std::string& file, uint64_t size) {
  file.resize(size);
  if (file.capacity() > 2 * size + kSpare) file.shrink_to_fit();
}

void LetGo(std::string& file) { std::string().swap(file); }

}  // namespace cellfs::fs
