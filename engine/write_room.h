// SPDX-License-Identifier: MIT
//
// WriteRoom: what a write lacks, and how its caller awaits it where he holds no lock: a write that
// finds no room waits in the store, with all that its caller holds. Who holds locks that others
// wait for has it handed back:
//
//     RoomToAwait room;
//     do {
//       const std::lock_guard lock(mutex);
//       const RoomToAwait::Within within(&room);
//       result = store.Mutate(caller, table, mutations);
//     } while (room.Await());
//
// A store that cannot tell what it lacks waits as ever.
#ifndef CELLFS_ENGINE_WRITE_ROOM_H_
#define CELLFS_ENGINE_WRITE_ROOM_H_

#include <memory>
#include <utility>

#include "engine/status.h"

namespace cellfs {

// Memory, a turn, or room on the disk.
class WriteRoom {
 public:
  virtual ~WriteRoom() = default;
  // At once. False: not all of it is there, and Await is to be called.
  virtual bool Take() { return false; }
  // Waits until it is there. The caller holds no lock that others wait for. After OK it is kept
  // until this ends.
  virtual Status Await() = 0;
};

// Of one thread.
class RoomToAwait {
 public:
  RoomToAwait() = default;
  RoomToAwait(const RoomToAwait&) = delete;
  RoomToAwait& operator=(const RoomToAwait&) = delete;

  // A write has written nothing, for lack of room.
  bool is_lacking() const { return is_lacking_; }
  // Waits for what was lacking, with no lock held. True: the write is to be made again. It has that
  // room then; or, where there was none to be had, waits in the store, which says why.
  bool Await() {
    if (!std::exchange(is_lacking_, false)) return false;
    is_awaited_ = room_->Await().ok();
    if (is_awaited_) return true;
    LetGo();
    is_in_vain_ = true;
    return true;
  }
  // Who has awaited room keeps it from others: he waits for no lock whose holder may want some.
  bool is_held() const { return room_ != nullptr && is_awaited_; }
  void LetGo() {
    room_.reset();
    storage_.reset();
    is_awaited_ = false;
  }

  // As long as it lives this thread's writes hand back there what they lack; null: they wait.
  class Within {
   public:
    explicit Within(RoomToAwait* room)
        : before_(std::exchange(of_this_thread_,
                                room != nullptr && !room->is_in_vain_ ? room : nullptr)) {}
    ~Within() { of_this_thread_ = before_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    RoomToAwait* const before_;
  };

  // ---- For the store: null: it is to wait.
  static RoomToAwait* OfThisThread() { return of_this_thread_; }
  // `storage` is what the room is of, and outlives it.
  void Lack(std::shared_ptr<void> storage, std::unique_ptr<WriteRoom> room) {
    LetGo();
    storage_ = std::move(storage);
    room_ = std::move(room);
    is_lacking_ = true;
  }
  // What was awaited of that storage; null: nothing.
  std::unique_ptr<WriteRoom> Take(const void* storage) {
    if (!is_held() || storage_.get() != storage) return nullptr;
    is_awaited_ = false;
    return std::move(room_);
  }

 private:
  static inline constinit thread_local RoomToAwait* of_this_thread_ = nullptr;

  bool is_lacking_ = false;
  bool is_awaited_ = false;
  bool is_in_vain_ = false;
  std::shared_ptr<void> storage_;
  std::unique_ptr<WriteRoom> room_;  // goes before the storage
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_WRITE_ROOM_H_
