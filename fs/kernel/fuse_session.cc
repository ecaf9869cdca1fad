// SPDX-License-Identifier: MIT
//
// A mount's requests are received and served by fs/requests/request_pool.h; here is what of it is
// FUSE's. A RELEASE is noted before the next request is received (fs/kernel/release_order.h).
#include "fs/kernel/fuse_session.h"

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "engine/waiting.h"
#include "fs/kernel/fuse_handlers.h"
#include "fs/kernel/fuse_request_kinds.h"
#include "fs/kernel/fuse_target.h"
#include "fs/kernel/release_order.h"
#include "fs/requests/request_pool.h"

namespace cellfs::fs {
namespace {

// libfuse 3.14 has flags there, later ones have none.
template <typename Notify>
int ExpireEntry(Notify* notify, fuse_session* session, fuse_ino_t parent, const std::string& name) {
  if constexpr (std::is_invocable_v<Notify*, fuse_session*, fuse_ino_t, const char*, size_t>) {
    return notify(session, parent, name.c_str(), name.size());
  } else {
    return notify(session, parent, name.c_str(), name.size(), FUSE_LL_EXPIRE_ONLY);
  }
}

constexpr std::chrono::milliseconds kMemoryPause{20};
constexpr int kFewestThreads = 2;  // a scan may take one for long

// In memory that libfuse allocates for the first request, and uses again.
struct FuseRequest final : public RequestSource::RawRequest {
  explicit FuseRequest(RequestCounts::Set& set) : counted_in(&set) {}
  FuseRequest(const FuseRequest& other) {
    bytes.mem = std::malloc(other.bytes.size);
    if (bytes.mem == nullptr) throw std::bad_alloc();
    bytes.size = other.bytes.size;
    std::memcpy(bytes.mem, other.bytes.mem, bytes.size);
    opcode = other.opcode;
    file = other.file;
    counted_in = other.counted_in;
  }
  FuseRequest& operator=(const FuseRequest&) = delete;
  ~FuseRequest() override { std::free(bytes.mem); }

  fuse_buf bytes{};
  // What its header says.
  uint32_t opcode = 0;
  uint64_t file = 0;
  RequestCounts::Set* counted_in = nullptr;
};

// Its bytes are in memory, for splice(2) is not asked for, and libfuse has looked whether all of the
// header is there.
void ReadHeader(FuseRequest& request) {
  const char* const header = static_cast<const char*>(request.bytes.mem);
  std::memcpy(&request.opcode, header + offsetof(fuse_in_header, opcode), sizeof request.opcode);
  std::memcpy(&request.file, header + offsetof(fuse_in_header, nodeid), sizeof request.file);
}

// Interrupts a thread's read(2) of the device; does nothing else.
int WakeSignal() { return SIGRTMIN + 4; }

void InstallWakeSignal() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);  // and no SA_RESTART
  sigaction(WakeSignal(), &action, nullptr);
}

// libfuse takes a list apart at its commas, but for those behind a backslash.
std::string Escaped(const std::string& value) {
  std::string text;
  for (const char byte : value) {
    if (byte == ',' || byte == '\\') text += '\\';
    text += byte;
  }
  return text;
}

std::string MountOptionText(const MountOptions& mount, const SessionOptions& session) {
  std::string text = "fsname=" + Escaped(session.source) + ",subtype=cellfs";
  if (mount.allow_other) text += ",allow_other,default_permissions";
  if (mount.read_only) text += ",ro";
  if (!session.extra.empty()) text += "," + session.extra;
  return text;
}

class Session final : public FuseSession, private KernelNotifier, private RequestSource {
 public:
  Session(FileSystem& filesystem, const SessionOptions& options)
      : filesystem_(filesystem),
        target_(filesystem),
        pool_(*this, {.threads = std::max(options.max_threads, kFewestThreads)}) {
    sem_init(&ended_, 0, 0);
    filesystem_.scan_slots().SetLimit(std::max(options.max_threads, kFewestThreads) / 2);
  }

