// SPDX-License-Identifier: MIT
#include "src/commands/unified_diff.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/descriptor.h"

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

// "-old" for each line, and what diff(1) says of one without an end.
std::string MarkedLines(char mark, const std::string& text) {
  std::string marked;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    marked += mark + text.substr(begin, end - begin);
    begin = end;
  }
  if (!text.empty() && text.back() != '\n') marked += "\n\\ No newline at end of file\n";
  return marked;
}

// "-1,3"
std::string RangeOf(char mark, const std::string& text) {
  if (text.empty()) return std::string(1, mark) + "0,0";
  const auto ends = std::count(text.begin(), text.end(), '\n') + (text.back() == '\n' ? 0 : 1);
  return std::string(1, mark) + "1" + (ends == 1 ? "" : "," + std::to_string(ends));
}

// What diff(1) says of texts that have no line in common, without a process for each of many.
std::string DifferenceOfAll(const LabelledText& before, const LabelledText& after) {
  return "--- " + before.label + "\n+++ " + after.label + "\n@@ " + RangeOf('-', before.text) +
         " " + RangeOf('+', after.text) + " @@\n" + MarkedLines('-', before.text) +
         MarkedLines('+', after.text);
}

}  // namespace

std::optional<std::string> UnifiedDiff(const LabelledText& before, const LabelledText& after) {
  if (before.text == after.text) return "";
  const bool is_plain = IsLine(before.text) && IsLine(after.text);
  if (is_plain || before.text.empty() || after.text.empty()) return DifferenceOfAll(before, after);
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
