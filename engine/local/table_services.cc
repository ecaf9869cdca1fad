// SPDX-License-Identifier: MIT
#include "engine/local/table_services.h"

#include <algorithm>
#include <chrono>

#include "engine/waiting.h"

namespace cellfs {
namespace {

constexpr std::chrono::milliseconds kLongestWait{100};
constexpr int kMostWaits = 600;  // of one put, while others take the room that is made
// A disk that has room for that is not full, though a larger put was refused.
constexpr uint64_t kUsualPut = uint64_t{1} << 20;

}  // namespace

Status TableServices::CheckMayChange() const {
  if (!options.read_only) return {};
  return {StatusCode::kReadOnly, "the store was opened to be read alone"};
}

uint64_t TableServices::MemoryOfFlushable() const {
  const uint64_t bytes = memory->bytes();
  return bytes - std::min(bytes, stuck_bytes.load());
}

uint64_t TableServices::LimitOfFlushable() const {
  const auto limit = static_cast<uint64_t>(options.memstore_limit);
  return limit - std::min(limit / 4 * 3, stuck_bytes.load());
}

double TableServices::FullnessOfMemory() const {
  return static_cast<double>(MemoryOfFlushable()) / static_cast<double>(LimitOfFlushable());
}

Rewrite TableServices::RewriteNow(RewriteKind kind) const {
  return {.kind = kind,
          .now = options.clock->Now(),
          .time_to_purge_deletes = options.site.time_to_purge_deletes};
}

// What memstores have lies in the log as well, which is cut behind a flush. While one is under way
// its bytes are on the disk and promised too.
bool TableServices::MayFlushMakeRoom(uint64_t missing) const {
  if (!maintained || stuck_bytes != 0) return false;
  return flushes_under_way > 0 || (memory->bytes() > 0 && missing <= wal->bytes());
}

// What is missing of it; where it is nothing, the claim stands.
uint64_t TableServices::Claim(const BytesOfPut& put, DiskReserve::Claim& claim) {
  const uint64_t own = put.in_log + put.in_files;
  claim.Take(reserve, own);
  const uint64_t missing = reserve.ShortOf(BytesOfFlush());
  if (missing == 0 && refused_bytes_ != 0 && own >= refused_bytes_) refused_bytes_ = 0;
  return missing;
}

bool TableServices::TryClaimDiskRoom(const BytesOfPut& put, DiskReserve::Claim& claim) {
  if (Claim(put, claim) == 0) return true;
  claim.Shrink(0);
  return false;
}

Status TableServices::ClaimDiskRoom(const BytesOfPut& put, DiskReserve::Claim& claim) {
  for (int waits = 0;; ++waits) {
    const uint64_t missing = Claim(put, claim);
    if (missing == 0) return {};
    must_flush = MayFlushMakeRoom(missing);
    if (waits > kMostWaits || (!must_flush && missing > claimed_by_compactions)) {
      refused_bytes_ = put.in_log + put.in_files;
      lacked_bytes_ = missing;
      return reserve.CheckRoom(BytesOfFlush());
    }
    claim.Shrink(0);
    WaitForRoom();
  }
}

// Until a flush or a compaction has ended.
void TableServices::WaitForRoom() {
  ++waiting_puts;
  if (must_flush) wake_maintenance();
  const Waiting waiting(Wait::kIsLong);
  std::unique_lock lock(room_mutex);
  const uint64_t before = times_room_was_made;
  room_made.wait_for(lock, kLongestWait, [&] { return times_room_was_made != before; });
  --waiting_puts;
}

void TableServices::NoteLackedByCompaction(uint64_t bytes) {
  uint64_t known = lacked_by_compactions;
  while (known < bytes && !lacked_by_compactions.compare_exchange_weak(known, bytes)) {
  }
}

void TableServices::TellRoomMade() {
  {
    const std::lock_guard lock(room_mutex);
    ++times_room_was_made;
  }
  room_made.notify_all();
}

Status TableServices::CheckDiskRoom() {
  return reserve.CheckRoom(BytesOfFlush() + std::min(refused_bytes_.load(), kUsualPut));
}

}  // namespace cellfs