  ~Session() override {
    // First, for unmounting closes the descriptor that it writes to.
    filesystem_.kernel().SetNotifier(nullptr);
    if (mounted_) fuse_session_unmount(session_);
    if (session_ != nullptr) fuse_session_destroy(session_);
    sem_destroy(&ended_);
  }

  Status Start(const std::string& mountpoint, const SessionOptions& options) {
    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    fuse_opt_add_arg(&arguments, "cellfs");
    fuse_opt_add_arg(&arguments, "-o");
    fuse_opt_add_arg(&arguments, MountOptionText(target_.options(), options).c_str());
    if (options.debug) fuse_opt_add_arg(&arguments, "-d");
    const fuse_lowlevel_ops handlers = FuseHandlers(target_.options());
    session_ = fuse_session_new(&arguments, &handlers, sizeof handlers, &target_);
    fuse_opt_free_args(&arguments);
    if (session_ == nullptr) {
      return {StatusCode::kIllegalArgument, "libfuse refuses the mount options"};
    }
    errno = 0;
    if (fuse_session_mount(session_, mountpoint.c_str()) != 0) {
      return {StatusCode::kUnavailable,
              "cannot mount on " + mountpoint +
                  (errno != 0 ? std::string(": ") + strerror(errno) : "")};
    }
    mounted_ = true;
    AmendInitReply();
    filesystem_.kernel().SetNotifier(this);
    return {};
  }

  Status Run(const std::function<void()>& ready) override {
    InstallWakeSignal();
    filesystem_.request_counts().Start();
    if (!pool_.Start()) return {StatusCode::kUnavailable, "no thread can be made"};
    if (ready) ready();
    while (sem_wait(&ended_) != 0 && errno == EINTR) {
    }
    // A thread that tells the kernel to drop something may wait there for a client that waits for
    // an answer: requests are served until the last such thread is back.
    filesystem_.kernel().SetNotifier(nullptr);
    AnswerWhatHasCome();
    StopServing();
    if (failed_ != 0) {
      return {StatusCode::kIoError, std::string("reading requests: ") + strerror(failed_)};
    }
    return {};
  }

  bool disconnected() const override { return disconnected_; }

  void Exit() override { sem_post(&ended_); }

 private:
  // Where memory runs out the kernel is asked for less.
  void AmendInitReply() {
    fuse_custom_io io{};
    io.read = [](int device, void* bytes, size_t size, void*) { return read(device, bytes, size); };
    io.writev = [](int device, iovec* parts, int count, void* target) {
      return static_cast<FuseTarget*>(target)->init_reply().Write(device, parts, count);
    };
    static_cast<void>(fuse_session_custom_io(session_, &io, fuse_session_fd(session_)));
  }

  // ---- The pool's source ------------------------------------------------------------------------

  std::unique_ptr<RawRequest> MakeEmpty() override {
    return std::make_unique<FuseRequest>(filesystem_.request_counts().SetForThread());
  }
  std::unique_ptr<RawRequest> CopyOf(const RawRequest& request) override {
    return std::make_unique<FuseRequest>(static_cast<const FuseRequest&>(request));
  }

  Received Receive(RawRequest& request) override {
    auto& received = static_cast<FuseRequest&>(request);
    const int size = fuse_session_receive_buf(session_, &received.bytes);
    if (size > 0) {
      ReadHeader(received);
      if (received.opcode == FUSE_RELEASE) releases_.Begin(received.file);
      return Received::kRequest;
    }
    return ReceivedNothing(size);
  }

  Received ReceivedNothing(int size) {
    if (size == -EINTR || size == -EAGAIN) return Received::kNothing;
    if (size == -ENOMEM) {  // nothing was read; others may give memory back
      std::this_thread::sleep_for(kMemoryPause);
      return Received::kNothing;
    }
    // Unmounted, or the device failed.
    const bool is_gone = size == 0 || size == -ENODEV || size == -ECONNABORTED;
    if (!is_gone) failed_ = -size;
    if (is_gone && !stopping_) disconnected_ = true;
    Exit();
    return Received::kEnd;
  }

