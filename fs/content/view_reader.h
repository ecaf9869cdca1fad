// SPDX-License-Identifier: MIT
//
// ViewReader: a file of a view (.asof, .scan) opened for reading. Nobody writes or removes what a
// view shows, so it takes no lock of the column: its read may take as long as the view's filter
// likes, and who uses the file itself does not wait for it. It is the version that the name showed
// when it was opened: what it shows later may be closed to who opened it.
#ifndef CELLFS_FS_CONTENT_VIEW_READER_H_
#define CELLFS_FS_CONTENT_VIEW_READER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/caller.h"
#include "fs/content/contents.h"
#include "fs/files/file_handle.h"
#include "fs/files/open_file_memory.h"
#include "fs/nodes/node.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

class ViewReader : public FileHandle {
 public:
  // REQUIRES: a node of a place with a view.
  ViewReader(OpenFileMemory& memory, const Contents& contents, const Request& request,
             NodePtr node);

  // Reads the value, once; answers with its version (Contents::Shown).
  OutcomeOr<Timestamp> Open();

  // ESTALE: there was no room to keep it, and the name shows another one by now.
  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;

 private:
  OutcomeOr<std::shared_ptr<const std::string>> Load();

  const Contents& contents_;
  const Caller caller_;
  const NodePtr node_;

  std::mutex mutex_;                          // guards the rest; held while the value is read
  std::shared_ptr<const std::string> bytes_;  // null: not read yet, or there is no room to keep it
  std::optional<Timestamp> version_;          // set with the first read
  OpenFileMemory::Share share_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_VIEW_READER_H_
