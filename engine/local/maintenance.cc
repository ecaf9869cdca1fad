// SPDX-License-Identifier: MIT
#include "engine/local/maintenance.h"

#include <algorithm>
#include <chrono>
#include <new>

namespace cellfs {
namespace {

constexpr std::chrono::seconds kRetry{1};  // after an error, of a full disk for example
constexpr std::chrono::seconds kLook{10};  // otherwise
constexpr uint64_t kLogFactor = 2;         // flush sizes that the log may grow to

}  // namespace

Maintenance::Maintenance(std::shared_ptr<StoreContext> context, Tables tables)
    : context_(std::move(context)), tables_(std::move(tables)) {
  context_->maintained = true;
  thread_ = std::thread([this] { Run(); });
}

Maintenance::~Maintenance() {
  context_->maintained = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Maintenance::Wake() {
  {
    const std::lock_guard lock(mutex_);
    if (awake_) return;
    awake_ = true;
  }
  wake_.notify_all();
}

void Maintenance::SetPaused(bool paused) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = paused;
    context_->maintained = !paused && !stopping_;
  }
  if (!paused) Wake();
}

std::string Maintenance::Progress() const {
  const std::lock_guard lock(mutex_);
  return paused_ && progress_ == "idle" ? "paused" : progress_;
}

void Maintenance::SetProgress(std::string progress) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
}

bool Maintenance::MustStop() const {
  const std::lock_guard lock(mutex_);
  return stopping_ || paused_;
}

void Maintenance::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, failed_ ? kRetry : kLook, [this] { return awake_ || stopping_; });
    if (stopping_) return;
    awake_ = false;
    if (paused_) continue;
    lock.unlock();
    try {
      RunOnce();
    } catch (const std::bad_alloc&) {
      failed_ = true;
    }
    lock.lock();
  }
}

void Maintenance::RunOnce() {
  failed_ = false;
  const std::vector<std::shared_ptr<LocalStorage>> tables = tables_();
  for (const auto& table : tables) {
    if (!MustStop() && table->WantsFlush()) Flush(*table);
  }
  FlushForLog(tables);
  for (const auto& table : tables) {
    if (MustStop()) continue;
    SetProgress("compact " + table->name().ToString());
    failed_ |= !table->CompactByPolicy([&] { return MustStop(); }).status().ok();
  }
  SetProgress("idle");
}

void Maintenance::Flush(LocalStorage& table) {
  SetProgress("flush " + table.name().ToString());
  failed_ |= !table.Flush().ok();
}

// A recovery has to read the whole log, and small memstores keep it.
void Maintenance::FlushForLog(const std::vector<std::shared_ptr<LocalStorage>>& tables) {
  const auto longest =
      kLogFactor * static_cast<uint64_t>(context_->options.site.memstore_flush_size);
  for (size_t rounds = tables.size(); rounds > 0 && context_->wal->bytes() > longest; --rounds) {
    const std::vector<TableId> oldest = context_->wal->OldestTables();
    if (oldest.empty()) return;
    for (const auto& table : tables) {
      if (MustStop()) return;
      if (std::find(oldest.begin(), oldest.end(), table->id()) != oldest.end()) Flush(*table);
    }
  }
}

}  // namespace cellfs
