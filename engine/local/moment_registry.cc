// SPDX-License-Identifier: MIT
#include "engine/local/moment_registry.h"

#include <algorithm>
#include <new>

namespace cellfs {
namespace {

// `state` with the files that the flush from `before` to `after` has made, instead of its memstore.
TableStatePtr WithoutMemstore(const TableStatePtr& state, const TableStatePtr& before,
                              const TableStatePtr& after) {
  auto without = std::make_shared<TableState>(*state);
  if (without->active == before->frozen) without->active = nullptr;
  if (without->frozen == before->frozen) without->frozen = nullptr;
  const StoreFiles known = before->files->All();
  StoreFiles files = state->files->All();
  for (const auto& file : after->files->All())
    if (std::find(known.begin(), known.end(), file) == known.end()) files.push_back(file);
  without->files = std::make_shared<TableFiles>(files);
  return without;
}

}  // namespace

std::shared_ptr<const Moment> MomentRegistry::Pin(const std::atomic<SequenceId>& read_point,
                                                  Timestamp now) {
  auto* const moment = new Pinned;
  std::shared_ptr<const Moment> pin(moment, [registry = shared_from_this()](Pinned* gone) {
    {
      const std::lock_guard lock(registry->mutex_);
      const auto [first, last] = registry->pinned_.equal_range(gone);
      if (const auto found = std::find(first, last, gone); found != last) {
        registry->pinned_.erase(found);
      }
    }
    delete gone;  // without the lock: files may go with it
  });
  const std::lock_guard lock(mutex_);
  moment->sequence_id = read_point.load();
  moment->now = now;
  pinned_.insert(moment);
  return pin;
}

StatusOr<TableStatePtr> MomentRegistry::StateFor(const Moment& moment, TableId table,
                                                 const std::function<TableStatePtr()>& present) {
  const std::lock_guard lock(mutex_);
  const auto& pinned = static_cast<const Pinned&>(moment);
  if (pinned.lost) {
    return Status(StatusCode::kIoError, "memory ran out when this moment was to be kept");
  }
  const auto found = pinned.kept.find(table);
  return found == pinned.kept.end() ? present() : found->second;
}

SequenceId MomentRegistry::Newest(const std::unique_lock<std::mutex>& /*held*/) const {
  SequenceId newest = 0;
  for (const Pinned* moment : pinned_) newest = std::max(newest, moment->sequence_id);
  return newest;
}

// What is in force is in force: without memory the moments are given up, not the rewrite.
void MomentRegistry::Keep(const std::unique_lock<std::mutex>& /*held*/, TableId table,
                          const TableStatePtr& before) noexcept {
  for (Pinned* moment : pinned_) {
    try {
      moment->kept.try_emplace(table, before);
    } catch (const std::bad_alloc&) {
      moment->lost = true;
    }
  }
}

void MomentRegistry::KeepOverFlush(const std::unique_lock<std::mutex>& held, TableId table,
                                   const TableStatePtr& before, const TableStatePtr& after,
                                   SequenceId complete_up_to) noexcept {
  for (Pinned* moment : pinned_) {
    try {
      KeepOverFlush(*moment, table, before, after, complete_up_to);
    } catch (const std::bad_alloc&) {
      moment->lost = true;
    }
  }
  static_cast<void>(held);
}

void MomentRegistry::KeepOverFlush(Pinned& moment, TableId table, const TableStatePtr& before,
                                   const TableStatePtr& after, SequenceId complete_up_to) {
  const auto found = moment.kept.find(table);
  if (moment.sequence_id > complete_up_to) {
    if (found == moment.kept.end()) moment.kept.emplace(table, before);
  } else if (found != moment.kept.end() &&
             (found->second->active == before->frozen || found->second->frozen == before->frozen)) {
    found->second = WithoutMemstore(found->second, before, after);
  }
}

uint32_t MomentRegistry::Count() {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(pinned_.size());
}

Timestamp MomentRegistry::OldestNow(Timestamp otherwise) {
  const std::lock_guard lock(mutex_);
  return pinned_.empty() ? otherwise : (*pinned_.begin())->now;
}

}  // namespace cellfs
