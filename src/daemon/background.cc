// SPDX-License-Identifier: MIT
#include "src/daemon/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace cellfs {
namespace {

constexpr char kReady = '+';

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
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace

std::string RunInBackground(const std::function<int(const Report&)>& daemon) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return std::string("pipe: ") + strerror(errno);
  const pid_t child = fork();
  if (child < 0) return std::string("fork: ") + strerror(errno);
  if (child == 0) {
    close(channel[0]);
    setsid();
    const int code = daemon([fd = channel[1]](const std::string& failure) {
      WriteAll(fd, failure.empty() ? std::string(1, kReady) : failure);
      LetGoOfTerminal();
      close(fd);
    });
    _exit(code);
  }
  close(channel[1]);
  const std::string answer = ReadToEnd(channel[0]);
  close(channel[0]);
  if (answer.size() == 1 && answer[0] == kReady) return {};
  int status = 0;
  waitpid(child, &status, 0);
  return answer.empty() ? "the daemon ended before the mount was ready; run with -f to see why"
                        : answer;
}

}  // namespace cellfs
