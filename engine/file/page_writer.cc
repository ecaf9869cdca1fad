// SPDX-License-Identifier: MIT
#include "engine/file/page_writer.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "engine/disk/file_layer.h"
#include "engine/file/tree_format.h"

namespace cellfs {
namespace {

// SQLite writes less than 128 KiB at a time, and takes no more.
constexpr size_t kMostBuffered = size_t{30} * kDatabasePageSize;
constexpr size_t kPageCountInHeader = 28;  // SQLite takes it, for it has made the header itself

}  // namespace

// SQLite says how large its file is.
struct PageWriter::File {
  File() : memory(new char[static_cast<size_t>(sqlite3_vfs_find(nullptr)->szOsFile)]()) {}
  ~File() {
    if (get()->pMethods != nullptr) get()->pMethods->xClose(get());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  sqlite3_file* get() const { return reinterpret_cast<sqlite3_file*>(memory.get()); }
  const sqlite3_io_methods& operator*() const { return *get()->pMethods; }

  const std::unique_ptr<char[]> memory;
};

PageWriter::PageWriter(std::string path)
    : path_(std::move(path)), file_(std::make_unique<File>()) {}

PageWriter::~PageWriter() = default;

StatusOr<std::unique_ptr<PageWriter>> PageWriter::Open(const std::string& path) {
  std::unique_ptr<PageWriter> writer(new PageWriter(path));
  CELLFS_RETURN_IF_ERROR(writer->Open());
  return writer;
}

Status PageWriter::Open() {
  sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  const auto name = std::string(path_).append(3, '\0');  // SQLite looks for parameters behind it
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_MAIN_DB;
  errno = 0;
  int code = vfs->xOpen(vfs, name.c_str(), file_->get(), kFlags, nullptr);
  if (code != SQLITE_OK) return ErrorOf("open", code);
  sqlite3_int64 size = 0;
  code = (**file_).xFileSize(file_->get(), &size);
  if (code != SQLITE_OK) return ErrorOf("look at", code);
  pages_ = static_cast<uint32_t>(size / kDatabasePageSize);
  return {};
}

Status PageWriter::ErrorOf(std::string_view act, int code) const {
  const int error = (code & 0xff) == SQLITE_FULL ? ENOSPC : errno;
  return ErrnoStatus(act, path_, error != 0 ? error : EIO);
}

uint32_t PageWriter::Allocate() {
  if (++pages_ == kLockPage) ++pages_;
  return pages_;
}

Status PageWriter::Write(uint32_t number, char* page) {
  SealPage(page, number);
  const auto in_buffer = static_cast<uint32_t>(buffer_.size() / kDatabasePageSize);
  if (number != buffered_ + in_buffer || buffer_.size() >= kMostBuffered) {
    CELLFS_RETURN_IF_ERROR(Flush());
    buffered_ = number;
  }
  buffer_.append(page, kDatabasePageSize);
  return {};
}

Status PageWriter::Flush() {
  if (buffer_.empty()) return {};
  const sqlite3_int64 offset = (sqlite3_int64{buffered_} - 1) * kDatabasePageSize;
  errno = 0;
  const int code = (**file_).xWrite(file_->get(), buffer_.data(),
                                    static_cast<int>(buffer_.size()), offset);
  buffer_.clear();
  return code == SQLITE_OK ? Status() : ErrorOf("write", code);
}

Status PageWriter::Finish() {
  CELLFS_RETURN_IF_ERROR(Flush());
  char page[kDatabasePageSize];
  errno = 0;
  const int code = (**file_).xRead(file_->get(), page, sizeof page, 0);
  if (code != SQLITE_OK) return ErrorOf("read", code);
  PutPageNumber(pages_, page + kPageCountInHeader);
  CELLFS_RETURN_IF_ERROR(Write(1, page));
  return Flush();
}

}  // namespace cellfs
