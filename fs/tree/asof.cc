// SPDX-License-Identifier: MIT
#include "fs/tree/asof.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/waiting.h"
#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

constexpr Timestamp kUsedLately = Timestamp{60} * 1000;

std::string HolderOf(uid_t user) { return std::to_string(user); }

}  // namespace

// Held in the name of a user.
struct AsofRegistry::SharedMoment : Moment {
  SharedMoment(std::shared_ptr<SharedLimit> all, uid_t user)
      : limit(std::move(all)), share(*limit, user) {}

  const std::shared_ptr<SharedLimit> limit;
  SharedLimit::Share share;
  std::shared_ptr<const Moment> pin;
};

// What was held. It goes after the mutex, for files may have to be removed.
class AsofRegistry::Gone {
 public:
  HeldMoments::iterator Take(HeldMoments& held, HeldMoments::iterator it) {
    moments_.push_back(std::move(it->second->moment_));
    times_.push_back(std::move(it->second));
    return held.erase(it);
  }
  void Release() { moments_.clear(); }

 private:
  std::vector<std::shared_ptr<AsofMoment>> times_;
  std::vector<std::shared_ptr<const Moment>> moments_;
};

OutcomeOr<std::shared_ptr<const Moment>> AsofMoment::Hold() {
  if (!registry_.store_.traits().pins_moments) return std::shared_ptr<const Moment>();
  AsofRegistry::Gone gone;
  const auto lock = registry_.Lock();
  const Timestamp now = registry_.clock_.Now();
  last_use_ = now;
  if (moment_ != nullptr || time_ > now) return moment_;
  const auto known = registry_.moments_.find(time_);
  if (known == registry_.moments_.end()) return moment_;
  user_ = RunningRequest::UserOfThisThread();
  CELLFS_ASSIGN_OR_RETURN(moment_, registry_.PinWithRoom(user_, now, gone));
  registry_.held_[time_] = known->second.lock();
  incomplete_ = registry_.IncompleteAt(time_);
  return moment_;
}

std::vector<std::string> AsofMoment::TakeIncomplete(const TableName& table) {
  const auto lock = registry_.Lock();
  auto taken = incomplete_.extract(table);
  return taken.empty() ? std::vector<std::string>() : std::move(taken.mapped());
}

// Asked each time: a table that is dropped for good is in no catalog any more.
std::shared_ptr<const PastCatalog> AsofMoment::Catalog() {
  Store& store = registry_.store_;
  if (!store.traits().tells_past_catalog || time_ > registry_.clock_.Now()) return nullptr;
  auto told = store.CatalogAt(time_);
  return told.ok() ? *std::move(told) : nullptr;
}

std::shared_ptr<const Moment> AsofMoment::Use() {
  auto held = Hold();
  return held.ok() ? *std::move(held) : nullptr;
}

std::map<TableName, std::vector<std::string>> AsofRegistry::IncompleteAt(Timestamp time) {
  std::map<TableName, std::vector<std::string>> incomplete;
  for (const TableStatistics& table : store_.GetStatistics().tables) {
    std::set<std::string> families;
    for (const auto& [family, past] : table.past)
      if (time < past.complete_since) families.insert(family);
    for (const auto& [family, emptied] : table.emptied)
      if (table.begun <= time && time < emptied) families.insert(family);
    if (!families.empty()) incomplete[table.table].assign(families.begin(), families.end());
  }
  return incomplete;
}

std::unique_lock<std::mutex> AsofRegistry::Lock() { return TakeLock(mutex_); }

OutcomeOr<std::shared_ptr<AsofMoment>> AsofRegistry::Find(Timestamp time) {
  auto found = Known(time);
  CELLFS_RETURN_IF_FAILED(found->Hold().status());
  return found;
}

