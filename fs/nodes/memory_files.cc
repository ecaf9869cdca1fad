// SPDX-License-Identifier: MIT
#include "fs/nodes/memory_files.h"

#include <algorithm>

#include "fs/nodes/pending_edits.h"

namespace cellfs::fs {
namespace {

bool Take(std::atomic<int64_t>& left, int64_t count) {
  if (left.fetch_sub(count) >= count) return true;
  left.fetch_add(count);
  return false;
}

}  // namespace

MemoryFile::~MemoryFile() {
  left_->bytes.fetch_add(static_cast<int64_t>(bytes_.size()));
  left_->files.fetch_add(1);
}

Outcome MemoryFile::Resize(uint64_t size) {
  const int64_t more = static_cast<int64_t>(size) - static_cast<int64_t>(bytes_.size());
  if (more > 0 && !Take(left_->bytes, more)) {
    return {ENOSPC, "files held in memory have " + std::to_string(MemoryLeft::kBytes) +
                        " bytes at most, all together"};
  }
  bytes_.resize(size);
  if (more < 0) left_->bytes.fetch_sub(more);
  return {};
}

Outcome MemoryFile::Write(std::string_view bytes, uint64_t offset) {
  CELLFS_RETURN_IF_FAILED(Resize(std::max<uint64_t>(bytes_.size(), offset + bytes.size())));
  WriteInto(bytes_, bytes, offset);
  return {};
}

OutcomeOr<std::shared_ptr<MemoryFile>> MemoryFiles::Make() {
  if (!Take(left_->files, 1)) {
    return Outcome(ENOSPC, "there are " + std::to_string(MemoryLeft::kFiles) +
                               " files held in memory already");
  }
  return std::make_shared<MemoryFile>(left_);
}

}  // namespace cellfs::fs
