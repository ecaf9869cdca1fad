// SPDX-License-Identifier: MIT
//
// RingEntry: a place for one request of FUSE over io_uring (Linux 6.14 and later), with a ring of
// its own. The kernel has a queue for each processor; a request goes to the queue of the processor
// on which it is asked, and there to the entry that was free last. One system call can send the reply
// and wait for the next request. Only requests come so: forgets, interrupts and what the daemon
// tells the kernel stay on /dev/fuse.
//
// The kernel copies a request in the thread that has submitted the entry, and only there. So an
// entry belongs to one thread, which either serves what came or waits for it: an entry is never
// free while its thread waits for something else, which would hold up a request that others could
// serve. What has been registered cannot be taken back before the mount ends, and must be destroyed
// by its thread then: the kernel goes on giving requests to a ring that is open.
#ifndef CELLFS_FS_KERNEL_RING_ENTRY_H_
#define CELLFS_FS_KERNEL_RING_ENTRY_H_

#include <liburing.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/status_or.h"
#include "fs/kernel/fuse_request.h"

namespace cellfs::fs {

// Made by any thread, used by the one that calls Register.
class RingEntry {
 public:
  struct Place {
    int device = -1;          // /dev/fuse, of a mount
    uint16_t queue = 0;       // the number of a processor
    size_t payload_size = 0;  // what the largest request or reply holds behind its header, in bytes
  };
  enum class Received {
    kRequest,
    kNothing,  // a signal came: Wait goes on
    kEnd,      // the mount has ended
  };

  // kUnavailable where the kernel gives no ring, or no memory.
  static StatusOr<std::unique_ptr<RingEntry>> Make(const Place& place, RequestCounts::Set& set);
  // Whether the kernel gives a ring such as it needs; kUnavailable.
  static Status Probe();
  ~RingEntry();
  RingEntry(const RingEntry&) = delete;
  RingEntry& operator=(const RingEntry&) = delete;

  // The entry whose request this thread serves; null: none's.
  static RingEntry* OfThisThread();

  // Tells the kernel of the entry; a failure shows in Wait. Requests that had come to the queue
  // before, and found no entry free, go to the one that commits next, not to this one.
  void Register();
  // Sends the reply, EIO where there is none, by the Wait that follows, or by Submit before it.
  void Commit();
  void Submit();
  Received Wait();

  FuseRequest& request() { return request_; }
  // Whether the parts, a fuse_out_header first, reply to its request.
  bool IsReply(const iovec* parts) const;
  // As writev(2) to /dev/fuse: keeps the reply for Commit.
  ssize_t Reply(const iovec* parts, int count);

 private:
  RingEntry(const Place& place, RequestCounts::Set& set) : place_(place), request_(set) {}
  Status Start();
  void Prepare(uint32_t command, uint64_t commit_id);
  void Assemble();
  void SetReply(const fuse_out_header& header, size_t payload_size);

  char* payload() { return memory_ + kBeforePayload; }

  // For the kernel's headers, and for those of the request just before its payload.
  static constexpr size_t kBeforePayload = 4096;

  const Place place_;
  FuseRequest request_;
  io_uring ring_{};
  bool has_ring_ = false;
  char* memory_ = nullptr;
  iovec parts_[2]{};     // of memory_, as the kernel wants them
  uint64_t unique_ = 0;  // of the request that is to be answered; 0: of none
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_RING_ENTRY_H_
