// SPDX-License-Identifier: MIT
//
// The shapes of the kernel's interface are in <linux/fuse.h> since 6.14; the header of older
// systems lacks them, so they are written here.
#include "fs/kernel/ring_entry.h"

#include <linux/fuse.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace cellfs::fs {
namespace {

constexpr uint32_t kRegister = 1;
constexpr uint32_t kCommitAndFetch = 2;

struct EntryState {
  uint64_t flags;
  uint64_t commit_id;
  uint32_t payload_size;
  uint32_t padding;
  uint64_t reserved;
};

// What the kernel and the daemon share of an entry, beside the payload.
struct EntryHeaders {
  char header[128];         // fuse_in_header, or fuse_out_header of the reply
  char operation[128];      // the fixed part of the request that follows it
  EntryState state;
};

// At the end of a submission.
struct EntryCommand {
  uint64_t flags;
  uint64_t commit_id;
  uint16_t queue;
  uint8_t padding[6];
};

thread_local RingEntry* of_this_thread = nullptr;

EntryHeaders& HeadersIn(char* memory) { return *reinterpret_cast<EntryHeaders*>(memory); }

fuse_out_header HeaderOf(const iovec* parts) {
  fuse_out_header header;
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  return header;
}

// For one submission at a time. The thread that uses it enables it, and is the only one that may.
Status MakeRing(io_uring& ring) {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER |
                     IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED;
  const int error = io_uring_queue_init_params(1, &ring, &parameters);
  if (error == 0) return {};
  return {StatusCode::kUnavailable,
          std::string("the kernel gives no io_uring: ") + strerror(-error)};
}

}  // namespace

Status RingEntry::Probe() {
  io_uring ring{};
  CELLFS_RETURN_IF_ERROR(MakeRing(ring));
  io_uring_queue_exit(&ring);
  return {};
}

RingEntry* RingEntry::OfThisThread() { return of_this_thread; }

StatusOr<std::unique_ptr<RingEntry>> RingEntry::Make(const Place& place, RequestCounts::Set& set) {
  std::unique_ptr<RingEntry> entry(new RingEntry(place, set));
  CELLFS_RETURN_IF_ERROR(entry->Start());
  return entry;
}

Status RingEntry::Start() {
  static_assert(sizeof(EntryHeaders) + sizeof(fuse_in_header) + sizeof(EntryHeaders::operation) <=
                kBeforePayload);
  CELLFS_RETURN_IF_ERROR(MakeRing(ring_));
  has_ring_ = true;
  const size_t size = kBeforePayload + place_.payload_size;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {StatusCode::kUnavailable, "no memory for requests"};
  memory_ = static_cast<char*>(memory);
  parts_[0] = {memory_, sizeof(EntryHeaders)};
  parts_[1] = {payload(), place_.payload_size};
  return {};
}

RingEntry::~RingEntry() {
  if (of_this_thread == this) of_this_thread = nullptr;
  if (has_ring_) io_uring_queue_exit(&ring_);
  if (memory_ != nullptr) munmap(memory_, kBeforePayload + place_.payload_size);
}

void RingEntry::Register() {
  of_this_thread = this;
  // io_uring_enable_rings, which liburing 2.3 declares and lacks.
  const auto ring = static_cast<unsigned>(ring_.ring_fd);
  io_uring_register(ring, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
  Prepare(kRegister, 0);
  Submit();
}

void RingEntry::Commit() {
  if (unique_ != 0) SetReply({sizeof(fuse_out_header), -EIO, unique_}, 0);
  Prepare(kCommitAndFetch, HeadersIn(memory_).state.commit_id);
}

// A failure shows in Wait.
void RingEntry::Submit() { static_cast<void>(io_uring_submit(&ring_)); }

void RingEntry::Prepare(uint32_t command, uint64_t commit_id) {
  io_uring_sqe* const submission = io_uring_get_sqe(&ring_);  // there is one: the last has gone
  io_uring_prep_rw(IORING_OP_URING_CMD, submission, place_.device, nullptr, 0, 0);
  if (command == kRegister) {
    submission->addr = reinterpret_cast<uint64_t>(parts_);
    submission->len = static_cast<uint32_t>(std::size(parts_));
  }
  submission->cmd_op = command;
  const EntryCommand asked{.flags = 0, .commit_id = commit_id, .queue = place_.queue, .padding{}};
  // In the second half of a submission, which the type does not show.
  char* const tail = reinterpret_cast<char*>(submission) + offsetof(io_uring_sqe, cmd);
  std::memcpy(tail, &asked, sizeof asked);
}

RingEntry::Received RingEntry::Wait() {
  io_uring_cqe* completion = nullptr;
  if (io_uring_peek_cqe(&ring_, &completion) != 0) {
    const int waited = io_uring_submit_and_wait(&ring_, 1);
    if (io_uring_peek_cqe(&ring_, &completion) != 0) {
      const bool may_come = waited >= 0 || waited == -EINTR || waited == -EAGAIN;
      return may_come ? Received::kNothing : Received::kEnd;
    }
  }
  const int result = completion->res;
  io_uring_cqe_seen(&ring_, completion);
  if (result < 0) return Received::kEnd;
  Assemble();
  return Received::kRequest;
}

// In one piece, as libfuse wants it: what stands before the payload is moved up to it.
void RingEntry::Assemble() {
  const EntryHeaders& headers = HeadersIn(memory_);
  fuse_in_header header;
  std::memcpy(&header, headers.header, sizeof header);
  const size_t fixed = sizeof header + headers.state.payload_size;
  const size_t operation =
      std::min(header.len > fixed ? header.len - fixed : 0, sizeof headers.operation);
  char* const begin = payload() - operation - sizeof header;
  std::memcpy(begin + sizeof header, headers.operation, operation);
  std::memcpy(begin, &header, sizeof header);
  request_.bytes.mem = begin;
  request_.bytes.size = fixed + operation;
  request_.ReadHeader();
  unique_ = header.unique;
}

bool RingEntry::IsReply(const iovec* parts) const {
  return unique_ != 0 && HeaderOf(parts).unique == unique_;
}

ssize_t RingEntry::Reply(const iovec* parts, int count) {
  size_t size = 0;
  for (int i = 1; i < count; ++i) size += parts[i].iov_len;
  if (size > place_.payload_size) {
    errno = EINVAL;
    return -1;
  }
  char* at = payload();
  for (int i = 1; i < count; ++i) {  // a reply may be part of what was asked
    std::memmove(at, parts[i].iov_base, parts[i].iov_len);
    at += parts[i].iov_len;
  }
  SetReply(HeaderOf(parts), size);
  return static_cast<ssize_t>(sizeof(fuse_out_header) + size);
}

void RingEntry::SetReply(const fuse_out_header& header, size_t payload_size) {
  EntryHeaders& headers = HeadersIn(memory_);
  std::memcpy(headers.header, &header, sizeof header);
  headers.state.payload_size = static_cast<uint32_t>(payload_size);
  unique_ = 0;
}

}  // namespace cellfs::fs
