// SPDX-License-Identifier: MIT
#include "engine/disk/sealed_file.h"

#include <xxhash.h>

#include <cstring>

namespace cellfs {
namespace {

constexpr size_t kChecksumSize = sizeof(uint64_t);

uint64_t ChecksumOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

StatusOr<std::string> ReadSealedFile(FileLayer& files, const std::string& path,
                                     std::string_view magic) {
  CELLFS_ASSIGN_OR_RETURN(std::string bytes, files.Read(path));
  const Status damaged(StatusCode::kCorruption, "'" + path + "' does not match its checksum");
  if (bytes.size() < magic.size() + kChecksumSize || !bytes.starts_with(magic)) return damaged;
  const size_t end = bytes.size() - kChecksumSize;
  uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + end, kChecksumSize);
  if (checksum != ChecksumOf(std::string_view(bytes).substr(0, end))) return damaged;
  return bytes.substr(magic.size(), end - magic.size());
}

Status ReplaceSealedFile(FileLayer& files, const std::string& directory, const std::string& name,
                         std::string_view magic, std::string_view content) {
  std::string sealed(magic);
  sealed += content;
  const uint64_t checksum = ChecksumOf(sealed);
  sealed.append(reinterpret_cast<const char*>(&checksum), kChecksumSize);
  return ReplaceFile(files, directory, name, sealed);
}

}  // namespace cellfs
