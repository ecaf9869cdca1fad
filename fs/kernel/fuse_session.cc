// SPDX-License-Identifier: MIT
//
// A mount's requests are received and served by the threads of fs/requests/request_pool.h, and where
// they come through io_uring by those of fs/kernel/ring_pool.h; here is what libfuse does for both.
#include "fs/kernel/fuse_session.h"

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/vfs.h>
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
#include "fs/kernel/fuse_init_reply.h"
#include "fs/kernel/fuse_request.h"
#include "fs/kernel/fuse_request_kinds.h"
#include "fs/kernel/fuse_target.h"
#include "fs/kernel/ring_pool.h"
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
struct DeviceRequest final : public RequestSource::RawRequest {
  explicit DeviceRequest(RequestCounts::Set& set) : fuse(set) {}
  DeviceRequest(const DeviceRequest& other) : fuse(other.fuse) {
    fuse.bytes.mem = std::malloc(other.fuse.bytes.size);
    if (fuse.bytes.mem == nullptr) throw std::bad_alloc();
    std::memcpy(fuse.bytes.mem, other.fuse.bytes.mem, fuse.bytes.size);
  }
  DeviceRequest& operator=(const DeviceRequest&) = delete;
  ~DeviceRequest() override { std::free(fuse.bytes.mem); }

  FuseRequest fuse;
};

