// SPDX-License-Identifier: MIT
#include "fs/schema/schema_turns.h"

#include <utility>

#include "engine/waiting.h"

namespace cellfs::fs {

SchemaTurns::Turn::Turn(std::shared_ptr<std::mutex> mutex)
    : mutex_(std::move(mutex)), lock_(TakeLock(*mutex_)) {}

std::shared_ptr<std::mutex> SchemaTurns::MutexOf(const TableName& table) {
  const std::lock_guard lock(mutex_);
  if (auto known = turns_[table].lock()) return known;
  auto made = std::make_shared<std::mutex>();
  turns_[table] = made;
  std::erase_if(turns_, [](const auto& turn) { return turn.second.expired(); });
  return made;
}

SchemaTurns::Turn SchemaTurns::Take(const TableName& table) { return Turn(MutexOf(table)); }

}  // namespace cellfs::fs
