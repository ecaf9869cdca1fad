// SPDX-License-Identifier: MIT
#include "engine/local/scheduler.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>

namespace cellfs {
namespace {

constexpr std::chrono::seconds kRetry{1};  // after an error, of a full disk for example
constexpr std::chrono::seconds kLook{10};  // otherwise
constexpr uint64_t kLogFactor = 2;         // flush sizes that the log may grow to
constexpr int kFlushThreads = 2;           // hbase.hstore.flusher.count

uint64_t UnflushedBytesOf(LocalTable& table) {
  const Snapshot<TableVersion> version = table.versions().Current();
  return version->UnflushedBytes();
}

bool HasUnflushed(LocalTable& table) {
  const Snapshot<TableVersion> version = table.versions().Current();
  return version->HasUnflushed();
}

// The calling thread has a tenth of the weight of others on a processor that both ask for: who reads
// or writes does not wait for it, and is slowed where it does not follow (write_pace.h).
void GiveWay() {
  constexpr int kSteps = 10;
  (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kSteps);
}

}  // namespace

Scheduler::Scheduler(std::shared_ptr<TableServices> services, Tables tables, Scrub* scrub)
    : services_(std::move(services)), tables_(std::move(tables)), scrub_(scrub) {
  services_->maintained = true;
  for (int i = 0; i < kFlushThreads; ++i)
    threads_.emplace_back([this] { Run(&Scheduler::FlushRound); });
  const auto give_way_and_run = [this](Round round) {
    GiveWay();
    Run(round);
  };
  threads_.emplace_back(give_way_and_run, &Scheduler::AnyCompactionRound);
  threads_.emplace_back(give_way_and_run, &Scheduler::ShortCompactionRound);
  if (scrub_ != nullptr) threads_.emplace_back(give_way_and_run, &Scheduler::ScrubRound);
}

Scheduler::~Scheduler() {
  services_->maintained = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Scheduler::Wake() {
  {
    const std::lock_guard lock(mutex_);
    ++wakings_;
  }
  wake_.notify_all();
}

void Scheduler::SetPaused(bool paused) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = paused;
    services_->maintained = !paused && !stopping_;
  }
  if (!paused) Wake();
  wake_.notify_all();  // MayGoOn
}

std::string Scheduler::State() const {
  const std::lock_guard lock(mutex_);
  if (!paused_) return "idle";
  return busy_.empty() ? "paused" : "pausing";
}

bool Scheduler::MustStop() const {
  const std::lock_guard lock(mutex_);
  return stopping_ || paused_;
}

// After a pause; what may not, ends soon.
bool Scheduler::MayGoOn(std::chrono::nanoseconds pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return stopping_ || paused_; });
}

void Scheduler::Run(Round round) {
  bool went_well = true;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, went_well ? kLook : kRetry, [&] { return wakings_ != seen || stopping_; });
    if (stopping_) return;
    seen = wakings_;
    if (paused_) continue;
    busy_.insert(std::this_thread::get_id());
    lock.unlock();
    try {
      went_well = (this->*round)();
      services_->reserve.Fill();
    } catch (const std::exception&) {  // mostly for want of memory
      went_well = false;
    }
    lock.lock();
    busy_.erase(std::this_thread::get_id());
  }
}

bool Scheduler::FlushRound() {
  bool went_well = true;
  while (const auto table = BeginFlush()) {
    Status flushed;
    try {
      flushed = table->Flush();
    } catch (...) {
      End(*table);
      throw;
    }
    End(*table);
    went_well &= flushed.ok();
    Wake();  // there is a file more to compact
  }
  return went_well;
}

std::shared_ptr<LocalTable> Scheduler::BeginFlush() {
  std::vector<std::shared_ptr<LocalTable>> tables = tables_();
  const std::lock_guard lock(mutex_);
  if (stopping_ || paused_) return nullptr;
  std::erase_if(tables, [&](const auto& table) {
    return flushing_.contains(table->id()) || !table->flusher().MayFlush();
  });
  std::shared_ptr<LocalTable> chosen = ChooseToFlush(tables);
  if (chosen == nullptr) return nullptr;
  flushing_.insert(chosen->id());
  return chosen;
}

std::shared_ptr<LocalTable> Scheduler::ChooseToFlush(
    const std::vector<std::shared_ptr<LocalTable>>& candidates) const {
  for (const auto& table : candidates)
    if (table->flusher().WantsFlush()) return table;
  const auto larger = [](const auto& a, const auto& b) {
    return UnflushedBytesOf(*a) < UnflushedBytesOf(*b);
  };
  const bool is_full = services_->FullnessOfMemory() > 0.5;
  if ((is_full || services_->must_flush) && !candidates.empty()) {
    const auto largest = std::max_element(candidates.begin(), candidates.end(), larger);
    if (HasUnflushed(**largest)) return *largest;
  }
  services_->must_flush = false;
  // A recovery has to read the whole log, and small memstores keep it.
  const auto longest =
      kLogFactor * static_cast<uint64_t>(services_->options.site.memstore_flush_size);
  if (services_->wal->bytes() <= longest) return nullptr;
  const std::vector<TableId> oldest = services_->wal->OldestTables();
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& table) {
    return HasUnflushed(*table) &&
           std::find(oldest.begin(), oldest.end(), table->id()) != oldest.end();
  });
  return found == candidates.end() ? nullptr : *found;
}

void Scheduler::End(const LocalTable& table) {
  const std::lock_guard lock(mutex_);
  flushing_.erase(table.id());
}

bool Scheduler::AnyCompactionRound() {
  services_->leftovers.Remove([this] { return MustStop(); });
  return CompactionRound(CompactionLength::kAny);
}

bool Scheduler::ScrubRound() {
  return scrub_->Round([this](std::chrono::nanoseconds pause) { return MayGoOn(pause); });
}

// Table by table, one compaction of each, until none is worth it any more.
bool Scheduler::CompactionRound(CompactionLength length) {
  bool went_well = true;
  for (bool again = true; again;) {
    again = false;
    for (const auto& table : tables_()) {
      if (MustStop()) return went_well;
      const StatusOr<bool> compacted =
          table->compactor().CompactByPolicy(length, [this] { return MustStop(); });
      went_well &= compacted.ok();
      again |= compacted.ok() && *compacted;
    }
  }
  return went_well;
}

}  // namespace cellfs
