// SPDX-License-Identifier: MIT
#include "fs/tree/time_text.h"

#include <charconv>
#include <cstdint>
#include <ctime>
#include <optional>

namespace cellfs::fs {
namespace {

// The text from its beginning on; what is understood is taken away.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<char> TakeAny(std::string_view characters) {
    if (at_end() || characters.find(rest_.front()) == std::string_view::npos) return std::nullopt;
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  std::optional<int64_t> TakeNumber() {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc() || rest_.front() == '-') return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }
  // Of so many digits, which is at most `max`.
  std::optional<int> TakeDigits(size_t count, int max) {
    int number = 0;
    const std::string_view digits = rest_.substr(0, count);
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return std::nullopt;
      number = number * 10 + (digit - '0');
    }
    if (digits.size() != count || number > max) return std::nullopt;
    rest_.remove_prefix(count);
    return number;
  }
  // ".5" as milliseconds; 0 where there is none.
  std::optional<int64_t> TakeFraction() {
    if (!Take(".")) return 0;
    int64_t milliseconds = 0;
    int64_t unit = 100;
    size_t digits = 0;
    for (std::optional<char> digit; (digit = TakeAny("0123456789")); unit /= 10, ++digits)
      milliseconds += (*digit - '0') * unit;
    if (digits == 0) return std::nullopt;
    return milliseconds;
  }

 private:
  std::string_view rest_;
};

std::optional<int64_t> UnitMilliseconds(char unit) {
  constexpr int64_t kSecond = 1000;
  constexpr int64_t kHour = 3600 * kSecond;
  switch (unit) {
    case 's':
      return kSecond;
    case 'm':
      return 60 * kSecond;
    case 'h':
      return kHour;
    case 'd':
      return 24 * kHour;
    case 'w':
      return 7 * 24 * kHour;
    default:
      return std::nullopt;
  }
}

// "2h", "1h30m", each unit smaller than the one before.
std::optional<Timestamp> ReadAgo(Reader text, Timestamp now) {
  int64_t ago = 0;
  int64_t last_unit = now + 1;
  do {
    const auto count = text.TakeNumber();
    const auto letter = text.TakeAny("wdhms");
    if (!count || !letter) return std::nullopt;
    const int64_t unit = *UnitMilliseconds(*letter);
    if (unit >= last_unit || *count > (now - ago) / unit) return std::nullopt;
    ago += *count * unit;
    last_unit = unit;
  } while (!text.at_end());
  return now - ago;
}

// "1767225600.5"
std::optional<Timestamp> ReadSeconds(Reader text) {
  const auto seconds = text.TakeNumber();
  if (!seconds || *seconds > kLatestTimestamp / 1000 - 1) return std::nullopt;
  const auto fraction = text.TakeFraction();
  if (!fraction || !text.at_end()) return std::nullopt;
  return *seconds * 1000 + *fraction;
}

std::optional<Timestamp> ReadMilliseconds(Reader text) {
  const auto milliseconds = text.TakeNumber();
  return text.at_end() ? milliseconds : std::nullopt;
}

std::tm LocalDay(Timestamp now, int days_ago) {
  const std::time_t seconds = now / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::tm day{};
  day.tm_year = local.tm_year;
  day.tm_mon = local.tm_mon;
  day.tm_mday = local.tm_mday - days_ago;
  return day;
}

// "2026-11-22"
std::optional<std::tm> ReadDate(Reader& text) {
  const auto year = text.TakeDigits(4, 9999);
  if (!year || !text.Take("-")) return std::nullopt;
  const auto month = text.TakeDigits(2, 12);
  if (!month || *month == 0 || !text.Take("-")) return std::nullopt;
  const auto day = text.TakeDigits(2, 31);
  if (!day || *day == 0) return std::nullopt;
  std::tm date{};
  date.tm_year = *year - 1900;
  date.tm_mon = *month - 1;
  date.tm_mday = *day;
  std::tm normal = date;
  timegm(&normal);  // the 31st of February becomes a day of March
  return normal.tm_mday == date.tm_mday ? std::optional(date) : std::nullopt;
}

// "18:00", "18:00:30", "18:00:30.5": into `day`, and the fraction as milliseconds.
std::optional<int64_t> ReadClock(Reader& text, std::tm& day) {
  const auto hour = text.TakeNumber();
  if (!hour || *hour > 23 || !text.Take(":")) return std::nullopt;
  const auto minute = text.TakeDigits(2, 59);
  if (!minute) return std::nullopt;
  day.tm_hour = static_cast<int>(*hour);
  day.tm_min = *minute;
  if (!text.Take(":")) return 0;
  const auto second = text.TakeDigits(2, 60);
  if (!second) return std::nullopt;
  day.tm_sec = *second;
  return text.TakeFraction();
}

// "Z", "+01:00": in seconds east of Greenwich.
std::optional<int64_t> ReadZone(Reader& text) {
  if (text.TakeAny("Zz")) return 0;
  const auto sign = text.TakeAny("+-");
  const auto hours = sign ? text.TakeDigits(2, 23) : std::nullopt;
  if (!hours || !text.Take(":")) return std::nullopt;
  const auto minutes = text.TakeDigits(2, 59);
  if (!minutes) return std::nullopt;
  return (*sign == '-' ? -1 : 1) * (*hours * 60 + *minutes) * 60;
}

// A day, a time of day, or both.
std::optional<Timestamp> ReadCalendar(Reader text, Timestamp now) {
  std::tm when = LocalDay(now, 0);
  bool has_day = true;
  if (text.Take("yesterday")) {
    when = LocalDay(now, 1);
  } else if (!text.Take("today")) {
    Reader date = text;
    const auto day = ReadDate(date);
    has_day = day.has_value();
    if (day) {
      when = *day;
      text = date;
    }
  }
  int64_t fraction = 0;
  std::optional<int64_t> zone;
  if (!has_day || !text.at_end()) {
    if (has_day && !text.TakeAny(" Tt_")) return std::nullopt;
    const auto read = ReadClock(text, when);
    if (!read) return std::nullopt;
    fraction = *read;
    if (!text.at_end() && !(zone = ReadZone(text))) return std::nullopt;
  }
  if (!text.at_end()) return std::nullopt;
  when.tm_isdst = -1;
  const std::time_t seconds = zone ? timegm(&when) - *zone : std::mktime(&when);
  return seconds < 0 ? std::nullopt : std::optional(Timestamp{seconds} * 1000 + fraction);
}

std::optional<Timestamp> ReadTime(std::string_view text, Timestamp now) {
  if (text == "now") return now;
  if (text.starts_with('-')) return ReadAgo(Reader(text.substr(1)), now);
  if (text.starts_with('@')) return ReadSeconds(Reader(text.substr(1)));
  if (const auto milliseconds = ReadMilliseconds(Reader(text))) return milliseconds;
  return ReadCalendar(Reader(text), now);
}

}  // namespace

StatusOr<Timestamp> ParseTime(std::string_view text, Timestamp now) {
  if (const auto time = ReadTime(text, now)) return *time;
  return Status(StatusCode::kIllegalArgument,
                "'" + std::string(text) +
                    "' is no time; such are -2h, -1h30m, 'yesterday 18:00', 2026-11-22, "
                    "2026-11-22T18:00:00Z, @SECONDS, and milliseconds since 1970");
}

std::string TimeText(Timestamp time) {
  const std::time_t seconds = time / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace cellfs::fs
