// SPDX-License-Identifier: MIT
#include "engine/local/store_context.h"

#include <chrono>
#include <optional>

namespace cellfs {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};
constexpr uint64_t kMostFlushes = 8;  // that one put waits for, while others fill the room

// A put is written to the log, and later to a store file.
uint64_t BytesOfPut(uint64_t bytes) { return 2 * bytes; }

}  // namespace

// What memstores have lies in the log as well, which is cut behind a flush.
bool StoreContext::MayFlushMakeRoom(uint64_t missing) const {
  return maintained && failing_tables == 0 && memory->bytes() > 0 && missing <= wal->bytes();
}

Status StoreContext::AwaitDiskRoom(uint64_t bytes) {
  const uint64_t own = BytesOfPut(bytes);
  std::optional<uint64_t> flushes_before;
  while (const uint64_t missing = reserve.ShortOf(memory->bytes() + own)) {
    must_flush = MayFlushMakeRoom(missing);
    if (must_flush) wake_maintenance();
    std::unique_lock lock(room_mutex);
    if (!flushes_before) flushes_before = flushes;
    if (!must_flush || flushes - *flushes_before > kMostFlushes) {
      refused_bytes_ = bytes;
      lock.unlock();
      return reserve.CheckRoom(memory->bytes() + own);
    }
    room_made.wait_for(lock, kLookAgain);
  }
  if (bytes >= refused_bytes_) refused_bytes_ = 0;
  return {};
}

Status StoreContext::CheckDiskRoom() {
  return reserve.CheckRoom(memory->bytes() + BytesOfPut(refused_bytes_));
}

}  // namespace cellfs
