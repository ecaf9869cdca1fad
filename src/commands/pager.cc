// SPDX-License-Identifier: MIT
#include "src/commands/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cellfs {
namespace {

std::string PagerCommand() {
  for (const char* variable : {"CELLFS_PAGER", "PAGER"}) {
    if (const char* const value = getenv(variable)) return value;
  }
  return "less";
}

}  // namespace

std::unique_ptr<Pager> Pager::Start() {
  const std::string command = PagerCommand();
  if (command.empty() || command == "cat") return nullptr;
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return nullptr;
  const pid_t process = fork();
  if (process == 0) {
    dup2(channel[0], STDIN_FILENO);
    setenv("LESS", "FRX", /*overwrite=*/0);
    execl("/bin/sh", "sh", "-c", (command + " || cat").c_str(), nullptr);
    _exit(127);
  }
  close(channel[0]);
  if (process > 0) {
    fflush(stdout);
    dup2(channel[1], STDOUT_FILENO);
    signal(SIGPIPE, SIG_IGN);  // it may be left early
  }
  close(channel[1]);
  return process > 0 ? std::unique_ptr<Pager>(new Pager(process)) : nullptr;
}

Pager::~Pager() {
  fclose(stdout);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace cellfs