  bool IsUrgent(const RawRequest& request) override {
    const uint32_t opcode = static_cast<const FuseRequest&>(request).opcode;
    return opcode == FUSE_INTERRUPT || opcode == FUSE_RELEASE;
  }

  void Serve(RawRequest& request) override {
    const auto& served = static_cast<const FuseRequest&>(request);
    RequestCounts& counts = filesystem_.request_counts();
    const uint64_t begin = counts.Begin();
    if (counts.WantsAskers(begin)) [[unlikely]] NoteAsker(served);
    const bool is_release = served.opcode == FUSE_RELEASE;
    if (!is_release) releases_.WaitFor(served.file);
    fuse_session_process_buf(session_, &served.bytes);
    if (is_release) releases_.End(served.file);
    counts.End(*served.counted_in, RequestKindOf(served.opcode), begin);
  }

  // Of requests that nobody is named for the kernel itself is the asker.
  void NoteAsker(const FuseRequest& request) noexcept try {
    fuse_in_header header;
    std::memcpy(&header, request.bytes.mem, sizeof header);
    filesystem_.request_counts().NoteAsker(header.uid, static_cast<pid_t>(header.pid));
  } catch (const std::exception&) {
    // Without memory one is not counted.
  }

  void Interrupt(std::thread::native_handle_type reader) override {
    pthread_kill(reader, WakeSignal());
  }

  // ---- The end ----------------------------------------------------------------------------------

  // Files that were closed before the end are to be released as such.
  void AnswerWhatHasCome() {
    constexpr std::chrono::seconds kAtMost{1};  // others may go on asking
    const auto end = std::chrono::steady_clock::now() + kAtMost;
    pollfd device{.fd = fuse_session_fd(session_), .events = POLLIN, .revents = 0};
    while (poll(&device, 1, 0) > 0 && device.revents == POLLIN &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void StopServing() {
    stopping_ = true;
    fuse_session_exit(session_);
    filesystem_.scan_slots().Close();
    pool_.Stop();
  }

  // ---- The way to the kernel --------------------------------------------------------------------

  // Waits for pages that are being read, so for answers to requests that are yet to be received.
  void InvalidateInode(const Node& node) override {
    const Waiting waiting(Wait::kMayBeShort);
    fuse_lowlevel_notify_inval_inode(session_, target_.IdOf(node), 0, 0);
  }
  void InvalidateAttributes(const Node& node) override {
    constexpr off_t kNoPages = -1;
    fuse_lowlevel_notify_inval_inode(session_, target_.IdOf(node), kNoPages, 0);
  }
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    const fuse_ino_t parent = target_.IdOf(directory);
    // A directory that is thrown out loses its path for those who work in it; one that has expired
    // is only looked up anew. Kernels before 6.2 know no expiry.
    if (ExpireEntry(fuse_lowlevel_notify_expire_entry, session_, parent, name) != -ENOSYS) return;
    fuse_lowlevel_notify_inval_entry(session_, parent, name.c_str(), name.size());
  }
  void ThrowOutEntry(const Node& directory, const std::string& name) override {
    fuse_lowlevel_notify_inval_entry(session_, target_.IdOf(directory), name.c_str(), name.size());
  }

  FileSystem& filesystem_;
  FuseTarget target_;
  fuse_session* session_ = nullptr;
  bool mounted_ = false;
  sem_t ended_;
  std::atomic<int> failed_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> disconnected_{false};
  ReleaseOrder releases_;
  RequestPool pool_;  // last: its threads use the rest
};

}  // namespace

std::string FuseVersion() { return fuse_pkgversion(); }

StatusOr<std::unique_ptr<FuseSession>> FuseSession::Mount(FileSystem& filesystem,
                                                          const std::string& mountpoint,
                                                          const SessionOptions& options) {
  auto session = std::make_unique<Session>(filesystem, options);
  CELLFS_RETURN_IF_ERROR(session->Start(mountpoint, options));
  return std::unique_ptr<FuseSession>(std::move(session));
}

}  // namespace cellfs::fs
