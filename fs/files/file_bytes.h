// SPDX-License-Identifier: MIT
//
// A file's bytes in memory. A std::string that becomes shorter, or to which {} is assigned, keeps the
// memory that it had; what open files hold is counted by their lengths, so theirs do not.
#ifndef CELLFS_FS_FILES_FILE_BYTES_H_
#define CELLFS_FS_FILES_FILE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cellfs::fs {

// As pwrite(2) leaves a file of those bytes.
void WriteInto(std::string& file, std::string_view bytes, uint64_t offset);
// As ftruncate(2).
void SetLength(std::string& file, uint64_t size);
// Empty from now on.
void LetGo(std::string& file);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_FILE_BYTES_H_
