// SPDX-License-Identifier: MIT
#include "engine/local/compaction_turns.h"

#include <algorithm>
#include <chrono>

#include "engine/giving_up.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};  // whether who waits has given up

}  // namespace

CompactionTurns::Turn::Turn(CompactionTurns& turns, Family& family, bool is_alone)
    : turns_(turns), family_(family) {
  ++family_.turns;
  family_.is_alone = is_alone;
}

CompactionTurns::Turn::~Turn() {
  LetGo();
  {
    const std::lock_guard lock(turns_.mutex_);
    --family_.turns;
    family_.is_alone = false;
  }
  turns_.ended_.notify_all();
}

void CompactionTurns::Turn::Add(const StoreFiles& files) {
  for (const auto& file : files) {
    files_.push_back(file->facts().number);
    family_.files.insert(file->facts().number);
  }
}

void CompactionTurns::Turn::Add(const std::optional<Compaction>& compaction) {
  if (compaction) Add(compaction->files);
}

void CompactionTurns::Turn::LetGo() {
  const std::lock_guard lock(turns_.mutex_);
  for (const uint64_t number : std::exchange(files_, {})) family_.files.erase(number);
}

bool CompactionTurns::Turn::TakeAlone() {
  const std::lock_guard lock(turns_.mutex_);
  return family_.is_alone = family_.turns == 1;
}

std::unique_ptr<CompactionTurns::Turn> CompactionTurns::TakeAlone(const std::string& family) {
  const GivingUp* const asker = GivingUp::OfThisThread();
  const Waiting waiting(Wait::kIsLong);
  std::unique_lock lock(mutex_);
  Family& present = families_[family];
  ++present.waiting;
  bool has_given_up = false;
  while (present.turns != 0 && !has_given_up) {
    has_given_up = asker != nullptr && asker->HasGivenUp();
    if (!has_given_up) ended_.wait_for(lock, kLookEvery);
  }
  --present.waiting;
  if (has_given_up) return nullptr;
  return std::make_unique<Turn>(*this, present, /*is_alone=*/true);
}

std::unique_ptr<CompactionTurns::Turn> CompactionTurns::TryToShare(const std::string& family) {
  const std::lock_guard lock(mutex_);
  Family& present = families_[family];
  if (present.is_alone || present.waiting != 0) return nullptr;
  return std::make_unique<Turn>(*this, present, /*is_alone=*/false);
}

void CompactionTurns::Await() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] {
    return std::all_of(families_.begin(), families_.end(),
                       [](const auto& family) { return family.second.turns == 0; });
  });
}

}  // namespace cellfs
