// SPDX-License-Identifier: MIT
#include "bench/ring_loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "fs/kernel/fuse_init_reply.h"
#include "fs/kernel/ring_pool.h"

namespace cellfs::bench {
namespace {

int WakeSignal() { return SIGRTMIN + 4; }

class Loop final : private fs::RequestServer {
 public:
  Loop(fuse_session* session, std::string mountpoint, int threads)
      : session_(session), mountpoint_(std::move(mountpoint)), rings_(*this, {.threads = threads}) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(WakeSignal(), &action, nullptr);
    fuse_custom_io io{};
    io.read = [](int device, void* bytes, size_t size, void*) { return read(device, bytes, size); };
    io.writev = [](int device, iovec* parts, int count, void*) {
      fs::RingEntry* const entry = fs::RingEntry::OfThisThread();
      if (entry != nullptr && entry->IsReply(parts)) return entry->Reply(parts, count);
      return InitReply().Write(device, parts, count);
    };
    fuse_session_custom_io(session_, &io, fuse_session_fd(session_));
    counts_.Start();
  }

  int Run() {
    InitReply().AskForRings([this](size_t largest_payload) {
      prepared_ = rings_.Prepare(fuse_session_fd(session_), largest_payload);
      return prepared_.ok();
    });
    fuse_buf request{};
    ServeDevice(request);  // INIT
    if (rings_.is_prepared()) {
      if (prepared_ = rings_.Start(); prepared_.ok()) {
        // Forgets, for which nobody waits: those that come next gather, as in cellfs.
        while (ServeDevice(request)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      rings_.Stop();
    }
    std::free(request.mem);
    if (rings_.is_prepared() && prepared_.ok()) return 0;
    std::fprintf(stderr, "no rings: %s\n", prepared_.ok() ? "not offered" : prepared_.message().c_str());
    return 1;
  }

 private:
  // libfuse tells custom I/O of nobody, so there is one.
  static fs::InitReply& InitReply() {
    static fs::InitReply reply;
    return reply;
  }

  bool ServeDevice(fuse_buf& request) {
    const int size = fuse_session_receive_buf(session_, &request);
    if (size == -EINTR) return !fuse_session_exited(session_);
    if (size <= 0) return false;
    fuse_session_process_buf(session_, &request);
    return true;
  }

  void Serve(fs::FuseRequest& request) override {
    fuse_session_process_buf(session_, &request.bytes);
  }
  fs::RequestCounts::Set& CountsForThread() override { return counts_.SetForThread(); }
  void AskMount() override {
    struct statfs answer {};
    static_cast<void>(statfs(mountpoint_.c_str(), &answer));
  }
  void Interrupt(std::thread::native_handle_type thread) override {
    pthread_kill(thread, WakeSignal());
  }

  fuse_session* session_;
  std::string mountpoint_;
  fs::RequestCounts counts_;
  Status prepared_;
  fs::RingPool rings_;  // last: its threads use the rest
};

}  // namespace

int RingLoop(fuse_session* session, const std::string& mountpoint, int threads) {
  return Loop(session, mountpoint, threads).Run();
}

}  // namespace cellfs::bench
