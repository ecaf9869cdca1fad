// SPDX-License-Identifier: MIT
#include "fs/tree/name_spelling.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <tuple>
#include <vector>

#include "engine/utf8.h"

namespace cellfs::fs {

namespace {

constexpr std::string_view kEmptyName = "%empty";
constexpr std::string_view kLongMark = "%~";
constexpr size_t kDigestLength = 32;
// Leaves room for "@" and 19 digits behind a long name.
constexpr size_t kLongPrefixLength = 200;
constexpr char kUpperHex[] = "0123456789ABCDEF";

constexpr std::string_view kSchemaName = ".schema.toml";
constexpr std::array<std::string_view, 3> kRowReserved = {kSchemaName, ".asof", ".scan"};
constexpr std::array<std::string_view, 3> kQualifierReserved = {".versions", ".counters",
                                                                ".deleted"};
constexpr std::array<std::string_view, 3> kForLater = {".deleted", ".snapshots", ".changes"};
constexpr std::string_view kChangesSince = ".changes@";
constexpr std::array<std::string_view, 3> kAlwaysTaken = {".", "..", kEmptyName};

bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

int UpperHexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that two upper-case digits at the begin of `text` name.
std::optional<unsigned char> HexByte(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  int high = UpperHexDigit(text[0]);
  int low = UpperHexDigit(text[1]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

// With names as POSIX has them. Others are spelled as they are.
constexpr auto kMayBeEscaped = [](char c) {
  return c == '/' || c == 0 || c == '%' || c == '@' || c == ',';
};

bool IsDigest(std::string_view text) {
  return text.size() == kDigestLength &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<bool> BytesOutsideUtf8(std::string_view key) {
  std::vector<bool> outside(key.size());
  for (size_t i = 0; i < key.size();) {
    size_t length = Utf8Length(key.substr(i));
    outside[i] = length == 0;
    i += std::max<size_t>(length, 1);
  }
  return outside;
}

// "q@17" -> "q", 17.
std::pair<std::string_view, std::optional<Timestamp>> SplitVersion(std::string_view name) {
  size_t at = name.rfind('@');
  if (at == std::string_view::npos) return {name, std::nullopt};
  auto timestamp = ReadTimestamp(name.substr(at + 1));
  return {timestamp ? name.substr(0, at) : name, timestamp};
}

bool IsLongName(std::string_view name) {
  if (name.size() < kLongMark.size() + kDigestLength) return false;
  std::string_view end = name.substr(name.size() - kLongMark.size() - kDigestLength);
  return end.starts_with(kLongMark) && IsDigest(end.substr(kLongMark.size()));
}

std::string Digest(std::string_view key) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(key.data(), key.size()));
  std::string digits;
  for (unsigned char byte : canonical.digest) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

}  // namespace

std::optional<Timestamp> ReadTimestamp(std::string_view text) {
  if (text.empty() || text.size() > 19 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  if (text[0] == '-') return std::nullopt;
  Timestamp timestamp = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), timestamp);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (timestamp == kLatestTimestamp) return std::nullopt;
  return timestamp;
}

bool IsKeptForLater(std::string_view name) {
  if (name.starts_with(kChangesSince)) {
    return ReadTimestamp(name.substr(kChangesSince.size())).has_value();
  }
  return IsOneOf(kForLater, name);
}

bool NameSpelling::IsReserved(std::string_view name) const {
  if (!name.starts_with('.')) return false;
  if (level_ == NameLevel::kRow) {
    return controls_ ? IsOneOf(kRowReserved, name) || IsKeptForLater(name) : name == kSchemaName;
  }
  return level_ == NameLevel::kQualifier && controls_ && IsOneOf(kQualifierReserved, name);
}

bool NameSpelling::IsAlwaysEscaped(unsigned char byte) const {
  if (byte == '/' || byte == 0) return true;
  if (byte == ',') return level_ == NameLevel::kValue;
  return mode_ == NameMode::kPrintable && (byte < 0x20 || byte == 0x7F);
}

// Whether a '%' before `rest` stands for a byte that is written so, or begins the mark of a long
// name.
bool NameSpelling::EndsEscape(std::string_view rest, bool at_start) const {
  if (auto byte = HexByte(rest)) {
    if (IsAlwaysEscaped(*byte)) return true;
    if (*byte >= 0x80 && mode_ == NameMode::kPrintable) return true;
    if (*byte == '@' && has_versions() && ReadTimestamp(rest.substr(2))) return true;
  }
  if (level_ == NameLevel::kValue) return false;
  if (rest.starts_with('~') && IsDigest(rest.substr(1))) return true;
  const auto first = at_start ? HexByte(rest) : std::nullopt;
  if (!first) return false;
  const std::string key = static_cast<char>(*first) + std::string(rest.substr(2));
  return IsOneOf(kAlwaysTaken, key) || IsReserved(key);
}

// The same, where the '%' may itself stand for an escaped '%': %2F, %252F, %25252F ...
bool NameSpelling::BeginsEscape(std::string_view rest, bool at_start) const {
  for (;;) {
    if (EndsEscape(rest, at_start)) return true;
    if (!rest.starts_with("25")) return false;
    rest.remove_prefix(2);
  }
}

bool NameSpelling::IsTaken(std::string_view key) const {
  return level_ != NameLevel::kValue &&
         (key == "." || key == ".." || key == kEmptyName || IsReserved(key));
}

bool NameSpelling::IsPlain(std::string_view key) const {
  return mode_ == NameMode::kPosix && !key.empty() && !IsTaken(key) &&
         std::none_of(key.begin(), key.end(), kMayBeEscaped);
}

std::string NameSpelling::Spell(std::string_view key) const {
  if (IsPlain(key)) return std::string(key);
  if (key.empty())
    return level_ == NameLevel::kValue ? std::string() : std::string(kEmptyName);
  const bool is_taken = IsTaken(key);
  std::vector<bool> outside_utf8;
  if (mode_ == NameMode::kPrintable) outside_utf8 = BytesOutsideUtf8(key);
  // Filled from its end, so that what follows a '%' is already spelled when it is judged.
  std::string name(key.size() * 3, '\0');
  size_t begin = name.size();
  for (size_t i = key.size(); i-- > 0;) {
    char c = key[i];
    auto byte = static_cast<unsigned char>(c);
    std::string_view rest = std::string_view(name).substr(begin);
    bool escape = IsAlwaysEscaped(byte) || (i == 0 && is_taken) ||
                  (!outside_utf8.empty() && outside_utf8[i]) ||
                  (c == '@' && has_versions() && ReadTimestamp(rest)) ||
                  (c == '%' && BeginsEscape(rest, i == 0));
    if (escape) {
      name[--begin] = kUpperHex[byte & 15];
      name[--begin] = kUpperHex[byte >> 4];
      name[--begin] = '%';
    } else {
      name[--begin] = c;
    }
  }
  return name.substr(begin);
}

std::string NameSpelling::FileName(std::string_view key) const {
  std::string spelling = Spell(key);
  return spelling.size() <= kMaxNameLength ? spelling : LongName(key, spelling);
}

std::string NameSpelling::VersionFileName(std::string_view key, Timestamp timestamp) const {
  std::string suffix = "@" + std::to_string(timestamp);
  std::string spelling = Spell(key);
  bool fits = spelling.size() + suffix.size() <= kMaxNameLength;
  return (fits ? spelling : LongName(key, spelling)) + suffix;
}

std::string NameSpelling::LongName(std::string_view key, std::string_view spelling) const {
  std::string end = std::string(kLongMark) + Digest(key);
  size_t cut = std::min(kLongPrefixLength, spelling.size());
  // Cuts neither a UTF-8 sequence nor an escape.
  while (cut > 0 && cut < spelling.size() && (spelling[cut] & 0xC0) == 0x80 &&
         cut + 3 > kLongPrefixLength) {
    --cut;
  }
  for (size_t back = 1; back <= 2 && back <= cut; ++back) {
    if (spelling[cut - back] == '%') cut -= back;
  }
  // What comes before the mark must be read as it was meant; only a run like %252525 that goes on
  // behind the cut is not.
  for (;;) {
    std::string name = std::string(spelling.substr(0, cut)) + end;
    std::string decoded = Unescape(name);
    decoded.resize(decoded.size() - end.size());
    if (key.starts_with(decoded)) return name;
    cut = spelling.substr(0, cut).rfind('%');
  }
}

std::string NameSpelling::Unescape(std::string_view name) const {
  if (name.find('%') == std::string_view::npos) return std::string(name);
  std::string key;
  for (size_t i = 0; i < name.size(); ++i) {
    std::string_view rest = name.substr(i + 1);
    auto byte = name[i] == '%' ? HexByte(rest) : std::nullopt;
    if (byte && BeginsEscape(rest, i == 0)) {
      key += static_cast<char>(*byte);
      i += 2;
    } else {
      key += name[i];
    }
  }
  return key;
}

std::optional<std::string> NameSpelling::ReadKey(std::string_view name) const {
  if (IsPlain(name)) return std::string(name);
  if (name == kEmptyName && level_ != NameLevel::kValue) return std::string();
  std::string key = Unescape(name);
  if (Spell(key) != name) return std::nullopt;
  return key;
}

ReadName NameSpelling::Read(std::string_view name) const {
  ReadName read;
  if (name.size() > kMaxNameLength) {
    read.kind = ReadName::Kind::kTooLong;
    return read;
  }
  if (level_ != NameLevel::kValue && (name == "." || name == ".." || IsReserved(name))) {
    read.kind = ReadName::Kind::kReserved;
    return read;
  }
  std::string_view base = name;
  if (has_versions()) std::tie(base, read.timestamp) = SplitVersion(name);
  if (level_ != NameLevel::kValue && IsLongName(base)) {
    read.kind = ReadName::Kind::kLong;
    read.key = Unescape(base);
    read.key.resize(read.key.size() - kLongMark.size() - kDigestLength);
    return read;
  }
  if (base.empty() && level_ != NameLevel::kValue) return read;
  if (auto key = ReadKey(base)) {
    read.kind = ReadName::Kind::kKey;
    read.key = *std::move(key);
  }
  return read;
}

bool NameSpelling::IsShortenedTo(std::string_view name, std::string_view key) const {
  std::string_view base = name;
  if (has_versions()) base = SplitVersion(name).first;
  std::string spelling = Spell(key);
  size_t suffix = name.size() - base.size();
  return spelling.size() + suffix > kMaxNameLength && LongName(key, spelling) == base;
}

}  // namespace cellfs::fs