std::shared_ptr<AsofMoment> AsofRegistry::Known(Timestamp time) {
  const auto lock = Lock();
  if (auto known = moments_[time].lock()) return known;
  if (moments_.size() >= sweep_at_) {
    std::erase_if(moments_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * moments_.size() + kMostHeld;
  }
  auto made = std::make_shared<AsofMoment>(*this, time);
  moments_[time] = made;
  return made;
}

// Somebody else who holds the moment has something open that reads it.
bool AsofRegistry::IsUsed(const AsofMoment& held) { return held.moment_.use_count() > 1; }

bool AsofRegistry::MayGo(const AsofMoment& held, Timestamp now) {
  return !IsUsed(held) && now - held.last_use_ >= kUsedLately;
}

bool AsofRegistry::LetGoOldest(const IsOf& is_of, Timestamp now, Gone& gone) {
  auto oldest = held_.end();
  for (auto it = held_.begin(); it != held_.end(); ++it) {
    if (!MayGo(*it->second, now) || !is_of(it->second->user_)) continue;
    if (oldest == held_.end() || it->second->last_use_ < oldest->second->last_use_) oldest = it;
  }
  if (oldest == held_.end()) return false;
  gone.Take(held_, oldest);
  return true;
}

OutcomeOr<std::shared_ptr<const Moment>> AsofRegistry::PinWithRoom(uid_t user, Timestamp now,
                                                                   Gone& gone) {
  auto pinned = std::make_shared<SharedMoment>(limit_, user);
  const IsOf is_his = [user](uid_t holder) { return holder == user; };
  while (!pinned->share.Resize(1)) {
    if (!LetGoOldest(is_his, now, gone))
      return Outcome(EBUSY, "this user's times of .asof, or all there may be, are in use");
    gone.Release();
  }
  while (true) {
    const Status status = Pin(user, now, *pinned);
    if (status.ok()) return std::shared_ptr<const Moment>(std::move(pinned));
    if (status.code() != StatusCode::kUnavailable) return Outcome(status);
    if (!LetGoOldest(is_his, now, gone)) return Outcome(EBUSY, status.message());
    gone.Release();
  }
}

// Each time has a moment of its own, for what a TTL has ended by then.
Status AsofRegistry::Pin(uid_t user, Timestamp now, SharedMoment& pinned) {
  const auto newest = newest_pins_.find(user);
  std::shared_ptr<const Moment> pin;
  if (newest != newest_pins_.end()) pin = newest->second.lock();
  if (pin == nullptr || pin->sequence_id != store_.GetStatistics().last_sequence_id) {
    CELLFS_ASSIGN_OR_RETURN(pin, store_.PinMoment(HolderOf(user)));
    std::erase_if(newest_pins_, [](const auto& entry) { return entry.second.expired(); });
    newest_pins_[user] = pin;
  }
  pinned.sequence_id = pin->sequence_id;
  pinned.now = std::max(now, pin->now);
  pinned.pin = std::move(pin);
  return {};
}

StatusOr<std::shared_ptr<const Moment>> AsofRegistry::PinFor(uid_t user) {
  if (!store_.traits().pins_moments) return store_.PinMoment(HolderOf(user));  // says so
  Gone gone;
  const auto lock = Lock();
  auto pinned = PinWithRoom(user, clock_.Now(), gone);
  if (!pinned.ok()) return Status(StatusCode::kUnavailable, pinned.status().reason());
  return *std::move(pinned);
}

void AsofRegistry::LetGoUnused() {
  LetGoExpired();
  while (LetGoOfLargest()) {
  }
}

bool AsofRegistry::LetGoOfLargest() {
  const Statistics kept = store_.GetStatistics();
  if (kept.moment_limit == 0 || kept.moment_bytes < kept.moment_limit) return false;
  Gone gone;
  const auto lock = Lock();
  return LetGoOldest(
      [&](uid_t user) { return KeepsShareOfMoments(kept, HolderOf(user)); }, clock_.Now(), gone);
}

bool AsofRegistry::IsExpired(const AsofMoment& held) const {
  return !IsUsed(held) && clock_.Now() - held.last_use_ >= hold_ms_;
}

std::vector<std::shared_ptr<AsofMoment>> AsofRegistry::ListExpired() {
  std::vector<std::shared_ptr<AsofMoment>> expired;
  const auto lock = Lock();
  for (const auto& [time, held] : held_) {
    if (IsExpired(*held)) expired.push_back(held);
  }
  return expired;
}

void AsofRegistry::LetGoExpired() {
  for (const std::shared_ptr<AsofMoment>& expired : ListExpired()) {
    const bool is_known = is_known_(*expired);
    Gone gone;
    const auto lock = Lock();
    const auto held = held_.find(expired->time());
    if (held == held_.end() || held->second != expired || !IsExpired(*expired)) continue;
    if (is_known) {
      expired->last_use_ = clock_.Now();
    } else {
      gone.Take(held_, held);
    }
  }
}

Outcome AsofRegistry::LetGo(Timestamp time) {
  Gone gone;
  const auto lock = Lock();
  const auto held = held_.find(time);
  if (held == held_.end()) return {ENOENT, "this time of .asof is not held"};
  if (!MayGo(*held->second, clock_.Now()))
    return {EBUSY, "this time of .asof is in use, or was within the last minute"};
  gone.Take(held_, held);
  return {};
}

std::vector<AsofRegistry::Held> AsofRegistry::ListHeld() {
  LetGoUnused();
  std::vector<Held> list;
  const auto lock = Lock();
  for (const auto& [time, held] : held_) {
    list.push_back({time, held->last_use_, held->moment_->sequence_id, IsUsed(*held)});
  }
  return list;
}

}  // namespace cellfs::fs
