// SPDX-License-Identifier: MIT
#include "engine/disk/disk_reserve.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace cellfs {
namespace {

constexpr uint64_t kShare = 16;  // one of so many parts of the file system, at most
constexpr uint64_t kBlock = 4096;
constexpr std::chrono::milliseconds kLookEvery{50};
// With less room than that what is free is looked up each time: what a check has found shall be
// what the put meets.
constexpr uint64_t kLittle = uint64_t{1} << 20;

int64_t SteadyNow() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Disk {
  uint64_t size = 0;
  uint64_t free = 0;
};

Disk LookAt(const std::string& path) {
  struct statvfs found {};
  if (statvfs(path.c_str(), &found) != 0) return {};
  return {.size = found.f_blocks * found.f_frsize, .free = found.f_bavail * found.f_frsize};
}

}  // namespace

DiskReserve::DiskReserve(FileLayer& files, const std::string& directory, uint64_t bytes)
    : files_(files),
      directory_(directory),
      path_(directory + "/RESERVE"),
      wanted_(std::min(bytes, LookAt(directory).size / kShare)) {
  struct stat found {};
  if (lstat(path_.c_str(), &found) == 0) held_ = static_cast<uint64_t>(found.st_size);
  if (held_ > wanted_) held_ = files_.Hold(path_, wanted_);
  Fill();
}

void DiskReserve::Fill() {
  if (held_ == wanted_ || !files_.CheckIsInPlace().ok()) return;
  const std::lock_guard lock(mutex_);
  const uint64_t held = std::min(held_.load(), wanted_);
  const uint64_t free = LookAt(directory_).free;
  const uint64_t more = free >= wanted_ - held ? wanted_ - held : free / 2 / kBlock * kBlock;
  if (more == 0) return;
  held_ = files_.Hold(path_, held + more);
  look_at_ = 0;
}

DiskReserve::Claim& DiskReserve::Claim::operator=(Claim&& other) noexcept {
  Shrink(0);
  reserve_ = std::exchange(other.reserve_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void DiskReserve::Wrote(uint64_t bytes) noexcept {
  uint64_t free = free_;
  while (!free_.compare_exchange_weak(free, free - std::min(free, bytes))) {
  }
}

uint64_t DiskReserve::RoomBeside(uint64_t bytes, bool with_held) {
  if (wanted_ == 0) return std::numeric_limits<uint64_t>::max();
  const uint64_t room = LookAt(directory_).free + (with_held ? held_.load() : 0);
  return room - std::min(room, bytes + claimed_);
}

void DiskReserve::MakeRoom(uint64_t bytes) {
  if (held_ == 0) return;
  const uint64_t free = LookAt(directory_).free;
  if (free < bytes) Release(bytes - free);
}

bool DiskReserve::Release(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const uint64_t before = held_;
  if (before == 0 || !files_.CheckIsInPlace().ok()) return false;
  held_ = files_.Hold(path_, before - std::min(before, bytes));
  look_at_ = 0;
  return held_ < before;
}

void DiskReserve::Look() {
  look_at_ = SteadyNow() + std::chrono::nanoseconds(kLookEvery).count();
  Fill();
  free_ = LookAt(directory_).free;
}

uint64_t DiskReserve::ShortOf(uint64_t bytes) {
  const auto missing = [&](uint64_t beside) {
    const uint64_t needed = bytes + beside + claimed_ + wanted_ - std::min(held_.load(), wanted_);
    return needed - std::min(free_.load(), needed);
  };
  if (wanted_ == 0 || (SteadyNow() < look_at_ && missing(kLittle) == 0)) return 0;
  Look();  // where there was no room there may be some since
  return missing(0);
}

Status DiskReserve::CheckRoom(uint64_t bytes) {
  const uint64_t missing = ShortOf(bytes);
  if (missing == 0) return {};
  CELLFS_RETURN_IF_ERROR(files_.CheckIsInPlace());  // what is free is asked by its path
  const uint64_t free = free_;
  return {StatusCode::kStoreFull,
          "the disk is full: it lacks " + std::to_string(missing) + " bytes; " +
              std::to_string(free) + " are free, and what is written, what is not flushed yet and "
              "the reserve need " + std::to_string(free + missing) +
              ". Free them outside the store, or drop or truncate tables; or remove files, then "
              "their names from .deleted, then 'cellfs flush', then 'cellfs compact'"};
}

}  // namespace cellfs
