// SPDX-License-Identifier: MIT
//
// CellReader: a file opened for reading. The value is read once, when it is first asked for, and
// served from memory, with what others have appended since behind it. It is read again when the
// file has changed meanwhile, so that the kernel's pages are never filled from anything but the
// newest value. Once the name has gone, the orphan file is read. A file of the history (a version,
// a deleted value) is read without the column's lock.
#ifndef CELLFS_FS_CONTENT_CELL_READER_H_
#define CELLFS_FS_CONTENT_CELL_READER_H_

#include <memory>
#include <mutex>
#include <string>

#include "fs/content/contents.h"
#include "fs/files/file_handle.h"
#include "fs/files/open_file_memory.h"
#include "fs/files/shared_file.h"
#include "fs/nodes/column_lock.h"
#include "fs/nodes/live_tree.h"
#include "fs/nodes/node.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

class CellReader : public FileHandle {
 public:
  CellReader(LiveTree& tree, const Contents& contents, const Request& request, NodePtr node);

  const SharedFile& file() const { return *file_; }

  // Reads the value now and keeps to its version, which is the answer: of what is deleted, so that
  // what is deleted later by that name is another file.
  OutcomeOr<Timestamp> KeepToVersion();

  // Reads the value now and keeps to it, without what others append from now on, or have appended
  // since another began to replace it, whatever happens to the file; but who has read it to its end
  // reads on in a newer value that begins with it, so that a log can be followed. ENOMEM: open files
  // hold too much already.
  Outcome Hold();

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;
  void NameGoes() override;
  std::optional<PendingWrite> pending() const override;

 private:
  bool IsCurrent() const;
  OutcomeOr<SharedBytes> ReadHeld(uint64_t offset, size_t size);
  OutcomeOr<SharedBytes> ReadForPages(uint64_t offset, size_t size);
  Outcome GoOn();
  OutcomeOr<SharedBytes> ReadOrphan(uint64_t offset, size_t size) const;
  // With the column's lock, and bytes_ that were right at some moment of the request, unless the
  // name has gone.
  OutcomeOr<ColumnLock> LoadAndLock();
  Outcome LoadAnew();
  Outcome Load();
  void WarnOfMixedPages(uint64_t generation_before);

  OpenFileMemory& memory_;
  const Contents& contents_;
  const Caller caller_;
  const NodePtr node_;
  const std::shared_ptr<SharedFile> file_;
  const bool is_late_;  // opened when the name had gone: what it reads is not what the node was

  std::mutex mutex_;  // taken before the column's lock; guards the next five
  std::shared_ptr<const std::string> bytes_;  // null: not read yet, or without a name
  uint64_t generation_ = 0;                   // of the node when bytes_ were read
  bool held_ = false;
  std::optional<Timestamp> version_;  // that it keeps to
  OpenFileMemory::Share share_;  // of bytes_
  Outcome may_read_orphan_;      // guarded by the column's lock
};

// A text that was made when it was opened.
class TextReader : public FileHandle {
 public:
  explicit TextReader(std::string text)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor /*what*/) override {
    return SharedBytes::Slice(text_, offset, size);
  }

 private:
  const std::shared_ptr<const std::string> text_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CELL_READER_H_
