// SPDX-License-Identifier: MIT
//
// One thread waits for requests in read(2) of the device and serves what it reads. A second one
// there would be woken for every RELEASE, in the midst of what its client does (hot read 1.3x).
// Another takes its place only while a request takes long: at once where it waits for the disk,
// else when the watch sees no progress. No thread is ever ended while the mount lasts.
//
// When as many threads serve as may, the one that reads goes on reading and puts what it reads
// aside: a request is interrupted by another one, which somebody has to read.
#include "fs/kernel/fuse_session.h"

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fs/kernel/fuse_handlers.h"
#include "fs/kernel/release_order.h"

namespace cellfs::fs {
namespace {

// How often the watch looks; idle, it sleeps.
constexpr std::chrono::milliseconds kWatchInterval{2};
constexpr int kIdleLooks = 500;
constexpr std::chrono::milliseconds kMemoryPause{20};
// Requests that are put aside: at most 64 MiB, if all are writes.
constexpr size_t kMostPutAside = 64;

// Zeros where it cannot be told.
fuse_in_header HeaderOf(const fuse_buf& request) {
  fuse_in_header header{};
  if ((request.flags & FUSE_BUF_IS_FD) != 0 || request.size < sizeof header) return header;
  std::memcpy(&header, request.mem, sizeof header);
  return header;
}

// Whether a request waits for the disk by its nature.
bool WaitsForDisk(const fuse_buf& request) {
  const uint32_t opcode = HeaderOf(request).opcode;
  return opcode == FUSE_FSYNC || opcode == FUSE_FSYNCDIR;
}

// Others may wait for it.
bool IsUrgent(const fuse_buf& request) {
  const uint32_t opcode = HeaderOf(request).opcode;
  return opcode == FUSE_INTERRUPT || opcode == FUSE_RELEASE;
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

class Session final : public FuseSession, private KernelNotifier {
 public:
  Session(FileSystem& filesystem, const SessionOptions& options)
      : filesystem_(filesystem),
        target_(filesystem),
        max_threads_(std::max(options.max_threads, 2)) {
    sem_init(&ended_, 0, 0);
    filesystem_.scan_slots().SetLimit(max_threads_ / 2);
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
    filesystem_.kernel().SetNotifier(this);
    return {};
  }

  Status Run(const std::function<void()>& ready) override {
    InstallWakeSignal();
    AddReader();
    std::thread watch([this] { Watch(); });
    if (ready) ready();
    while (sem_wait(&ended_) != 0 && errno == EINTR) {
    }
    // A thread that tells the kernel to drop something may wait there for a client that waits for
    // an answer: requests are served until the last such thread is back.
    filesystem_.kernel().SetNotifier(nullptr);
    AnswerWhatHasCome();
    StopThreads();
    watch.join();
    if (failed_ != 0) {
      return {StatusCode::kIoError, std::string("reading requests: ") + strerror(failed_)};
    }
    return {};
  }

  bool disconnected() const override { return disconnected_; }

  void Exit() override { sem_post(&ended_); }

 private:
  // One more thread that reads: one that is parked, or a new one.
  void AddReader() {
    std::lock_guard lock(threads_mutex_);
    // glibc up to 2.40 may lose a notice to one of several (its bug 25847).
    if (wanted_ > 0) reader_wanted_.notify_all();
    if (fuse_session_exited(session_) || !MayAddReader()) return;
    if (parked_ > wanted_) {
      ++wanted_;
      reader_wanted_.notify_one();
      return;
    }
    running_.fetch_add(1);
    try {
      threads_.emplace_back([this] { Serve(); });
    } catch (const std::exception&) {
      running_.fetch_sub(1);  // those that are there will do
    }
  }

  // One reads beside those that serve. REQUIRES: threads_mutex_.
  bool MayAddReader() const {
    const int waiting = waiting_.load() + filesystem_.scan_slots().waiting();
    return parked_ > wanted_ || static_cast<int>(threads_.size()) <= max_threads_ + waiting;
  }

  void Serve() {
    fuse_buf request{};
    if (reading_.fetch_add(1) > 0) Park();
    while (Receive(request)) {
      received_.fetch_add(1);
      if (watch_sleeps_.load()) WakeWatch();
      const bool nobody_reads = reading_.fetch_sub(1) == 1;
      if (nobody_reads && WaitsForDisk(request)) AddReader();
      if (!nobody_reads || !PutAside(request)) Process(request);
      if (reading_.fetch_add(1) > 0) Park();
    }
    std::free(request.mem);
    reading_.fetch_sub(1);
    Exit();
    running_.fetch_sub(1);
  }

  // The next request; false at the end. One thread at a time, so that the order is the kernel's.
  bool Receive(fuse_buf& request) {
    const std::lock_guard lock(receive_mutex_);
    while (!fuse_session_exited(session_)) {
      const int size = fuse_session_receive_buf(session_, &request);
      if (size > 0) {
        const fuse_in_header header = HeaderOf(request);
        if (header.opcode == FUSE_RELEASE) releases_.Begin(header.nodeid);
        return true;
      }
      if (size == -EINTR || size == -EAGAIN) continue;
      if (size == -ENOMEM) {  // nothing was read; others may give memory back
        std::this_thread::sleep_for(kMemoryPause);
        continue;
      }
      // Unmounted, or the device failed.
      const bool is_gone = size == 0 || size == -ENODEV || size == -ECONNABORTED;
      if (!is_gone) failed_ = -size;
      if (is_gone && !stopping_) disconnected_ = true;
      return false;
    }
    return false;
  }

  void Process(const fuse_buf& request) {
    const fuse_in_header header = HeaderOf(request);
    const bool is_release = header.opcode == FUSE_RELEASE;
    if (!is_release) releases_.WaitFor(header.nodeid);
    fuse_session_process_buf(session_, &request);
    if (is_release) releases_.End(header.nodeid);
  }

  // Where nobody could read in this thread's place while it serves the request. False also where
  // too much lies there already: that many wait for something else than scans.
  bool PutAside(const fuse_buf& request) {
    if (running_.load() <= max_threads_ || IsUrgent(request)) return false;
    std::lock_guard lock(threads_mutex_);
    if (MayAddReader() || put_aside_.size() >= kMostPutAside) return false;
    try {
      put_aside_.emplace_back(static_cast<const char*>(request.mem), request.size);
    } catch (const std::bad_alloc&) {
      return false;
    }
    has_put_aside_ = true;
    return true;
  }

  // Another thread reads by now; this one serves what was put aside, and waits until a reader is
  // wanted.
  void Park() {
    std::unique_lock lock(threads_mutex_);
    reading_.fetch_sub(1);
    ++parked_;
    while (true) {
      reader_wanted_.wait(lock, [this] {
        return wanted_ > 0 || !put_aside_.empty() || fuse_session_exited(session_);
      });
      if (wanted_ > 0 || put_aside_.empty()) break;
      ServePutAside(lock);
    }
    --parked_;
    if (wanted_ > 0) --wanted_;
    reading_.fetch_add(1);
  }

  // While it serves it is not parked.
  void ServePutAside(std::unique_lock<std::mutex>& lock) {
    std::string bytes = std::move(put_aside_.front());
    put_aside_.pop_front();
    has_put_aside_ = !put_aside_.empty();
    --parked_;
    lock.unlock();
    fuse_buf request{};
    request.mem = bytes.data();
    request.size = bytes.size();
    Process(request);
    lock.lock();
    ++parked_;
  }

  // Adds a reader where nobody reads and nothing was received between two looks; and a thread for
  // what was put aside, once those that serve wait for their turns.
  void Watch() {
    uint64_t seen = 0;
    int idle_looks = 0;
    std::unique_lock lock(watch_mutex_);
    while (!fuse_session_exited(session_)) {
      watch_wakes_.wait_for(lock, kWatchInterval,
                            [this] { return fuse_session_exited(session_) != 0; });
      const uint64_t received = received_.load(std::memory_order_relaxed);
      const bool progress = received != std::exchange(seen, received);
      const bool lacks_thread = reading_.load() == 0 || has_put_aside_.load();
      if (!progress && lacks_thread) AddReader();
      idle_looks = progress || lacks_thread ? 0 : idle_looks + 1;
      if (idle_looks < kIdleLooks) continue;
      watch_sleeps_ = true;
      // What came just before the watch fell asleep has not woken it.
      watch_wakes_.wait(lock, [&] {
        return !watch_sleeps_ || received_.load() != seen || fuse_session_exited(session_);
      });
      watch_sleeps_ = false;
      idle_looks = 0;
    }
  }

  void WakeWatch() {
    std::lock_guard lock(watch_mutex_);
    watch_sleeps_ = false;
    watch_wakes_.notify_one();
  }

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

  // A signal that comes just before a thread reads is lost, so they are sent until the thread is
  // gone.
  void StopThreads() {
    stopping_ = true;
    fuse_session_exit(session_);
    filesystem_.scan_slots().Close();
    WakeWatch();
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(threads_mutex_);
      threads.swap(threads_);
      reader_wanted_.notify_all();
    }
    while (running_.load() > 0) {
      for (std::thread& thread : threads) pthread_kill(thread.native_handle(), WakeSignal());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Waits for pages that are being read, so for answers to requests that are yet to be received:
  // a thread that waits here does not count among those that serve.
  void InvalidateInode(const Node& node) override {
    waiting_.fetch_add(1);
    fuse_lowlevel_notify_inval_inode(session_, target_.IdOf(node), 0, 0);
    waiting_.fetch_sub(1);
  }
  void InvalidateAttributes(const Node& node) override {
    constexpr off_t kNoPages = -1;
    fuse_lowlevel_notify_inval_inode(session_, target_.IdOf(node), kNoPages, 0);
  }
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    const fuse_ino_t parent = target_.IdOf(directory);
    // A directory that is thrown out loses its path for those who work in it; one that has expired
    // is only looked up anew. Kernels before 6.2 know no expiry.
    if (fuse_lowlevel_notify_expire_entry(session_, parent, name.c_str(), name.size(),
                                          FUSE_LL_EXPIRE_ONLY) != -ENOSYS) {
      return;
    }
    fuse_lowlevel_notify_inval_entry(session_, parent, name.c_str(), name.size());
  }

  FileSystem& filesystem_;
  FuseTarget target_;
  const int max_threads_;
  std::atomic<int> waiting_{0};  // threads that wait for the kernel
  fuse_session* session_ = nullptr;
  bool mounted_ = false;
  sem_t ended_;
  std::atomic<int> failed_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> disconnected_{false};
  ReleaseOrder releases_;
  std::mutex receive_mutex_;
  std::atomic<int> reading_{0};  // threads in read(2), or on their way there
  std::atomic<uint64_t> received_{0};
  std::atomic<int> running_{0};
  std::mutex threads_mutex_;  // guards the next five
  std::condition_variable reader_wanted_;
  int parked_ = 0;
  int wanted_ = 0;  // of the parked, how many are to read again
  std::deque<std::string> put_aside_;
  std::atomic<bool> has_put_aside_{false};
  std::vector<std::thread> threads_;
  std::mutex watch_mutex_;
  std::condition_variable watch_wakes_;
  std::atomic<bool> watch_sleeps_{false};
};

}  // namespace

StatusOr<std::unique_ptr<FuseSession>> FuseSession::Mount(FileSystem& filesystem,
                                                          const std::string& mountpoint,
                                                          const SessionOptions& options) {
  auto session = std::make_unique<Session>(filesystem, options);
  CELLFS_RETURN_IF_ERROR(session->Start(mountpoint, options));
  return std::unique_ptr<FuseSession>(std::move(session));
}

}  // namespace cellfs::fs
