// SPDX-License-Identifier: MIT
#include "fs/tree/error_log.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "fs/requests/calling_process.h"
#include "fs/requests/running_request.h"
#include "fs/tree/time_text.h"

namespace cellfs::fs {
namespace {

// Keys have up to 32 KiB each; a line is for people.
constexpr size_t kLongestPlace = 500;
constexpr size_t kLongestReason = 2000;

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

// Where the kernel asks for itself it is the daemon's.
uid_t UserOfRequest() {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  return request != nullptr && request->pid() != 0 ? request->uid() : geteuid();
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

std::string LineOf(std::string_view operation, const Place& place, const std::string& what) {
  const std::string process = CallingProcess();
  return OneLine(std::string(operation) + " " + Shortened(place.ToString(), kLongestPlace) + ": " +
                 what + (process.empty() ? "" : ", by " + process));
}

// Whose the largest is.
uid_t MostOf(const std::map<uid_t, size_t>& amounts) {
  return std::max_element(amounts.begin(), amounts.end(), [](const auto& a, const auto& b) {
           return a.second < b.second;
         })->first;
}

// The line for a log that has not all of them.
std::string WithTurn(const std::string& line, const LineRate::Turn& turn) {
  std::string text = line;
  if (turn.left_out > 0)
    text += "; " + std::to_string(turn.left_out) + " of this user before it are not in the log";
  if (turn.is_last) text += "; what this user fails at next is in /.cellfs/errors alone";
  return text;
}

}  // namespace

size_t ErrorLog::Failure::bytes() const {
  return sizeof *this + told.place.row.size() + told.place.qualifier.size() +
         told.place.name.size() + told.line.size() + reason.size();
}

void ErrorLog::SetSink(Sink sink) {
  std::lock_guard lock(mutex_);
  sink_ = std::move(sink);
}

void ErrorLog::Record(std::string_view operation, const Place& place, const Outcome& outcome,
                      std::optional<uid_t> user) {
  if (outcome.reason().empty()) return;
  const std::string reason = Shortened(outcome.reason(), kLongestReason);
  const char* const error = strerrorname_np(outcome.error());
  Add(place, reason, LineOf(operation, place, reason + " (" + error + ")"),
      std::string(operation) + " " + error + " " + WithoutNames(reason), user);
}

void ErrorLog::Hint(std::string_view operation, const Place& place, const std::string& hint) {
  Add(place, hint, LineOf(operation, place, hint),
      std::string(operation) + " " + WithoutNames(hint), {});
}

void ErrorLog::Add(const Place& place, const std::string& reason, const std::string& line,
                   std::string key, std::optional<uid_t> user) {
  const Timestamp now = clock_.Now();
  Sink sink;
  LineRate::Turn turn;
  {
    std::lock_guard lock(mutex_);
    const uid_t whose = user.value_or(UserOfRequest());
    CountLocked(whose, std::move(key), line, now);
    RememberLocked({{++failures_ever_, now, whose, place, line}, reason});
    turn = log_rate_.Take(whose, now);
    if (turn.may_write) sink = sink_;
  }
  if (sink) sink(WithTurn(line, turn));
}

void ErrorLog::CountLocked(uid_t user, std::string key, std::string what, Timestamp now) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.user == user && kind.key == key;
  });
  if (known != kinds_.end()) {
    kinds_.splice(kinds_.end(), kinds_, known);
  } else {
    kinds_.push_back({.user = user, .key = std::move(key), .latest = {}, .first_time = now});
    if (kinds_.size() > kKinds) DropKindLocked();
  }
  Kind& kind = kinds_.back();
  kind.latest = std::move(what);
  kind.latest_time = now;
  ++kind.count;
}

// The oldest of the user who has the most.
void ErrorLog::DropKindLocked() {
  std::map<uid_t, size_t> counts;
  for (const Kind& kind : kinds_) ++counts[kind.user];
  const uid_t most = MostOf(counts);
  kinds_.erase(std::find_if(kinds_.begin(), kinds_.end(),
                            [most](const Kind& kind) { return kind.user == most; }));
}

void ErrorLog::RememberLocked(Failure failure) {
  failures_.push_back(std::move(failure));
  failure_bytes_ += failures_.back().bytes();
  while (failures_.size() > kFailures || failure_bytes_ > kBytesOfFailures) DropFailureLocked();
}

// The oldest of the user who has the most: bytes where these are too many, else failures.
void ErrorLog::DropFailureLocked() {
  const bool by_bytes = failure_bytes_ > kBytesOfFailures;
  std::map<uid_t, size_t> amounts;
  for (const Failure& failure : failures_)
    amounts[failure.told.user] += by_bytes ? failure.bytes() : 1;
  const uid_t most = MostOf(amounts);
  const auto oldest = std::find_if(failures_.begin(), failures_.end(), [most](const Failure& each) {
    return each.told.user == most;
  });
  failure_bytes_ -= oldest->bytes();
  failures_.erase(oldest);
}

std::vector<ErrorLog::Told> ErrorLog::After(uint64_t number, std::optional<uid_t> user) const {
  std::vector<Told> after;
  const std::lock_guard lock(mutex_);
  for (const Failure& failure : failures_) {
    const bool is_wanted = !user || failure.told.user == *user;
    if (is_wanted && failure.told.number > number) after.push_back(failure.told);
  }
  return after;
}

std::vector<ErrorLog::Kind> ErrorLog::Kinds(std::optional<uid_t> user) const {
  std::vector<Kind> wanted;
  const std::lock_guard lock(mutex_);
  std::copy_if(kinds_.begin(), kinds_.end(), std::back_inserter(wanted),
               [&](const Kind& kind) { return !user || kind.user == *user; });
  return wanted;
}

std::string ErrorLog::Text(std::optional<uid_t> user) const {
  std::string text;
  for (const Kind& kind : Kinds(user)) {
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
    if (it->told.place == place || it->told.place.Parent() == place) return it->reason;
  }
  return {};
}

}  // namespace cellfs::fs
