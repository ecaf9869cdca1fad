// SPDX-License-Identifier: MIT
#include "src/daemon/background.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace cellfs {
namespace {

volatile sig_atomic_t interrupted = 0;

constexpr std::array kInterrupting{SIGINT, SIGTERM, SIGHUP};

// From before the child is made until it has started: what would end this process is heard while it
// waits alone, and ends both. What is ignored stays so, as below nohup(1).
class InterruptWatch {
 public:
  InterruptWatch() {
    interrupted = 0;
    sigset_t heard;
    sigemptyset(&heard);
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (size_t i = 0; i < kInterrupting.size(); ++i) {
      sigaction(kInterrupting[i], nullptr, &actions_[i]);
      if (actions_[i].sa_handler == SIG_IGN) continue;
      sigaction(kInterrupting[i], &action, nullptr);
      sigaddset(&heard, kInterrupting[i]);
    }
    pthread_sigmask(SIG_BLOCK, &heard, &mask_);
  }
  ~InterruptWatch() {
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    GiveActionsBack();
  }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // For the child, which takes the signals in its own way.
  void GiveActionsBack() const {
    for (size_t i = 0; i < kInterrupting.size(); ++i)
      sigaction(kInterrupting[i], &actions_[i], nullptr);
  }

  // Until there is something to read; false: interrupted.
  bool AwaitReadable(int fd) const {
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    while (interrupted == 0 && ppoll(&readable, 1, nullptr, &mask_) < 0 && errno == EINTR) {
    }
    return interrupted == 0;
  }

 private:
  std::array<struct sigaction, kInterrupting.size()> actions_{};
  sigset_t mask_{};
};

void WriteAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent has gone: nobody to tell
    done += static_cast<size_t>(count);
  }
}

void LetGoOfTerminal() {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

std::string ReadToEnd(int fd, const InterruptWatch& watch) {
  std::string text;
  char buffer[1024];
  while (watch.AwaitReadable(fd)) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

Status Failure(const std::string& call) {
  return {StatusCode::kIoError, call + ": " + strerror(errno)};
}

// A letter for the code, then the message.
std::string Encode(const Status& status) {
  return static_cast<char>('A' + static_cast<int>(status.code())) + status.message();
}

Status Decode(const std::string& text) {
  if (text.empty()) {
    return {StatusCode::kOutcomeUnknown,
            "the daemon ended before the mount was ready; run with -f to see why"};
  }
  const auto code = static_cast<StatusCode>(text[0] - 'A');
  return code == StatusCode::kOk ? Status() : Status(code, text.substr(1));
}

}  // namespace

Status RunInBackground(const std::function<int(const Report&)>& daemon) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return Failure("pipe");
  const InterruptWatch watch;
  const pid_t child = fork();
  if (child < 0) return Failure("fork");
  if (child == 0) {
    watch.GiveActionsBack();
    close(channel[0]);
    setsid();
    const int code = daemon([fd = channel[1]](const Status& status) {
      WriteAll(fd, Encode(status));
      LetGoOfTerminal();
      close(fd);
    });
    _exit(code);
  }
  close(channel[1]);
  const std::string answer = ReadToEnd(channel[0], watch);
  close(channel[0]);
  if (interrupted != 0) kill(child, SIGTERM);
  Status reported = interrupted != 0 ? Status(StatusCode::kCancelled, "interrupted")
                                     : Decode(answer);
  if (!reported.ok()) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return reported;
}

}  // namespace cellfs
