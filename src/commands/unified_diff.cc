// SPDX-License-Identifier: MIT
#include "src/commands/unified_diff.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "src/daemon/descriptor.h"

namespace cellfs {
namespace {

// A file in memory that holds the text; -1: there is none to be had.
int FileOf(const std::string& text) {
  const int fd = memfd_create("cellfs", 0);  // for the child as well
  for (size_t done = 0; fd >= 0 && done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return fd;
}

std::string PathOf(int fd) { return "/dev/fd/" + std::to_string(fd); }

std::string ReadAll(int fd) {
  std::string text;
  char bytes[65536];
  ssize_t count = 0;
  while ((count = read(fd, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

bool IsLine(const std::string& text) {
  return text.empty() || text.find('\n') >= text.size() - 1;
}

// "-old", and what diff(1) says of a line without an end.
std::string MarkedLine(char mark, const std::string& line) {
  if (line.empty()) return "";
  return mark + line + (line.back() == '\n' ? "" : "\n\\ No newline at end of file\n");
}

// The same as diff(1) says, without a process for each of many short values.
std::string DifferenceOfLines(const LabelledText& before, const LabelledText& after) {
  if (before.text == after.text) return "";
  return "--- " + before.label + "\n+++ " + after.label + "\n@@ " +
         (before.text.empty() ? "-0,0" : "-1") + (after.text.empty() ? " +0,0" : " +1") + " @@\n" +
         MarkedLine('-', before.text) + MarkedLine('+', after.text);
}

}  // namespace

std::optional<std::string> UnifiedDiff(const LabelledText& before, const LabelledText& after) {
  if (IsLine(before.text) && IsLine(after.text)) return DifferenceOfLines(before, after);
  const Descriptor old_file(FileOf(before.text));
  const Descriptor new_file(FileOf(after.text));
  int channel[2];
  if (old_file.get() < 0 || new_file.get() < 0 || pipe2(channel, O_CLOEXEC) != 0)
    return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], STDOUT_FILENO);
    execlp("diff", "diff", "-u", "--label", before.label.c_str(), "--label", after.label.c_str(),
           PathOf(old_file.get()).c_str(), PathOf(new_file.get()).c_str(), nullptr);
    _exit(127);
  }
  close(channel[1]);
  std::string text = ReadAll(channel[0]);
  close(channel[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
      WEXITSTATUS(status) > 1) {
    return std::nullopt;
  }
  return text;
}

}  // namespace cellfs
