// SPDX-License-Identifier: MIT
#include "tests/support/faulty_vfs.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cellfs {
namespace {

namespace stdfs = std::filesystem;

sqlite3_vfs* base = nullptr;
sqlite3_vfs vfs;

// SQLite gives memory for ours and, behind it, for the file of the base.
struct File {
  sqlite3_file ours;
  std::string* path;
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* FileOf(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* Below(sqlite3_file* file) { return FileOf(file)->below(); }

std::string Contents(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

template <auto kMethod, typename... Arguments>
auto Forward(sqlite3_file* file, Arguments... arguments) {
  return (Below(file)->pMethods->*kMethod)(Below(file), arguments...);
}

FaultyVfs& Instance() {
  static FaultyVfs instance;
  return instance;
}

}  // namespace

struct FaultyVfsMethods {
  using Lock = std::lock_guard<std::recursive_mutex>;

  static int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
    File* const ours = FileOf(file);
    ours->path = nullptr;
    ours->ours.pMethods = nullptr;
    Below(file)->pMethods = nullptr;
    FaultyVfs& self = Instance();
    const Lock lock(self.mutex_);
    // Whoever builds a store file makes it, empty, before SQLite opens it.
    const bool is_written = name != nullptr && (flags & SQLITE_OPEN_READWRITE) != 0;
    const bool is_new =
        is_written && (!stdfs::exists(name) || stdfs::file_size(name) == 0);
    if (is_written && self.Meets(FaultyVfs::Kind::kOtherChange))
      return Failed(self, SQLITE_CANTOPEN);
    const int code = base->xOpen(base, name, Below(file), flags, out);
    if (Below(file)->pMethods == nullptr) return code;
    ours->ours.pMethods = &kMethods;
    ours->path = new std::string(name != nullptr ? name : "");
    if (is_new) {
      self.files_[name] = {.synced = {}, .pending = {}, .name_is_synced = false};
    } else if (name != nullptr && !self.files_.contains(name)) {
      self.files_[name].synced = Contents(name);
    }
    return code;
  }

  static int Close(sqlite3_file* file) {
    delete FileOf(file)->path;
    return Below(file)->pMethods->xClose(Below(file));
  }

  static int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
    FaultyVfs& self = Instance();
    const Lock lock(self.mutex_);
    const bool meets = self.Meets(FaultyVfs::Kind::kRead);
    if (meets && self.fault_ == FaultyVfs::Fault::kReadError) return SQLITE_IOERR_READ;
    const int code = Below(file)->pMethods->xRead(Below(file), bytes, size, offset);
    if (!meets || code != SQLITE_OK) return code;
    std::memset(static_cast<char*>(bytes) + size / 2, 0, static_cast<size_t>(size - size / 2));
    return SQLITE_IOERR_SHORT_READ;
  }

  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    FaultyVfs& self = Instance();
    const Lock lock(self.mutex_);
    const bool meets = self.Meets(FaultyVfs::Kind::kWrite);
    const int part = meets ? size / 2 : size;
    const int code = Below(file)->pMethods->xWrite(Below(file), bytes, part, offset);
    if (code != SQLITE_OK) return code;
    self.Note(*FileOf(file)->path,
              {static_cast<uint64_t>(offset),
               std::string(static_cast<const char*>(bytes), static_cast<size_t>(part))});
    if (!meets) return SQLITE_OK;
    return Failed(self, SQLITE_IOERR_WRITE);
  }

  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    FaultyVfs& self = Instance();
    const Lock lock(self.mutex_);
    if (self.Meets(FaultyVfs::Kind::kOtherChange)) return Failed(self, SQLITE_IOERR_TRUNCATE);
    self.Note(*FileOf(file)->path, {static_cast<uint64_t>(size), {}, true});
    return Below(file)->pMethods->xTruncate(Below(file), size);
  }

  static int Sync(sqlite3_file* file, int) {
    FaultyVfs& self = Instance();
    const Lock lock(self.mutex_);
    if (self.Meets(FaultyVfs::Kind::kOtherChange)) return Failed(self, SQLITE_IOERR_FSYNC);
    self.NoteSynced(*FileOf(file)->path);
    return SQLITE_OK;
  }

  static int Failed(FaultyVfs& self, int code) {
    if (self.fault_ == FaultyVfs::Fault::kFail) return code;
    if (self.fault_ == FaultyVfs::Fault::kFull || self.fault_ == FaultyVfs::Fault::kNoRoom)
      return SQLITE_FULL;
    self.Die();
  }

  static constexpr sqlite3_io_methods kMethods = {
      .iVersion = 2,
      .xClose = Close,
      .xRead = Read,
      .xWrite = Write,
      .xTruncate = Truncate,
      .xSync = Sync,
      .xFileSize = Forward<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
      .xLock = Forward<&sqlite3_io_methods::xLock, int>,
      .xUnlock = Forward<&sqlite3_io_methods::xUnlock, int>,
      .xCheckReservedLock = Forward<&sqlite3_io_methods::xCheckReservedLock, int*>,
      .xFileControl = Forward<&sqlite3_io_methods::xFileControl, int, void*>,
      .xSectorSize = Forward<&sqlite3_io_methods::xSectorSize>,
      .xDeviceCharacteristics = Forward<&sqlite3_io_methods::xDeviceCharacteristics>,
      .xShmMap = Forward<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>,
      .xShmLock = Forward<&sqlite3_io_methods::xShmLock, int, int, int>,
      .xShmBarrier = Forward<&sqlite3_io_methods::xShmBarrier>,
      .xShmUnmap = Forward<&sqlite3_io_methods::xShmUnmap, int>,
      .xFetch = nullptr,
      .xUnfetch = nullptr,
  };
};