FuseRequest& FuseOf(RequestSource::RawRequest& request) {
  return static_cast<DeviceRequest&>(request).fuse;
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

class Session final : public FuseSession,
                      private KernelNotifier,
                      private RequestSource,
                      private RequestServer {
 public:
  Session(FileSystem& filesystem, const SessionOptions& options)
      : filesystem_(filesystem),
        target_(filesystem),
        transport_(options.transport),
        pool_(*this, {.threads = std::max(options.max_threads, kFewestThreads)}),
        rings_(*this, {.threads = std::max(options.max_threads, kFewestThreads)}) {
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
    if (transport_ == Transport::kUring) CELLFS_RETURN_IF_ERROR(FindUring());
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
    mountpoint_ = mountpoint;
    SendRepliesOurselves();
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
    const std::lock_guard lock(failure_mutex_);
    return failure_;
  }

  bool disconnected() const override { return disconnected_; }

  std::string why_no_uring() const override {
    const std::lock_guard lock(failure_mutex_);
    return why_no_uring_;
  }

  Transport transport() const override {
    return rings_are_used_ ? Transport::kUring : Transport::kDevice;
  }

  void Exit() override { sem_post(&ended_); }

 private:
  // ---- Replies ----------------------------------------------------------------------------------

  void SendRepliesOurselves() {
    fuse_custom_io io{};
    io.read = [](int device, void* bytes, size_t size, void*) { return read(device, bytes, size); };
    io.writev = [](int device, iovec* parts, int count, void* target) {
      RingEntry* const entry = RingEntry::OfThisThread();
      if (entry != nullptr && entry->IsReply(parts)) return entry->Reply(parts, count);
      return static_cast<FuseTarget*>(target)->init_reply().Write(device, parts, count);
    };
    static_cast<void>(fuse_session_custom_io(session_, &io, fuse_session_fd(session_)));
  }

  // ---- The pool's source ------------------------------------------------------------------------

  std::unique_ptr<RawRequest> MakeEmpty() override {
    return std::make_unique<DeviceRequest>(CountsForThread());
  }
  std::unique_ptr<RawRequest> CopyOf(const RawRequest& request) override {
    return std::make_unique<DeviceRequest>(static_cast<const DeviceRequest&>(request));
  }

  Received Receive(RawRequest& request) override {
    FuseRequest& received = FuseOf(request);
    if (rings_are_used_ && IsForget(received)) std::this_thread::sleep_for(kForgetPause);
    const int size = fuse_session_receive_buf(session_, &received.bytes);
    if (size <= 0) return ReceivedNothing(size);
    received.ReadHeader();  // libfuse has looked whether all of it is there
    return Received::kRequest;
  }

  Received ReceivedNothing(int size) {
    if (size == -EINTR || size == -EAGAIN) return Received::kNothing;
    if (size == -ENOMEM) {  // nothing was read; others may give memory back
      std::this_thread::sleep_for(kMemoryPause);
      return Received::kNothing;
    }
    // Unmounted, or the device failed.
    const bool is_gone = size == 0 || size == -ENODEV || size == -ECONNABORTED;
    if (is_gone && !stopping_) disconnected_ = true;
    if (is_gone) {
      Exit();
    } else {
      Fail({StatusCode::kIoError, std::string("reading requests: ") + strerror(-size)});
    }
    return Received::kEnd;
  }

  // Beside the rings forgets alone are many here, and who makes them waits for none: after one the
  // next ones gather, and come in one piece.
  static constexpr std::chrono::milliseconds kForgetPause{1};

  static bool IsForget(const FuseRequest& last) {
    return last.opcode == FUSE_FORGET || last.opcode == FUSE_BATCH_FORGET;
  }

  bool IsUrgent(const RawRequest& request) override {
    return static_cast<const DeviceRequest&>(request).fuse.opcode == FUSE_INTERRUPT;
  }

  void Serve(RawRequest& request) override {
    FuseRequest& served = FuseOf(request);
    if (served.opcode == FUSE_INIT) [[unlikely]] return ServeInit(served);
    Serve(served);
  }

  // ---- And the rings' server --------------------------------------------------------------------

  RequestCounts::Set& CountsForThread() override {
    return filesystem_.request_counts().SetForThread();
  }

  void Serve(FuseRequest& served) override {
    RequestCounts& counts = filesystem_.request_counts();
    const uint64_t begin = counts.Begin();
    if (counts.WantsAskers(begin)) [[unlikely]] NoteAsker(served);
    fuse_session_process_buf(session_, &served.bytes);
    counts.End(*served.counted_in, RequestKindOf(served.opcode), begin);
  }

  // Of requests that nobody is named for the kernel itself is the asker.
  void NoteAsker(const FuseRequest& request) noexcept try {
    const fuse_in_header header = request.Header();
    filesystem_.request_counts().NoteAsker(header.uid, static_cast<pid_t>(header.pid));
  } catch (const std::exception&) {
    // Without memory one is not counted.
  }

  // The rings stand before the kernel is asked to use them: from then on it waits for them.
  void ServeInit(FuseRequest& request) {
    const uint64_t offered = OfferedFlags(request.bytes.mem, request.bytes.size);
    const bool is_offered = (offered & kFuseOverIoUring) != 0;
    if (transport_ != Transport::kDevice) {
      NoUring(is_offered ? std::string() : FindUring().message());
      if (is_offered)
        target_.init_reply().AskForRings([this](size_t largest) { return PrepareRings(largest); });
    }
    fuse_session_process_buf(session_, &request.bytes);
    if (rings_.is_prepared()) return StartRings();
    if (transport_ != Transport::kUring) return;
    Fail({StatusCode::kUnavailable, "transport = uring: " + why_no_uring()});
  }

  bool PrepareRings(size_t largest_payload) noexcept try {
    Status prepared = transport_ == Transport::kBest ? CheckIsWorthUring() : Status();
    if (prepared.ok()) prepared = rings_.Prepare(fuse_session_fd(session_), largest_payload);
    if (!prepared.ok()) NoUring(prepared.message());
    return prepared.ok();
  } catch (const std::exception&) {
    return false;
  }

  void NoUring(std::string why) {
    const std::lock_guard lock(failure_mutex_);
    why_no_uring_ = std::move(why);
  }

  void StartRings() {
    rings_are_used_ = true;
    if (const Status started = rings_.Start(); !started.ok()) Fail(started);
  }

  // statfs(2) asks nothing of the store. It resolves the path, so as not to hold the mount.
  void AskMount() override {
    struct statfs answer {};
    static_cast<void>(statfs(mountpoint_.c_str(), &answer));
  }

  void Interrupt(std::thread::native_handle_type reader) override {
    pthread_kill(reader, WakeSignal());
  }

  // ---- The end ----------------------------------------------------------------------------------

  void Fail(Status why) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (failure_.ok()) failure_ = std::move(why);
    }
    Exit();
  }

  // Files that were closed before the end are to be released as such.
  void AnswerWhatHasCome() {
    constexpr std::chrono::seconds kAtMost{1};  // others may go on asking
    const auto end = std::chrono::steady_clock::now() + kAtMost;
    while (MoreHasCome() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // What has come to a ring's thread that has not woken yet shows a moment later.
  bool MoreHasCome() {
    pollfd device{.fd = fuse_session_fd(session_), .events = POLLIN, .revents = 0};
    if (poll(&device, 1, 0) > 0 && device.revents == POLLIN) return true;
    const uint64_t received = rings_.received();
    return !rings_.IsIdle() || std::exchange(received_at_end_, received) != received;
  }

  void StopServing() {
    stopping_ = true;
    fuse_session_exit(session_);
    filesystem_.scan_slots().Close();
    rings_.Stop();
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
  std::string mountpoint_;
  sem_t ended_;
  mutable std::mutex failure_mutex_;
  Status failure_;            // guarded by failure_mutex_
  std::string why_no_uring_;  // likewise
  std::atomic<bool> stopping_{false};
  std::atomic<bool> disconnected_{false};
  uint64_t received_at_end_ = 0;
  const Transport transport_;  // that is wanted
  std::atomic<bool> rings_are_used_{false};
  // Last, for their threads use the rest.
  RequestPool pool_;
  RingPool rings_;
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
