// SPDX-License-Identifier: MIT
#include "fs/tree/error_log.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <ctime>
#include <utility>

#include "fs/requests/asking_process.h"

namespace cellfs::fs {
namespace {

// Keys have up to 32 KiB each; a line is for people.
constexpr size_t kLongestPlace = 500;
constexpr size_t kLongestReason = 2000;

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

std::string Shortened(std::string text, size_t longest) {
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

// The reason without what differs from one failure of a kind to the next: quoted names, numbers.
std::string WithoutNames(std::string_view reason) {
  std::string kind;
  for (size_t at = 0; at < reason.size(); ++at) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(reason[at])) != 0;
    if (!is_digit || kind.empty() || kind.back() != '0') kind += is_digit ? '0' : reason[at];
    if (reason[at] != '\'') continue;
    const size_t end = reason.find('\'', at + 1);
    if (end != std::string_view::npos) at = end;
  }
  return kind;
}

}  // namespace

size_t ErrorLog::Failure::bytes() const {
  return sizeof *this + place.row.size() + place.qualifier.size() + place.name.size() +
         reason.size();
}

void ErrorLog::SetSink(Sink sink) {
  std::lock_guard lock(mutex_);
  sink_ = std::move(sink);
}

void ErrorLog::Record(std::string_view operation, const Place& place, const Outcome& outcome) {
  if (outcome.reason().empty()) return;
  const std::string reason = Shortened(outcome.reason(), kLongestReason);
  const char* const error = strerrorname_np(outcome.error());
  const std::string asker = AskingProcess();
  const std::string what = OneLine(std::string(operation) + " " +
                                   Shortened(place.ToString(), kLongestPlace) + ": " + reason +
                                   " (" + error + ")" + (asker.empty() ? "" : ", by " + asker));
  std::string key = std::string(operation) + " " + error + " " + WithoutNames(reason);
  const Timestamp now = clock_.Now();
  Sink sink;
  {
    std::lock_guard lock(mutex_);
    CountLocked(std::move(key), what, now);
    RememberLocked(place, reason);
    sink = sink_;
  }
  if (sink) sink(what);
}

void ErrorLog::CountLocked(std::string key, std::string what, Timestamp now) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const Kind& kind) { return kind.key == key; });
  if (known != kinds_.end()) {
    kinds_.splice(kinds_.end(), kinds_, known);
  } else {
    kinds_.push_back({.key = std::move(key), .latest = {}, .first_time = now});
    if (kinds_.size() > kKinds) kinds_.pop_front();
  }
  Kind& kind = kinds_.back();
  kind.latest = std::move(what);
  kind.latest_time = now;
  ++kind.count;
}

void ErrorLog::RememberLocked(const Place& place, std::string reason) {
  failures_.push_back({place, std::move(reason)});
  failure_bytes_ += failures_.back().bytes();
  while (failures_.size() > kFailures || failure_bytes_ > kBytesOfFailures) {
    failure_bytes_ -= failures_.front().bytes();
    failures_.pop_front();
  }
}

std::string ErrorLog::Text() const {
  std::string text;
  std::lock_guard lock(mutex_);
  for (const Kind& kind : kinds_) {
    text += TimeText(kind.latest_time) + " " + kind.latest;
    if (kind.count > 1) {
      text += "; " + std::to_string(kind.count) + " times since " + TimeText(kind.first_time);
    }
    text += "\n";
  }
  return text;
}

std::string ErrorLog::ReasonFor(const Place& place) const {
  std::lock_guard lock(mutex_);
  for (auto it = failures_.rbegin(); it != failures_.rend(); ++it) {
    if (it->place == place || it->place.Parent() == place) return it->reason;
  }
  return {};
}

}  // namespace cellfs::fs
