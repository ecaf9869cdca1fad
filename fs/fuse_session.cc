// SPDX-License-Identifier: MIT
//
// Threads wait for requests in read(2) of the device. There is always one more than are busy, up to a
// maximum, and none is ever ended while the mount lasts: making threads costs more than requests.
#include "fs/fuse_session.h"

#include <fuse3/fuse_lowlevel.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "fs/fuse_handlers.h"

namespace cellfs::fs {
namespace {

// Interrupts a thread's read(2) of the device; does nothing else.
int WakeSignal() { return SIGRTMIN + 4; }

void InstallWakeSignal() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);  // and no SA_RESTART
  sigaction(WakeSignal(), &action, nullptr);
}

std::string MountOptionText(const MountOptions& mount, const SessionOptions& session) {
  std::string text = "fsname=" + session.source + ",subtype=cellfs";
  if (mount.allow_other) text += ",allow_other,default_permissions";
  if (mount.read_only) text += ",ro";
  if (!session.extra.empty()) text += "," + session.extra;
  return text;
}

class Session final : public FuseSession, private KernelNotifier {
 public:
  Session(FileSystem& filesystem, const SessionOptions& options)
      : filesystem_(filesystem), target_(filesystem), max_threads_(options.max_threads) {
    sem_init(&ended_, 0, 0);
  }

  ~Session() override {
    if (mounted_) fuse_session_unmount(session_);
    filesystem_.context().kernel.SetNotifier(nullptr);
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
              "cannot mount on " + mountpoint + (errno != 0 ? std::string(": ") + strerror(errno) : "")};
    }
    mounted_ = true;
    filesystem_.context().kernel.SetNotifier(this);
    return {};
  }

  Status Run(const std::function<void()>& ready) override {
    InstallWakeSignal();
    AddThread();
    if (ready) ready();
    while (sem_wait(&ended_) != 0 && errno == EINTR) {
    }
    StopThreads();
    if (failed_ != 0) {
      return {StatusCode::kIoError, std::string("reading requests: ") + strerror(failed_)};
    }
    return {};
  }

  void Exit() override {
    fuse_session_exit(session_);
    sem_post(&ended_);
  }

 private:
  void AddThread() {
    std::lock_guard lock(threads_mutex_);
    if (fuse_session_exited(session_) || static_cast<int>(threads_.size()) >= max_threads_) return;
    waiting_.fetch_add(1);
    running_.fetch_add(1);
    try {
      threads_.emplace_back([this] { Serve(); });
    } catch (const std::system_error&) {
      waiting_.fetch_sub(1);
      running_.fetch_sub(1);  // those that are there will do
    }
  }

  void Serve() {
    fuse_buf request{};
    while (!fuse_session_exited(session_)) {
      const int size = fuse_session_receive_buf(session_, &request);
      if (size == -EINTR || size == -EAGAIN) continue;
      if (size <= 0) {  // unmounted, or the device failed
        if (size < 0 && size != -ENODEV) failed_ = -size;
        break;
      }
      if (waiting_.fetch_sub(1) == 1) AddThread();
      fuse_session_process_buf(session_, &request);
      waiting_.fetch_add(1);
    }
    std::free(request.mem);
    Exit();
    running_.fetch_sub(1);
  }

  // A signal that comes just before a thread reads is lost, so they are sent until the thread is gone.
  void StopThreads() {
    fuse_session_exit(session_);
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(threads_mutex_);
      threads.swap(threads_);
    }
    while (running_.load() > 0) {
      for (std::thread& thread : threads) pthread_kill(thread.native_handle(), WakeSignal());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (std::thread& thread : threads) thread.join();
  }

  void InvalidateInode(const Node& node) override {
    fuse_lowlevel_notify_inval_inode(session_, target_.IdOf(node), 0, 0);
  }
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    fuse_lowlevel_notify_inval_entry(session_, target_.IdOf(directory), name.c_str(), name.size());
  }

  FileSystem& filesystem_;
  FuseTarget target_;
  const int max_threads_;
  fuse_session* session_ = nullptr;
  bool mounted_ = false;
  sem_t ended_;
  std::atomic<int> failed_{0};
  std::atomic<int> waiting_{0};  // threads in read(2)
  std::atomic<int> running_{0};
  std::mutex threads_mutex_;
  std::vector<std::thread> threads_;  // guarded by threads_mutex_
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
