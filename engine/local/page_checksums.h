// SPDX-License-Identifier: MIT
//
// A VFS of SQLite that keeps a checksum in the last bytes of every page of a database, and lets no
// page through that does not match: a flipped key would otherwise make a cell invisible, which no
// checksum of a cell can tell. docs/storage.md, "The store file".
#ifndef CELLFS_ENGINE_LOCAL_PAGE_CHECKSUMS_H_
#define CELLFS_ENGINE_LOCAL_PAGE_CHECKSUMS_H_

#include <cstdint>

namespace cellfs {

inline constexpr int kDatabasePageSize = 4096;
inline constexpr int kPageChecksumSize = 8;  // reserved at the end of each page

// The name to open databases with. It lies over what is SQLite's default VFS at the first call.
const char* ChecksummedVfs();

// The page that the calling thread last met that did not match; counts from 1.
int64_t LastDamagedPage();

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_PAGE_CHECKSUMS_H_
