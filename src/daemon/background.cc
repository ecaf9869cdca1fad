// SPDX-License-Identifier: MIT
#include "src/daemon/background.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cellfs {
namespace {

volatile sig_atomic_t interrupted = 0;

// While the child starts.
class InterruptWatch {
 public:
  InterruptWatch() {
    interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, &before_);  // no SA_RESTART: read(2) ends
  }
  ~InterruptWatch() { sigaction(SIGINT, &before_, nullptr); }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct sigaction before_ {};
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

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[1024];
  while (interrupted == 0) {
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
  const pid_t child = fork();
  if (child < 0) return Failure("fork");
  if (child == 0) {
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
  const InterruptWatch watch;
  const std::string answer = ReadToEnd(channel[0]);
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
