// SPDX-License-Identifier: MIT
//
// A VFS of SQLite that keeps a checksum in the last bytes of every page of a database, and lets no
// page through that does not match: a flipped key would otherwise make a cell invisible, which no
// checksum of a cell can tell. docs/storage.md, "The store file".
#ifndef CELLFS_ENGINE_FILE_PAGE_CHECKSUMS_H_
#define CELLFS_ENGINE_FILE_PAGE_CHECKSUMS_H_

#include <cstdint>
#include <functional>
#include <utility>

namespace cellfs {

class BlockCache;

inline constexpr int kDatabasePageSize = 4096;
inline constexpr int kPageChecksumSize = 8;  // reserved at the end of each page

// What a database's pages are kept in, given by sqlite3_file_control(.., kBindCache, ..) before the
// first page is read. The cache outlives the connection, and nobody changes the file.
struct CacheBinding {
  BlockCache* cache = nullptr;
  uint64_t owner = 0;
};
inline constexpr int kBindCache = 0x63656c6c;

// The name to open databases with. It lies over what is SQLite's default VFS at the first call.
const char* ChecksummedVfs();

// Puts the checksum into the last bytes of the page; pages count from 1.
void SealPage(char* page, int64_t number);
// Whether the page, of kDatabasePageSize bytes, matches its checksum; pages count from 1.
bool IsIntactPage(const char* page, int64_t number);

// As long as it lives its thread tells of each page, or other piece, that it reads from the disk.
// False: it is not read, which is an error of the disk. One at a time.
class PagesTold {
 public:
  using Tell = std::function<bool(int bytes)>;

  explicit PagesTold(Tell tell) : tell_(std::move(tell)) { of_this_thread_ = this; }
  ~PagesTold() { of_this_thread_ = nullptr; }
  PagesTold(const PagesTold&) = delete;
  PagesTold& operator=(const PagesTold&) = delete;

  static bool MayRead(int bytes) {
    return of_this_thread_ == nullptr || of_this_thread_->tell_(bytes);
  }

 private:
  static inline constinit thread_local const PagesTold* of_this_thread_ = nullptr;
  const Tell tell_;
};

// The page that the calling thread last met that did not match; counts from 1.
int64_t LastDamagedPage();

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_PAGE_CHECKSUMS_H_