FaultyVfs& FaultyVfs::Install() {
  static const bool installed = [] {
    base = sqlite3_vfs_find(nullptr);
    vfs = *base;
    vfs.pNext = nullptr;
    vfs.zName = "faulty";
    vfs.szOsFile += static_cast<int>(sizeof(File));
    vfs.xOpen = FaultyVfsMethods::Open;
    return sqlite3_vfs_register(&vfs, /*makeDflt=*/1) == SQLITE_OK;
  }();
  static_cast<void>(installed);
  return Instance();
}

void FaultyVfs::Arm(int n, Fault fault, uint32_t seed) {
  const std::lock_guard lock(mutex_);
  until_fault_ = n;
  fault_ = fault;
  seed_ = seed;
  reached_ = false;
}

void FaultyVfs::Disarm() {
  const std::lock_guard lock(mutex_);
  until_fault_ = 0;
}

bool FaultyVfs::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

void FaultyVfs::Forget() {
  const std::lock_guard lock(mutex_);
  files_.clear();
}

void FaultyVfs::OnPowerLoss(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  power_loss_hook_ = std::move(hook);
}

void FaultyVfs::CountOnly(std::function<bool()> counts) {
  const std::lock_guard lock(mutex_);
  counts_ = std::move(counts);
}

bool FaultyVfs::Meets(Kind kind) {
  if (until_fault_ == 0 || (counts_ && !counts_())) return false;
  const bool of_reads = fault_ == Fault::kReadError || fault_ == Fault::kShortRead;
  if (of_reads != (kind == Kind::kRead)) return false;
  if (fault_ == Fault::kFull && kind != Kind::kWrite) return false;
  if (reached_) return fault_ == Fault::kFull;
  if (--until_fault_ > 0) return false;
  until_fault_ = 1;  // stays armed, for a disk that is full
  reached_ = true;
  return true;
}

bool FaultyVfs::CountChange() {
  const std::lock_guard lock(mutex_);
  if (!Meets(Kind::kOtherChange)) return false;
  if (fault_ == Fault::kDie || fault_ == Fault::kLosePower) Die();
  return true;
}

void FaultyVfs::Note(const std::string& path, Change change) {
  files_[path].pending.push_back(std::move(change));
}

namespace {

void Overwrite(std::string& contents, uint64_t offset, std::string_view bytes) {
  if (contents.size() < offset + bytes.size()) contents.resize(offset + bytes.size());
  contents.replace(offset, bytes.size(), bytes);
}

}  // namespace

void FaultyVfs::NoteSynced(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto file = files_.find(path); file != files_.end()) {
    Tracked& tracked = file->second;
    for (const Change& change : tracked.pending) {
      if (change.truncates) {
        tracked.synced.resize(change.offset);
      } else {
        Overwrite(tracked.synced, change.offset, change.bytes);
      }
    }
    tracked.pending.clear();
  }
  for (auto& [name, tracked] : files_)
    if (stdfs::path(name).parent_path() == path) tracked.name_is_synced = true;
}

void FaultyVfs::LosePower(uint32_t seed) {
  const std::lock_guard lock(mutex_);
  std::mt19937 random(seed);
  const auto by_chance = [&] { return random() % 2 == 0; };
  for (auto& [path, tracked] : files_) {
    // A file that was removed may be there again: nobody syncs that.
    const bool is_there = stdfs::exists(path) || tracked.name_is_synced;
    if (!is_there || ((!tracked.name_is_synced || !stdfs::exists(path)) && by_chance())) {
      stdfs::remove(path);
      continue;
    }
    std::string contents = tracked.synced;
    for (const Change& change : tracked.pending) {
      if (by_chance()) continue;
      if (change.truncates) {
        contents.resize(change.offset);
      } else {  // whole sectors
        const size_t done = by_chance() ? change.bytes.size() : random() % 9 * 512;
        Overwrite(contents, change.offset, std::string_view(change.bytes).substr(0, done));
      }
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
  }
  files_.clear();
  if (power_loss_hook_) power_loss_hook_();
}

void FaultyVfs::Die() {
  if (fault_ == Fault::kLosePower) LosePower(seed_);
  _exit(kDiedExitCode);
}

}  // namespace cellfs
