// SPDX-License-Identifier: MIT
//
// PageWriter: appends pages to a database that SQLite has made and closed, each with its checksum. They
// go the way of SQLite's own, through its default VFS: what lies beneath that meets all writes.
#ifndef CELLFS_ENGINE_FILE_PAGE_WRITER_H_
#define CELLFS_ENGINE_FILE_PAGE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/file/page_checksums.h"
#include "engine/status_or.h"

namespace cellfs {

// Not thread-safe.
class PageWriter {
 public:
  static StatusOr<std::unique_ptr<PageWriter>> Open(const std::string& path);
  ~PageWriter();
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;

  // The number of the next page of the file. Each is to be written; in this order, for speed.
  uint32_t Allocate();
  // Of kDatabasePageSize bytes, the last of which get the checksum.
  Status Write(uint32_t number, char* page);
  // All pages lie in the file, whose header counts them.
  Status Finish();

 private:
  struct File;

  explicit PageWriter(std::string path);
  Status Open();
  Status Flush();
  // Of what SQLite's code says.
  Status ErrorOf(std::string_view act, int code) const;

  const std::string path_;
  const std::unique_ptr<File> file_;
  uint32_t pages_ = 0;     // of the file
  uint32_t buffered_ = 0;  // the first page in the buffer
  std::string buffer_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_PAGE_WRITER_H_
