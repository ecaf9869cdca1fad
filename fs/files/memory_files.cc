// SPDX-License-Identifier: MIT
#include "fs/files/memory_files.h"

#include <algorithm>
#include <utility>

#include "fs/files/file_bytes.h"

namespace cellfs::fs {

MemoryFile::MemoryFile(std::shared_ptr<MemoryFileLimits> limits, uid_t maker)
    : limits_(std::move(limits)), file_(limits_->files, maker), size_(limits_->bytes, maker) {}

Outcome MemoryFile::Resize(uint64_t size) {
  if (is_put) return {ESTALE, "it was renamed meanwhile, and is stored; open it by its new name"};
  if (!size_.Resize(size)) {
    return {ENOSPC, "files held in memory (temporaries that are not stored) have " +
                        std::to_string(limits_->bytes.limit()) +
                        " bytes at most, all together, and a user as much as is left for others"};
  }
  SetLength(bytes_, size);
  return {};
}

Outcome MemoryFile::Write(std::string_view bytes, uint64_t offset) {
  CELLFS_RETURN_IF_FAILED(Resize(std::max<uint64_t>(bytes_.size(), offset + bytes.size())));
  WriteInto(bytes_, bytes, offset);
  return {};
}

OutcomeOr<std::shared_ptr<MemoryFile>> MemoryFiles::Make(uid_t maker) {
  auto made = std::make_shared<MemoryFile>(limits_, maker);
  if (made->file_.Resize(1)) return made;
  return Outcome(ENOSPC, std::to_string(limits_->files.used()) + " of at most " +
                             std::to_string(limits_->files.limit()) +
                             " files are held in memory (temporaries that are not stored), and a "
                             "user has as many as are left for others: remove some");
}

}  // namespace cellfs::fs
