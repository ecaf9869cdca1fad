// SPDX-License-Identifier: MIT
#include "src/shell/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace cellfs::shell {
namespace {

constexpr size_t kUsualWidth = 80;
constexpr size_t kLeastWidth = 20;

std::string_view TakePart(std::string_view& text, size_t width) {
  const std::string_view part = text.substr(0, width == 0 ? text.npos : width);
  text.remove_prefix(part.size());
  return part;
}

}  // namespace

void Output::MeasureWidth() {
  const int descriptor = fileno(file_);
  if (isatty(descriptor) == 0) return;
  winsize size{};
  const bool is_known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  width_ = std::max(is_known ? size_t{size.ws_col} : kUsualWidth, kLeastWidth);
}

void Output::Head(std::string_view only) {
  MeasureWidth();
  Row(only);
  rows_ = 0;
}

void Output::Head(std::string_view first, std::string_view second) {
  MeasureWidth();
  Columns(first, second, /*is_row=*/false);
  rows_ = 0;
}

void Output::Row(std::string_view only) {
  do {
    Line(TakePart(only, width_));
  } while (!only.empty());
  ++rows_;
}

void Output::Row(std::string_view first, std::string_view second) {
  Columns(first, second, /*is_row=*/true);
  ++rows_;
}

// Rows are inset by a blank, heads are not.
void Output::Columns(std::string_view first, std::string_view second, bool is_row) {
  const size_t first_width = width_ / 4;
  const size_t second_width = width_ == 0 ? 0 : width_ - first_width - 2;
  do {
    if (is_row) std::fputc(' ', file_);
    Padded(TakePart(first, first_width), first_width);
    if (!is_row) std::fputc(' ', file_);
    std::fputc(' ', file_);
    const std::string_view part = TakePart(second, second_width);
    std::fwrite(part.data(), 1, part.size(), file_);
    std::fputc('\n', file_);
  } while (!first.empty() || !second.empty());
}

void Output::Padded(std::string_view text, size_t width) {
  std::fwrite(text.data(), 1, text.size(), file_);
  for (size_t i = text.size(); i < width; ++i) std::fputc(' ', file_);
}

void Output::Footer(uint64_t rows) { Line(std::to_string(rows) + " row(s)"); }

void Output::Line(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fputc('\n', file_);
}

std::string BinaryText(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f && c != '\\') {
      text += c;
      continue;
    }
    char escape[5];
    snprintf(escape, sizeof escape, "\\x%02X", byte);
    text += escape;
  }
  return text;
}

std::string TimestampText(Timestamp timestamp) {
  const auto milliseconds = static_cast<int>(((timestamp % 1000) + 1000) % 1000);
  const std::time_t seconds = (timestamp - milliseconds) / 1000;
  std::tm parts{};
  // A time that no year has: the largest timestamps, which are no times.
  if (localtime_r(&seconds, &parts) == nullptr) return std::to_string(timestamp);
  char text[64];
  size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M", &parts);
  if (parts.tm_sec != 0 || milliseconds != 0)
    length += std::strftime(text + length, sizeof text - length, ":%S", &parts);
  std::string shown(text, length);
  if (milliseconds == 0) return shown;
  snprintf(text, sizeof text, ".%03d", milliseconds);
  return shown + text;
}

}  // namespace cellfs::shell
