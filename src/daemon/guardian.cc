// SPDX-License-Identifier: MIT
#include "src/daemon/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "src/mount/mount_table.h"

namespace cellfs {
namespace {

constexpr int kDaemonDied = SIGUSR1;

struct Guarded {
  MountedStore mount;
  int control = -1;  // of the mount's connection; -1: it cannot be had
};

// The file is opened while the daemon lives: its number may be another mount's once this one has gone,
// and then what is open is still of this one.
Guarded Take(MountedStore mount) {
  const std::string minor = mount.device.substr(mount.device.find(':') + 1);
  const std::string control = "/sys/fs/fuse/connections/" + minor + "/abort";
  const int file = open(control.c_str(), O_WRONLY | O_CLOEXEC);
  return {std::move(mount), file};
}

// By the mount's device, as somebody else may be mounted in its place by now.
void Abort(const Guarded& taken) {
  const MountedStore& guarded = taken.mount;
  if (taken.control >= 0 && write(taken.control, "1", 1) == 1) return;
  // Forced unmounting does the same before it looks who is in there. It shall fail then: without
  // the mount, programs would go on in the directory below it.
  const int inside = open(guarded.mountpoint.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const auto mounted = FindMount(guarded.mountpoint);
  if (inside >= 0 && mounted && mounted->device == guarded.device) {
    umount2(guarded.mountpoint.c_str(), MNT_FORCE);
  }
  close(inside);
}

// Nothing of the daemon's may live on in here: not its files, not its terminal.
int LetGoOfEverythingBut(int channel) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  constexpr int kFirstOther = STDERR_FILENO + 1;
  dup2(channel, kFirstOther);
  close_range(kFirstOther + 1, ~0U, 0);
  [[maybe_unused]] const int left = chdir("/");
  return kFirstOther;
}

// Waits for what the daemon has mounted, and then for its end.
[[noreturn]] void Watch(int channel, pid_t daemon) {
  sigset_t waiting;
  pthread_sigmask(SIG_SETMASK, nullptr, &waiting);
  sigset_t blocked = waiting;
  sigaddset(&blocked, kDaemonDied);
  sigdelset(&waiting, kDaemonDied);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  signal(kDaemonDied, [](int) {});
  prctl(PR_SET_NAME, "cellfs-guardian");
  prctl(PR_SET_PDEATHSIG, kDaemonDied);
  if (getppid() != daemon) _exit(0);
  channel = LetGoOfEverythingBut(channel);
  std::string mountpoint;
  std::optional<Guarded> guarded;
  while (true) {
    pollfd readable{.fd = channel, .events = POLLIN, .revents = 0};
    if (ppoll(&readable, 1, nullptr, &waiting) < 0) break;
    char buffer[4096];
    const ssize_t count = read(channel, buffer, sizeof buffer);
    if (count <= 0) _exit(0);  // its last thread has gone
    mountpoint.append(buffer, static_cast<size_t>(count));
    if (mountpoint.back() != '\0') continue;
    if (auto mount = FindMount(mountpoint.c_str())) guarded = Take(*std::move(mount));
  }
  if (guarded) Abort(*guarded);
  _exit(0);
}

}  // namespace

Guardian::Guardian() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t daemon = getpid();
  process_ = fork();
  if (process_ == 0) Watch(ends[0], daemon);
  close(ends[0]);
  channel_ = ends[1];
}

Guardian::~Guardian() {
  if (channel_ >= 0) close(channel_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void Guardian::Guard(const std::string& mountpoint) const {
  if (channel_ < 0) return;
  [[maybe_unused]] const ssize_t sent = write(channel_, mountpoint.c_str(), mountpoint.size() + 1);
}

}  // namespace cellfs
