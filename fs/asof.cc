// SPDX-License-Identifier: MIT
#include "fs/asof.h"

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace cellfs::fs {
namespace {

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

std::shared_ptr<const Moment> AsofMoment::Use() {
  std::lock_guard lock(registry_.mutex_);
  const Timestamp now = registry_.clock_.Now();
  last_use_ = now;
  if (moment_ == nullptr && time_ <= now) {
    moment_ = registry_.store_.PinMoment();
    if (const auto it = registry_.moments_.find(time_); it != registry_.moments_.end()) {
      registry_.held_[time_] = it->second.lock();
    }
  }
  return moment_;
}

std::shared_ptr<AsofMoment> AsofRegistry::Find(Timestamp time) {
  std::lock_guard lock(mutex_);
  if (auto known = moments_[time].lock()) return known;
  std::erase_if(moments_, [](const auto& entry) { return entry.second.expired(); });
  auto made = std::make_shared<AsofMoment>(*this, time);
  moments_[time] = made;
  return made;
}

void AsofRegistry::LetGoUnused() {
  std::map<Timestamp, std::shared_ptr<AsofMoment>> dying;  // unpins after the lock
  std::vector<std::shared_ptr<const Moment>> moments;
  std::lock_guard lock(mutex_);
  const Timestamp now = clock_.Now();
  for (auto it = held_.begin(); it != held_.end();) {
    AsofMoment& held = *it->second;
    // Somebody else who holds the moment has something open that reads it.
    if (held.moment_.use_count() > 1 || now - held.last_use_ < hold_ms_) {
      ++it;
      continue;
    }
    moments.push_back(std::move(held.moment_));
    dying.insert(*it);
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
