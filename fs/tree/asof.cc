// SPDX-License-Identifier: MIT
#include "fs/tree/asof.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace cellfs::fs {
namespace {

constexpr Timestamp kUsedLately = 60 * 1000;

struct SharedMoment : Moment {
  std::shared_ptr<const Moment> pin;
};

// A time later than now may still be looked up; how much later makes no difference.
std::optional<int64_t> UnitMilliseconds(char unit) {
  switch (unit) {
    case 's':
      return 1000;
    case 'm':
      return 60 * 1000;
    case 'h':
      return 3600 * 1000;
    case 'd':
      return 24 * 3600 * 1000;
    case 'w':
      return 7 * 24 * 3600 * 1000;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> ReadNumber(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
    return std::nullopt;
  return number;
}

// "-2h"
std::optional<Timestamp> ParseAgo(std::string_view name, Timestamp now) {
  if (name.size() < 3 || name.front() != '-') return std::nullopt;
  const auto unit = UnitMilliseconds(name.back());
  const auto count = ReadNumber(name.substr(1, name.size() - 2));
  if (!unit || !count || *count > now / *unit) return std::nullopt;
  return now - *count * *unit;
}

// "Z", "+01:00", "-05:30" as minutes east of Greenwich.
std::optional<int64_t> ParseZone(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const auto hours = ReadNumber(zone.substr(1, 2));
  const auto minutes = ReadNumber(zone.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (*hours * 60 + *minutes);
}

// "2026-01-31T12:00:00[.123](Z|+01:00)"
std::optional<Timestamp> ParseRfc3339(std::string_view name) {
  if (name.size() < 20 || (name[10] != 'T' && name[10] != 't')) return std::nullopt;
  std::tm parts{};
  const std::string head(name.substr(0, 19));
  const char* end = strptime(head.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  std::string_view rest = name.substr(19);
  int64_t milliseconds = 0;
  if (rest.front() == '.') {
    size_t digits = 1;
    for (int64_t unit = 100; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9';
         ++digits, unit /= 10) {
      milliseconds += (rest[digits] - '0') * unit;
    }
    if (digits == 1) return std::nullopt;
    rest = rest.substr(digits);
  }
  const auto zone = ParseZone(rest);
  if (!zone) return std::nullopt;
  const int64_t time = (static_cast<int64_t>(timegm(&parts)) - *zone * 60) * 1000 + milliseconds;
  return time < 0 ? std::nullopt : std::optional(time);
}

}  // namespace

// What was held, to be let go after the mutex.
struct AsofRegistry::LetGo {
  std::vector<std::shared_ptr<AsofMoment>> times;
  std::vector<std::shared_ptr<const Moment>> moments;

  void Take(std::shared_ptr<AsofMoment> held) {
    moments.push_back(std::move(held->moment_));
    times.push_back(std::move(held));
  }
};

std::shared_ptr<const Moment> AsofMoment::Use() {
  AsofRegistry::LetGo let_go;
  std::lock_guard lock(registry_.mutex_);
  const Timestamp now = registry_.clock_.Now();
  last_use_ = now;
  if (moment_ == nullptr && time_ <= now && registry_.HasRoom(now, let_go)) {
    if (const auto it = registry_.moments_.find(time_); it != registry_.moments_.end()) {
      moment_ = registry_.Pin(now);
      registry_.held_[time_] = it->second.lock();
    }
  }
  return moment_;
}

OutcomeOr<std::shared_ptr<AsofMoment>> AsofRegistry::Find(Timestamp time) {
  auto found = Known(time);
  if (time <= clock_.Now() && found->Use() == nullptr) {
    return Outcome(EBUSY, std::to_string(kMostHeld) + " times of .asof are in use");
  }
  return found;
}

std::shared_ptr<AsofMoment> AsofRegistry::Known(Timestamp time) {
  std::lock_guard lock(mutex_);
  if (auto known = moments_[time].lock()) return known;
  std::erase_if(moments_, [](const auto& entry) { return entry.second.expired(); });
  auto made = std::make_shared<AsofMoment>(*this, time);
  moments_[time] = made;
  return made;
}

// Somebody else who holds the moment has something open that reads it.
bool AsofRegistry::IsUsed(const AsofMoment& held) { return held.moment_.use_count() > 1; }

bool AsofRegistry::HasRoom(Timestamp now, LetGo& let_go) {
  if (held_.size() < kMostHeld) return true;
  auto oldest = held_.end();
  for (auto it = held_.begin(); it != held_.end(); ++it) {
    const bool may_go = !IsUsed(*it->second) && now - it->second->last_use_ >= kUsedLately;
    if (!may_go) continue;
    if (oldest == held_.end() || it->second->last_use_ < oldest->second->last_use_) oldest = it;
  }
  if (oldest == held_.end()) return false;
  let_go.Take(std::move(oldest->second));
  held_.erase(oldest);
  return true;
}

// Each time has a moment of its own, for what a TTL has ended by then.
std::shared_ptr<const Moment> AsofRegistry::Pin(Timestamp now) {
  std::shared_ptr<const Moment> pin = newest_pin_.lock();
  if (pin == nullptr || pin->sequence_id != store_.GetStatistics().last_sequence_id) {
    pin = store_.PinMoment();
    newest_pin_ = pin;
  }
  auto shared = std::make_shared<SharedMoment>();
  shared->sequence_id = pin->sequence_id;
  shared->now = std::max(now, pin->now);
  shared->pin = std::move(pin);
  return shared;
}

void AsofRegistry::LetGoUnused() {
  LetGo let_go;
  std::lock_guard lock(mutex_);
  const Timestamp now = clock_.Now();
  for (auto it = held_.begin(); it != held_.end();) {
    if (IsUsed(*it->second) || now - it->second->last_use_ < hold_ms_) {
      ++it;
      continue;
    }
    let_go.Take(std::move(it->second));
    it = held_.erase(it);
  }
}

std::vector<AsofRegistry::Held> AsofRegistry::ListHeld() {
  LetGoUnused();
  std::vector<Held> list;
  std::lock_guard lock(mutex_);
  for (const auto& [time, held] : held_) {
    list.push_back({time, held->last_use_, held->moment_->sequence_id});
  }
  return list;
}

std::optional<Timestamp> ParseAsofName(std::string_view name, Timestamp now) {
  if (name == "now") return now;
  if (const auto ago = ParseAgo(name, now)) return ago;
  return ParseRfc3339(name);
}

}  // namespace cellfs::fs
