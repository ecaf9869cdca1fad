// SPDX-License-Identifier: MIT
#include "engine/local/scrub.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/local/local_check.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesBetweenPauses = uint64_t{1} << 20;
constexpr uint64_t kBytesBetweenSaves = uint64_t{64} << 20;

// When the store was made, or copied: before that nothing of it can have been scrubbed.
Timestamp TimeOfStore(const std::string& directory) {
  struct stat attributes {};
  if (stat((directory + "/FORMAT").c_str(), &attributes) != 0) return 0;
  return Timestamp{attributes.st_mtim.tv_sec} * 1000;
}

// Of ioprio_set(2). Newer versions of linux/ioprio.h are no C++: a parameter's name is `class`.
constexpr int kPriorityOfThread = 1;    // IOPRIO_WHO_PROCESS
constexpr int kIdlePriority = 3 << 13;  // IOPRIO_CLASS_IDLE

// Of the calling thread, for ever: others that want the disk or a processor go before. Where it may
// not be so, the pace alone spares them.
void TakeLowestPriority() {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  static_cast<void>(setpriority(PRIO_PROCESS, self, 19));
  syscall(SYS_ioprio_set, kPriorityOfThread, 0, kIdlePriority);
}

}  // namespace

Scrub::Scrub(TableServices& services, std::string directory)
    : services_(services),
      directory_(std::move(directory)),
      interval_ms_(services.options.scrub_interval_ms),
      store_made_(TimeOfStore(directory_)),
      pace_(services.options.scrub_rate),
      state_(ReadScrubState(services.files, directory_)),
      is_due_at_once_(!state_.last.found.empty()) {}

// Where something was found, the store may have been mended since.
Timestamp Scrub::DueLocked() const {
  if (interval_ms_ == 0) return 0;
  if (state_.now.begun != 0) return state_.now.begun;
  if (is_due_at_once_) return state_.last.ended;
  return std::max(state_.last.ended, store_made_) + interval_ms_;
}

bool Scrub::IsDue() const {
  const std::lock_guard lock(mutex_);
  const Timestamp due = DueLocked();
  return due != 0 && services_.options.clock->Now() >= due;
}

bool Scrub::Round(const MayGoOn& may_go_on) {
  if (!is_saved_ && !Save()) return false;
  if (!IsDue()) return true;
  TakeLowestPriority();
  if (!Begin()) return false;
  const CheckSteps steps{
      .tell = [&](const CheckProgress& progress) { return Pace(progress, may_go_on); },
      .wants =
          [&](TableId table, const FileFacts& facts) {
            const std::lock_guard lock(mutex_);
            const auto read = state_.read.find(table);
            return read == state_.read.end() || !read->second.contains(facts.number);
          },
      .has_read = [&](TableId table, const FileFacts& facts,
                      std::span<const Damage> damage) { HasRead(table, facts, damage); }};
  const StatusOr<CheckReport> report = CheckLocalStore(services_.files, directory_, steps);
  if (report.status().code() != StatusCode::kCancelled) End(report);
  return Save();
}

bool Scrub::Begin() {
  paced_bytes_ = 0;
  {
    const std::lock_guard lock(mutex_);
    progress_ = {};
    if (state_.now.begun != 0) return true;
    state_.now.begun = services_.options.clock->Now();
  }
  return Save();
}

bool Scrub::Save() {
  ScrubState state;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
  }
  unsaved_bytes_ = 0;
  is_saved_ = IsInForce(SaveScrubState(services_.files, directory_, state));
  return is_saved_;
}

bool Scrub::Pace(const CheckProgress& progress, const MayGoOn& may_go_on) {
  {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  }
  const uint64_t bytes = progress.bytes - paced_bytes_;
  if (bytes < kBytesBetweenPauses) return may_go_on({});
  paced_bytes_ = progress.bytes;
  return may_go_on(
      pace_.Take(bytes, services_.cache.blocks.reads(), std::chrono::steady_clock::now()));
}

void Scrub::HasRead(TableId table, const FileFacts& facts, std::span<const Damage> damage) {
  {
    const std::lock_guard lock(mutex_);
    state_.read[table].insert(facts.number);
    ++state_.now.files;
    state_.now.bytes += facts.bytes;
    for (const Damage& found : damage) state_.now.Add(FindingOf(found));
  }
  const auto lost = std::find_if(damage.begin(), damage.end(),
                                 [](const Damage& found) { return !found.has_all_cells; });
  if (lost != damage.end() && tell_table_) {
    const std::string path = directory_ + "/" + lost->file;
    const bool has_path = lost->what.find(path) != lost->what.npos;
    tell_table_(table, {StatusCode::kCorruption, has_path ? lost->what : path + ": " + lost->what});
  }
  unsaved_bytes_ += facts.bytes;
  // What could not be saved now is tried with the next file, and at the end.
  if (unsaved_bytes_ >= kBytesBetweenSaves || !damage.empty()) static_cast<void>(Save());
}

// What keeps the store from being looked at is damage like any other.
void Scrub::End(const StatusOr<CheckReport>& report) {
  const std::lock_guard lock(mutex_);
  ScrubPass& pass = state_.now;
  if (report.ok()) {
    for (const Damage& damage : report->damage) pass.Add(FindingOf(damage));
    pass.files += report->log_files;
    pass.bytes += report->log_bytes;
  } else {
    pass.Add({.file = "store", .what = report.status().message()});
  }
  pass.ended = services_.options.clock->Now();
  state_.last = std::exchange(pass, {});
  state_.read.clear();
  is_due_at_once_ = false;
}

// Without the names of rows and columns, which 'cellfs check' tells to whom they belong.
ScrubFinding Scrub::FindingOf(const Damage& damage) const {
  std::string what = damage.file + ": ";
  if (damage.table) what += damage.table->ToString() + ": ";
  if (!damage.family.empty()) what += "family " + damage.family + ": ";
  // Many begin with the path.
  const std::string path = directory_ + "/" + damage.file + ": ";
  what += damage.what.starts_with(path) ? damage.what.substr(path.size()) : damage.what;
  if (!damage.remedy.empty()) what += "; " + damage.remedy;
  const StatusOr<bool> exists = services_.files.Exists(directory_ + "/" + damage.file);
  return {.file = damage.file, .what = std::move(what), .was_there = exists.ok() && *exists};
}

std::vector<std::string> Scrub::TextsOf(const ScrubPass& pass) const {
  std::vector<std::string> texts;
  for (const ScrubFinding& finding : pass.found) {
    const StatusOr<bool> exists = services_.files.Exists(directory_ + "/" + finding.file);
    const bool is_over = finding.was_there && exists.ok() && !*exists;
    if (!is_over) texts.push_back(finding.what);
  }
  return texts;
}

ScrubStatistics Scrub::GetStatistics() const {
  const std::lock_guard lock(mutex_);
  ScrubStatistics statistics{.due = DueLocked(),
                             .begun = state_.last.begun,
                             .ended = state_.last.ended,
                             .files = state_.last.files,
                             .bytes = state_.last.bytes,
                             .damage = TextsOf(state_.last),
                             .under_way_since = state_.now.begun,
                             .bytes_read = progress_.bytes,
                             .bytes_to_read = progress_.total};
  for (std::string& text : TextsOf(state_.now)) {
    auto& all = statistics.damage;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  return statistics;
}

}  // namespace cellfs
