// SPDX-License-Identifier: MIT
#include "src/commands/printer.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <utility>

#include "engine/utf8.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

constexpr size_t kRowsToMeasure = 200;
constexpr size_t kWidest = 48;  // beyond it a field pushes the others aside

const char* CodeOf(Colour colour) {
  switch (colour) {
    case Colour::kRed:
      return "31";
    case Colour::kGreen:
      return "32";
    case Colour::kYellow:
      return "33";
    case Colour::kCyan:
      return "36";
    case Colour::kBold:
      return "1";
    case Colour::kNone:
      break;
  }
  return "0";
}

// In columns of a terminal, without the codes of colours.
size_t WidthOf(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
    if (!continues) ++width;
  }
  return width;
}

}  // namespace

std::string ShownBytes(std::string_view bytes) {
  std::string shown;
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes.front());
    const size_t length = Utf8Length(bytes);
    if (length == 0 || first < ' ' || first == 0x7f || first == '\\') {
      char escape[5];
      snprintf(escape, sizeof escape, "\\x%02X", first);
      shown += escape;
      bytes.remove_prefix(1);
    } else {
      shown += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return shown;
}

std::string BytesOf(std::string_view shown) {
  std::string bytes;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\\' && i + 3 < shown.size() && shown[i + 1] == 'x') {
      if (const auto byte = FromHex(shown.substr(i + 2, 2))) {
        bytes += *byte;
        i += 3;
        continue;
      }
    }
    bytes += shown[i];
  }
  return bytes;
}

std::string ShownSize(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, kUnits[unit]);
  return text;
}

// Timestamps that are no time, as counters that people use for them, stay numbers.
std::string ShownTime(Timestamp time) {
  constexpr Timestamp kYear1980 = 315532800000;
  constexpr Timestamp kYear2200 = 7258118400000;
  if (time < kYear1980 || time > kYear2200) return std::to_string(time);
  const time_t seconds = time / 1000;
  tm parts{};
  localtime_r(&seconds, &parts);
  char text[40];
  const size_t length = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  snprintf(text + length, sizeof text - length, ".%03d", static_cast<int>(time % 1000));
  return text;
}

std::string ShownColumn(std::string_view family, std::string_view qualifier) {
  return ShownBytes(family) + ":" + ShownBytes(qualifier);
}

void Printer::Json(const nlohmann::json& value) {
  Bytes(ToJsonText(value));
  Bytes("\n");
}

void Printer::Head(std::vector<std::string> names) {
  Finish();
  head_ = std::move(names);
  has_measured_ = false;
  widths_.clear();
}

void Printer::Measure(const std::vector<std::string>& fields) {
  widths_.resize(std::max(widths_.size(), fields.size()));
  for (size_t i = 0; i < fields.size(); ++i)
    widths_[i] = std::max(widths_[i], std::min(WidthOf(fields[i]), kWidest));
}

void Printer::Row(std::vector<std::string> fields) {
  if (!style_.terminal || has_measured_) {
    WriteRow(fields, /*is_head=*/false);
    return;
  }
  Measure(fields);
  kept_.push_back(std::move(fields));
  if (kept_.size() >= kRowsToMeasure) Finish();
}

void Printer::Line(std::string_view text) {
  Finish();
  Bytes(text);
  Bytes("\n");
}

void Printer::Bytes(std::string_view bytes) {
  if (fwrite(bytes.data(), 1, bytes.size(), output_) != bytes.size()) NoteFailure();
}

std::string Printer::In(Colour colour, std::string_view text) const {
  if (!style_.colour || colour == Colour::kNone) return std::string(text);
  return "\x1b[" + std::string(CodeOf(colour)) + "m" + std::string(text) + "\x1b[0m";
}

void Printer::Finish() {
  if (!kept_.empty()) {
    if (!head_.empty()) Measure(head_);
    if (!head_.empty()) WriteRow(head_, /*is_head=*/true);
    for (const auto& row : std::exchange(kept_, {})) WriteRow(row, /*is_head=*/false);
    has_measured_ = true;
  }
  if (fflush(output_) != 0) NoteFailure();
}

void Printer::NoteFailure() {
  if (failure_ == 0) failure_ = errno;
}

void Printer::WriteRow(const std::vector<std::string>& fields, bool is_head) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool is_last = i + 1 == fields.size();
    line += is_head ? In(Colour::kBold, fields[i]) : fields[i];
    if (is_last) break;
    if (!style_.terminal) {
      line += '\t';
      continue;
    }
    const size_t width = WidthOf(fields[i]);
    const size_t wanted = i < widths_.size() ? widths_[i] : 0;
    line.append(width < wanted ? wanted - width + 2 : 2, ' ');
  }
  line += '\n';
  Bytes(line);
}

}  // namespace cellfs
