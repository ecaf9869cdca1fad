// SPDX-License-Identifier: MIT
#include "engine/disk/full_disk.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "engine/disk/remedies.h"

namespace cellfs {
namespace {

constexpr char kRemedyOfNoInodes[] =
    "remove files outside the store; until then nothing is flushed, and no table is made, altered or "
    "dropped";

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool LacksInodes(const std::string& path) {
  struct statvfs found {};
  if (statvfs(path.c_str(), &found) != 0 && statvfs(DirectoryOf(path).c_str(), &found) != 0)
    return false;
  return found.f_files != 0 && found.f_favail == 0 && found.f_bavail != 0;
}

std::string RemedyOfFullDisk(const std::string& path) {
  if (!LacksInodes(path)) return kRemedyOfFullDisk;
  return std::string("the file system has bytes free, and no inode for another file: ") +
         kRemedyOfNoInodes;
}

std::string DescribeFullDisk(const std::string& path) {
  return (LacksInodes(path) ? "" : "the disk is full; ") + RemedyOfFullDisk(path);
}

}  // namespace cellfs
