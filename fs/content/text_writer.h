// SPDX-License-Identifier: MIT
//
// Files that are no cell values but can be written: TextWriter for what is understood as a whole
// when a descriptor is closed (.toml files), MemoryWriter for files held in memory.
#ifndef CELLFS_FS_CONTENT_TEXT_WRITER_H_
#define CELLFS_FS_CONTENT_TEXT_WRITER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/clock.h"
#include "fs/files/file_handle.h"
#include "fs/files/memory_files.h"
#include "fs/files/open_file_memory.h"
#include "fs/nodes/node.h"

namespace cellfs::fs {

class TextWriter final : public FileHandle {
 public:
  // `text` is what the file has when it is opened. `apply` gets all of it where it was written to;
  // after an error it gets it again with the next close, unless it may have been applied all the
  // same, or a write failed: then every further call fails. `mtime` is the time that was set
  // meanwhile.
  using Apply = std::function<Outcome(const std::string& text, std::optional<timespec> mtime)>;
  TextWriter(OpenFileMemory& memory, uid_t opened_by, NodePtr node, std::string text, bool append,
             uint64_t max_size, Apply apply)
      : memory_(memory),
        node_(std::move(node)),
        append_(append),
        max_size_(max_size),
        apply_(std::move(apply)),
        text_(std::move(text)),
        share_(memory, opened_by) {}

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;
  Outcome Write(std::string_view bytes, uint64_t offset, WriteFrom from) override;
  Outcome Truncate(uint64_t size) override;
  Outcome Flush() override;
  std::optional<Outcome> SetTime(timespec mtime) override;

 private:
  Outcome Take(std::string_view bytes, uint64_t offset);

  OpenFileMemory& memory_;
  const NodePtr node_;
  const bool append_;
  const uint64_t max_size_;
  const Apply apply_;
  std::mutex mutex_;  // guards the rest
  std::string text_;
  OpenFileMemory::Share share_;  // of text_
  bool written_ = false;
  std::optional<timespec> mtime_;
  std::optional<Outcome> failed_;
};

class MemoryWriter final : public FileHandle {
 public:
  MemoryWriter(const Clock& clock, uint64_t max_size, std::shared_ptr<MemoryFile> file, bool append)
      : clock_(clock), max_size_(max_size), file_(std::move(file)), append_(append) {}

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;
  Outcome Write(std::string_view bytes, uint64_t offset, WriteFrom from) override;
  Outcome Truncate(uint64_t size) override;

 private:
  const Clock& clock_;
  const uint64_t max_size_;
  const std::shared_ptr<MemoryFile> file_;
  const bool append_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_TEXT_WRITER_H_
