// SPDX-License-Identifier: MIT
#include "fs/requests/request_counts.h"

#include <algorithm>

#include "fs/requests/calling_process.h"

namespace cellfs::fs {

const char* NameOf(RequestKind kind) {
  static constexpr std::array<const char*, kRequestKinds> kNames = {
      "lookup",  "getattr", "setattr",    "open",  "read",   "write",  "flush", "fsync",
      "release", "create",  "unlink",     "rename", "mkdir", "rmdir",  "opendir", "readdir",
      "releasedir", "xattr", "statfs",    "forget", "other", "command"};
  return kNames[static_cast<size_t>(kind)];
}

AllRequestFigures RequestCounts::Figures() const {
  constexpr size_t kNegative = RequestFigures::kBuckets - 1;  // a few nanoseconds, as a rule
  AllRequestFigures figures;
  for (const Set& set : sets_) {
    for (size_t kind = 0; kind < kRequestKinds; ++kind) {
      figures[kind].nanoseconds += set.nanoseconds_[kind].load(std::memory_order_relaxed);
      for (size_t n = 0; n < RequestFigures::kBuckets; ++n)
        figures[kind].buckets[n == kNegative ? 0 : n] +=
            set.buckets_[kind * RequestFigures::kBuckets + n].load(std::memory_order_relaxed);
    }
  }
  return figures;
}

RequestCounts::Set& RequestCounts::SetForThread() {
  return sets_[sets_given_.fetch_add(1, std::memory_order_relaxed) % kSets];
}

void RequestCounts::NoteAsker(uid_t uid, pid_t thread) {
  const std::lock_guard lock(mutex_);
  const auto known = askers_.find({uid, thread});
  if (known != askers_.end()) {
    ++known->second.requests;
  } else if (askers_.size() < kMostAskers) {
    const NamedProcess process = ProcessOf(thread);
    askers_[{uid, thread}] = {uid, process.id, process.name, 1};
  } else {
    ++others_;
  }
}

std::vector<Asker> RequestCounts::AskersFor(std::chrono::nanoseconds how_long) {
  const std::lock_guard lock(mutex_);
  const uint64_t now = QuickClock::Ticks();
  if (!WantsAskers(now)) {
    askers_.clear();
    others_ = 0;
  }
  askers_wanted_until_.store(now + clock_.TicksIn(how_long), std::memory_order_relaxed);
  std::map<std::pair<uid_t, pid_t>, Asker> processes;
  for (const auto& [key, asker] : askers_) {
    auto [process, is_new] = processes.try_emplace({asker.uid, asker.process}, asker);
    if (!is_new) process->second.requests += asker.requests;
  }
  std::vector<Asker> all;
  all.reserve(processes.size() + 1);
  for (auto& [key, asker] : processes) all.push_back(std::move(asker));
  if (others_ != 0) all.push_back({.uid = 0, .process = 0, .name = "others", .requests = others_});
  // Who comes next is to have a place.
  if (askers_.size() >= kMostAskers) {
    for (const auto& [key, asker] : askers_) others_ += asker.requests;
    askers_.clear();
  }
  return all;
}

}  // namespace cellfs::fs
