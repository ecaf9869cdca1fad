// SPDX-License-Identifier: MIT
#include "engine/file/page_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/disk/file_layer.h"
#include "engine/file/tree_format.h"

namespace cellfs {
namespace {

constexpr size_t kMostBuffered = size_t{256} << 10;
constexpr size_t kPageCountInHeader = 28;  // SQLite takes it, for it has made the header itself

}  // namespace

StatusOr<std::unique_ptr<PageWriter>> PageWriter::Open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return ErrnoStatus("open", path, errno);
  std::unique_ptr<PageWriter> writer(new PageWriter(path, file));
  struct stat found {};
  if (::fstat(file, &found) != 0) return ErrnoStatus("look at", path, errno);
  writer->pages_ = static_cast<uint32_t>(found.st_size / kDatabasePageSize);
  return writer;
}

PageWriter::~PageWriter() { ::close(file_); }

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
  size_t done = 0;
  while (done < buffer_.size()) {
    const off_t offset = (off_t{buffered_} - 1) * kDatabasePageSize + static_cast<off_t>(done);
    const ssize_t written = ::pwrite(file_, buffer_.data() + done, buffer_.size() - done, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return ErrnoStatus("write", path_, written == 0 ? EIO : errno);
    done += static_cast<size_t>(written);
  }
  buffer_.clear();
  return {};
}

Status PageWriter::Finish() {
  CELLFS_RETURN_IF_ERROR(Flush());
  char page[kDatabasePageSize];
  const ssize_t read = ::pread(file_, page, sizeof page, 0);
  if (read != kDatabasePageSize) return ErrnoStatus("read", path_, read < 0 ? errno : EIO);
  PutPageNumber(pages_, page + kPageCountInHeader);
  CELLFS_RETURN_IF_ERROR(Write(1, page));
  return Flush();
}

}  // namespace cellfs
