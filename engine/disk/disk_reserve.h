// SPDX-License-Identifier: MIT
//
// DiskReserve: blocks of the disk that nobody else can have, in a file beside the store's own. On a
// full disk they go to what gives space back in the end: deletes, a flush, a compaction, dropping a
// table. Meanwhile nothing else is written; once there is room again the reserve is filled first.
//
// It is a file and no reckoning, for others fill disks too. Beside it there are claims: what of the
// free space is promised to our own writes under way, so that two do not count on the same bytes.
#ifndef CELLFS_ENGINE_DISK_DISK_RESERVE_H_
#define CELLFS_ENGINE_DISK_DISK_RESERVE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "engine/disk/file_layer.h"
#include "engine/status_or.h"

namespace cellfs {

// That it costs to replace a file, or to make one, beside its contents.
inline constexpr uint64_t kBytesOfNames = uint64_t{64} << 10;

// Thread-safe.
class DiskReserve {
 public:
  // A promise of so many bytes; it ends with the object. Outlived by the reserve.
  class Claim {
   public:
    Claim() = default;
    Claim(DiskReserve& reserve, uint64_t bytes) { Take(reserve, bytes); }
    Claim(Claim&& other) noexcept { *this = std::move(other); }
    Claim& operator=(Claim&& other) noexcept;
    ~Claim() {
      if (reserve_ != nullptr) Shrink(0);
    }
    // Instead of what it was before.
    void Take(DiskReserve& reserve, uint64_t bytes) {
      Shrink(0);
      reserve_ = &reserve;
      bytes_ = bytes;
      reserve.claimed_ += bytes;
    }
    // What is written by now is promised no more.
    void Shrink(uint64_t bytes) noexcept {
      if (bytes >= bytes_) return;
      reserve_->claimed_ -= bytes_ - bytes;
      bytes_ = bytes;
    }
    uint64_t bytes() const { return bytes_; }

   private:
    DiskReserve* reserve_ = nullptr;
    uint64_t bytes_ = 0;
  };

  // In `directory`/RESERVE: so many bytes, or a 16th of the file system where that is less. 0: no
  // reserve is kept, and room is what the disk says when it is written to.
  // `files` outlives it.
  DiskReserve(FileLayer& files, const std::string& directory, uint64_t bytes);

  // Takes what is missing, or half of what is free where that is less.
  void Fill();

  // How many bytes are missing until the reserve is whole and so many are free beside it and all
  // claims; 0: there is room. What is free is looked up now and then: what we write in between is
  // told by Wrote; what others write may go unnoticed for 50 ms, but for where there is little left.
  uint64_t ShortOf(uint64_t bytes);
  // So many bytes that were free are not any more.
  void Wrote(uint64_t bytes) noexcept;
  // What is free is to be looked up before it is relied on again.
  void Forget() noexcept { look_at_ = 0; }
  // kStoreFull, with what helps, where some are missing.
  Status CheckRoom(uint64_t bytes);

  // Does what gives space back; where that ends with kStoreFull, again with blocks of the reserve:
  // with so many bytes, then twice as many, until it has none left. `act` gives a Status or a
  // StatusOr.
  template <typename Act>
  auto Spend(uint64_t bytes, Act&& act) {
    auto done = act();
    bool has_spent = false;
    for (; IsFull(done) && Release(bytes); bytes *= 2) {
      has_spent = true;
      done = act();
    }
    if (has_spent) Fill();  // before others take what has come back
    return done;
  }

  // What a rewrite that gives space back may have: what is free beside claims and `bytes`, with or
  // without what is held. Looked up now. Without a reserve there is no bound.
  uint64_t RoomBeside(uint64_t bytes, bool with_held);
  // Gives back of what is held as much as is missing until so many bytes are free, so that what
  // writes them need not begin anew.
  void MakeRoom(uint64_t bytes);

  uint64_t wanted() const { return wanted_; }
  uint64_t held() const { return held_.load(); }

 private:
  static bool IsFull(const Status& status) { return status.code() == StatusCode::kStoreFull; }
  template <typename T>
  static bool IsFull(const StatusOr<T>& result) {
    return IsFull(result.status());
  }
  bool Release(uint64_t bytes);
  void Look();

  FileLayer& files_;
  const std::string directory_;
  const std::string path_;
  const uint64_t wanted_;
  std::mutex mutex_;                 // held while the file is changed
  std::atomic<uint64_t> held_{0};    // written under mutex_
  std::atomic<uint64_t> claimed_{0};
  std::atomic<uint64_t> free_{0};    // when it was looked up last
  std::atomic<int64_t> look_at_{0};  // the next time, in nanoseconds of the steady clock
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_DISK_RESERVE_H_
