// SPDX-License-Identifier: MIT
#include "engine/file/page_checksums.h"

#include <sqlite3.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "engine/file/block_cache.h"

namespace cellfs {
namespace {

constexpr int kCheckedSize = kDatabasePageSize - kPageChecksumSize;
constexpr int kSmallestPage = 512;  // of any database; what is shorter is a part of the header
constexpr char kName[] = "cellfs";

thread_local int64_t last_damaged_page = 0;

// SQLite gives memory for ours and, behind it, for the file of the VFS beneath.
struct CheckedFile {
  sqlite3_file base;
  CacheBinding binding;
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* Below(sqlite3_file* file) { return reinterpret_cast<CheckedFile*>(file)->below(); }

uint64_t ChecksumOf(const char* page, int64_t number) {
  return XXH3_64bits_withSeed(page, kCheckedSize, static_cast<uint64_t>(number));
}

int64_t NumberAt(sqlite3_int64 offset) { return offset / kDatabasePageSize + 1; }

const CacheBinding& BindingOf(sqlite3_file* file) {
  return reinterpret_cast<CheckedFile*>(file)->binding;
}

int ReadChecked(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  if (!PagesTold::MayRead(size)) return SQLITE_IOERR_READ;
  const int code = Below(file)->pMethods->xRead(Below(file), bytes, size, offset);
  // A short read has the rest filled with zeros.
  const bool has_bytes = code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ;
  if (!has_bytes || size < kSmallestPage) return code;
  const int64_t number = NumberAt(offset);
  // Another size: the page size in the header is damaged.
  if (size == kDatabasePageSize && IsIntactPage(static_cast<const char*>(bytes), number))
    return code;
  last_damaged_page = number;
  return SQLITE_IOERR_DATA;
}

int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  const auto& [cache, owner] = BindingOf(file);
  if (cache == nullptr || size != kDatabasePageSize || BlockCache::CompactionReads::OfThisThread())
    return ReadChecked(file, bytes, size, offset);
  const auto number = static_cast<uint64_t>(NumberAt(offset));
  if (cache->Read(owner, number, 0, static_cast<char*>(bytes), kDatabasePageSize)) return SQLITE_OK;
  cache->NoteRead();
  const int code = ReadChecked(file, bytes, size, offset);
  if (code == SQLITE_OK)
    cache->Insert(owner, number, {static_cast<const char*>(bytes), kDatabasePageSize});
  return code;
}

int FileControl(sqlite3_file* file, int operation, void* argument) {
  if (operation != kBindCache)
    return Below(file)->pMethods->xFileControl(Below(file), operation, argument);
  reinterpret_cast<CheckedFile*>(file)->binding = *static_cast<const CacheBinding*>(argument);
  return SQLITE_OK;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  sqlite3_file* const below = Below(file);
  if (size != kDatabasePageSize) return below->pMethods->xWrite(below, bytes, size, offset);
  char page[kDatabasePageSize];
  std::memcpy(page, bytes, kCheckedSize);
  SealPage(page, NumberAt(offset));
  return below->pMethods->xWrite(below, page, size, offset);
}

// The rest goes to the file below as it is.
template <auto kMethod, typename... Arguments>
auto Forward(sqlite3_file* file, Arguments... arguments) {
  return (Below(file)->pMethods->*kMethod)(Below(file), arguments...);
}

using Methods = sqlite3_io_methods;

// Version 2: without memory mapping, which would go past Read.
constexpr Methods kMethods = {
    .iVersion = 2,
    .xClose = Forward<&Methods::xClose>,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Forward<&Methods::xTruncate, sqlite3_int64>,
    .xSync = Forward<&Methods::xSync, int>,
    .xFileSize = Forward<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = Forward<&Methods::xLock, int>,
    .xUnlock = Forward<&Methods::xUnlock, int>,
    .xCheckReservedLock = Forward<&Methods::xCheckReservedLock, int*>,
    .xFileControl = FileControl,
    .xSectorSize = Forward<&Methods::xSectorSize>,
    .xDeviceCharacteristics = Forward<&Methods::xDeviceCharacteristics>,
    .xShmMap = Forward<&Methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = Forward<&Methods::xShmLock, int, int, int>,
    .xShmBarrier = Forward<&Methods::xShmBarrier>,
    .xShmUnmap = Forward<&Methods::xShmUnmap, int>,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* base_vfs = nullptr;

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  // A WAL has checksums of its own.
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
    return base_vfs->xOpen(base_vfs, name, file, flags, out_flags);
  file->pMethods = nullptr;
  reinterpret_cast<CheckedFile*>(file)->binding = {};
  Below(file)->pMethods = nullptr;
  const int code = base_vfs->xOpen(base_vfs, name, Below(file), flags, out_flags);
  if (Below(file)->pMethods != nullptr) file->pMethods = &kMethods;  // it wants to be closed
  return code;
}

sqlite3_vfs MakeVfs() {
  base_vfs = sqlite3_vfs_find(nullptr);
  sqlite3_vfs vfs = *base_vfs;
  vfs.pNext = nullptr;
  vfs.zName = kName;
  vfs.szOsFile += static_cast<int>(sizeof(CheckedFile));
  vfs.xOpen = Open;
  return vfs;
}

}  // namespace

const char* ChecksummedVfs() {
  static sqlite3_vfs vfs = MakeVfs();
  static const int registered = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  return registered == SQLITE_OK ? kName : nullptr;
}

void SealPage(char* page, int64_t number) {
  const uint64_t checksum = ChecksumOf(page, number);
  std::memcpy(page + kCheckedSize, &checksum, kPageChecksumSize);
}

// One that was never written is all zero; SQLite makes nothing of such a one.
bool IsIntactPage(const char* page, int64_t number) {
  uint64_t stored = 0;
  std::memcpy(&stored, page + kCheckedSize, kPageChecksumSize);
  return stored == ChecksumOf(page, number) ||
         std::all_of(page, page + kDatabasePageSize, [](char byte) { return byte == 0; });
}

int64_t LastDamagedPage() { return last_damaged_page; }

}  // namespace cellfs
