// SPDX-License-Identifier: MIT
#include "src/commands/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "src/commands/printer.h"

namespace cellfs {
namespace {

constexpr uint64_t kBarWidth = 20;
constexpr std::chrono::seconds kBetween{1};

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string ClockText(uint64_t seconds) {
  char text[48];
  if (seconds >= 3600) {
    snprintf(text, sizeof text, "%lu:%02lu:%02lu", seconds / 3600, seconds / 60 % 60, seconds % 60);
  } else {
    snprintf(text, sizeof text, "%lu:%02lu", seconds / 60, seconds % 60);
  }
  return text;
}

}  // namespace

std::string ProgressText(uint64_t cells, uint64_t bytes, uint64_t total,
                         std::chrono::milliseconds since) {
  const auto milliseconds = static_cast<uint64_t>(std::max<int64_t>(since.count(), 1));
  const uint64_t rate = bytes * 1000 / milliseconds;
  std::string text;
  if (total != 0) {
    const uint64_t done = std::min(bytes, total);
    const uint64_t full = done * kBarWidth / total;
    text = "[" + std::string(full, '#') + std::string(kBarWidth - full, '.') + "] " +
           std::to_string(done * 100 / total) + "% ";
  }
  text += WithCommas(cells) + " cells, " + ShownSize(bytes) + ", " + ShownSize(rate) + "/s";
  if (total != 0 && rate != 0)
    text += ", " + ClockText((total - std::min(bytes, total)) / rate) + " left";
  return text;
}

Progress::Progress(uint64_t total_bytes)
    : total_(total_bytes),
      is_shown_(isatty(STDERR_FILENO) != 0),
      begun_(std::chrono::steady_clock::now()),
      last_(begun_) {}

Progress::~Progress() { Clear(); }

void Progress::Show(uint64_t cells, uint64_t bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now - last_ < kBetween) return;
  last_ = now;
  is_there_ = true;
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_);
  std::fprintf(stderr, "\r\x1b[K%s", ProgressText(cells, bytes, total_, since).c_str());
}

void Progress::Clear() {
  if (!is_there_) return;
  is_there_ = false;
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace cellfs
