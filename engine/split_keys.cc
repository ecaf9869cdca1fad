// SPDX-License-Identifier: MIT
#include "engine/split_keys.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cellfs {

// Both algorithms see their keys as numbers of a fixed count of digits, to the base 16 or 256, and
// put key i at start + i * floor((end - start + 1) / regions), so that the last region gets the
// rest.
namespace {

using Digits = std::vector<uint32_t>;  // the most significant first

constexpr int32_t kMaxRegionsAtFirst = 1 << 17;

// a + factor * b; all of one length; what leaves the front is dropped.
Digits AddProduct(const Digits& a, const Digits& b, uint64_t factor, uint64_t base) {
  Digits sum(a.size());
  uint64_t carry = 0;
  for (size_t i = a.size(); i-- > 0;) {
    carry += a[i] + b[i] * factor;
    sum[i] = static_cast<uint32_t>(carry % base);
    carry /= base;
  }
  return sum;
}

// (b - a + 1) / divisor, rounded down. REQUIRES: a < b.
Digits Interval(const Digits& a, const Digits& b, uint64_t divisor, uint64_t base) {
  Digits range(a.size() + 1, 0);  // one digit more for the + 1
  int64_t carry = 1;
  for (size_t i = a.size(); i-- > 0;) {
    carry += int64_t{b[i]} - int64_t{a[i]};
    const bool borrow = carry < 0;
    const int64_t digit = borrow ? carry + static_cast<int64_t>(base) : carry;
    range[i + 1] = static_cast<uint32_t>(digit % static_cast<int64_t>(base));
    carry = borrow ? -1 : digit / static_cast<int64_t>(base);
  }
  range[0] = static_cast<uint32_t>(carry);
  uint64_t remainder = 0;
  for (uint32_t& digit : range) {
    remainder = remainder * base + digit;
    digit = static_cast<uint32_t>(remainder / divisor);
    remainder %= divisor;
  }
  // A quotient that needs the extra digit is of one region, which has no keys.
  range.erase(range.begin());
  return range;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<Digits> HexDigits(std::string_view text) {
  Digits digits;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const size_t digit = kHexDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    digits.push_back(static_cast<uint32_t>(digit));
  }
  return digits;
}

Digits ByteDigits(std::string_view text) {
  Digits digits;
  for (const char c : text) digits.push_back(static_cast<unsigned char>(c));
  return digits;
}

std::string SpellDigits(const Digits& digits, bool hex) {
  std::string text;
  for (const uint32_t digit : digits) {
    text.push_back(hex ? kHexDigits[digit] : static_cast<char>(digit));
  }
  return text;
}

Status SplitRefused(std::string_view algorithm, const std::string& why) {
  return {StatusCode::kIllegalArgument, "splits with '" + std::string(algorithm) + "': " + why};
}

}  // namespace

StatusOr<std::vector<std::string>> SplitKeys(std::string_view algorithm, std::string_view start,
                                             std::string_view end, int32_t regions) {
  const bool hex = algorithm == "hex";
  if (!hex && algorithm != "uniform") {
    return SplitRefused(algorithm, "no such algorithm; allowed: hex, uniform");
  }
  if (regions < 1 || regions > kMaxRegionsAtFirst) {
    return SplitRefused(algorithm, std::to_string(regions) + " regions; allowed: 1 to " +
                                       std::to_string(kMaxRegionsAtFirst));
  }
  const std::string last = !end.empty() ? std::string(end)
                           : hex        ? "FFFFFFFF"
                                        : std::string(8, '\xff');
  std::optional<Digits> a = hex ? HexDigits(start) : ByteDigits(start);
  std::optional<Digits> b = hex ? HexDigits(last) : ByteDigits(last);
  if (!a || !b) return SplitRefused(algorithm, "start or end has other than hexadecimal digits");
  // A number is filled up in front, a key of bytes behind.
  const size_t width = std::max(a->size(), b->size());
  for (Digits* digits : {&*a, &*b}) {
    digits->insert(hex ? digits->begin() : digits->end(), width - digits->size(), 0);
  }
  if (*a >= *b) return SplitRefused(algorithm, "start is not before end");

  const uint64_t base = hex ? 16 : 256;
  const auto divisor = static_cast<uint64_t>(regions);
  Digits interval = Interval(*a, *b, divisor, base);
  const auto too_narrow = [&] { return interval == Digits(interval.size(), 0) && regions > 1; };
  if (hex && too_narrow()) return SplitRefused(algorithm, "more regions than keys");
  while (too_narrow()) {  // further bytes make room between the keys
    a->push_back(0);
    b->push_back(0);
    interval = Interval(*a, *b, divisor, base);
  }
  std::vector<std::string> keys;
  for (uint64_t i = 1; i < divisor; ++i) {
    keys.push_back(SpellDigits(AddProduct(*a, interval, i, base), hex));
  }
  return keys;
}

}  // namespace cellfs
