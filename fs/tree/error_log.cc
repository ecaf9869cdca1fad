// SPDX-License-Identifier: MIT
#include "fs/tree/error_log.h"

#include <cstring>
#include <ctime>

namespace cellfs::fs {
namespace {

std::string TimeText(Timestamp time) {
  const std::time_t seconds = time / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// A name may hold any byte; a log line shall stay one.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

void ErrorLog::SetSink(Sink sink) {
  std::lock_guard lock(mutex_);
  sink_ = std::move(sink);
}

void ErrorLog::Record(std::string_view operation, const Place& place, const Outcome& outcome) {
  if (outcome.reason().empty()) return;
  const std::string what =
      OneLine(std::string(operation) + " " + place.ToString() + ": " + outcome.reason() + " (" +
              strerrorname_np(outcome.error()) + ")");
  const Timestamp now = clock_.Now();
  Sink sink;
  {
    std::lock_guard lock(mutex_);
    entries_.push_back(
        {place, place.Parent(), TimeText(now) + " " + what + "\n", outcome.reason()});
    if (entries_.size() > kKept) entries_.pop_front();
    sink = sink_;
  }
  if (sink) sink(what);
}

std::string ErrorLog::Text() const {
  std::string text;
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) text += entry.line;
  return text;
}

std::string ErrorLog::ReasonFor(const Place& place) const {
  std::lock_guard lock(mutex_);
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    if (it->place == place || it->parent == place) return it->reason;
  }
  return {};
}

}  // namespace cellfs::fs
