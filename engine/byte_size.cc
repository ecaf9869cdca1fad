// SPDX-License-Identifier: MIT
#include "engine/byte_size.h"

#include <charconv>
#include <cmath>
#include <string>

namespace cellfs {
namespace {

constexpr double kTooMuch = 9.2e18;

// The power of 1024; nullopt: there is no such unit.
std::optional<int> PowerOf(std::string unit) {
  for (char& c : unit) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (unit.ends_with("IB") && unit.size() > 2) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("B")) {
    unit.pop_back();
  }
  if (unit.empty()) return 0;
  const size_t power = std::string_view("KMGT").find(unit.front());
  if (unit.size() > 1 || power == std::string_view::npos) return std::nullopt;
  return static_cast<int>(power) + 1;
}

}  // namespace

std::optional<int64_t> ParseByteSize(std::string_view text) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [rest, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && rest == end)
    return whole >= 0 ? std::optional(whole) : std::nullopt;
  double number = 0;
  auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  if (rest != end && *rest == ' ' && rest + 1 != end) ++rest;  // before a unit
  const std::optional<int> power = PowerOf(std::string(rest, end));
  if (!power) return std::nullopt;
  const double bytes = std::ldexp(number, 10 * *power);
  if (!(bytes < kTooMuch)) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace cellfs
