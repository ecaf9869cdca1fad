// SPDX-License-Identifier: MIT
//
// What a disk lacks that takes no more, and what helps: bytes, or inodes, of which each file needs
// one, so that bytes may be free.
#ifndef CELLFS_ENGINE_DISK_FULL_DISK_H_
#define CELLFS_ENGINE_DISK_FULL_DISK_H_

#include <string>

namespace cellfs {

// Of the file system of `path`, which need not be there, but its directory. False: there is one, or
// the file system has no such number, or no byte either.
bool LacksInodes(const std::string& path);

// For people; it follows the name of the file.
std::string DescribeFullDisk(const std::string& path);
// Only what helps.
std::string RemedyOfFullDisk(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_FULL_DISK_H_
