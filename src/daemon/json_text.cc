// SPDX-License-Identifier: MIT
#include "src/daemon/json_text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/utf8.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;
constexpr size_t kMostParts = 500000;  // each takes some hundred bytes of memory
constexpr char kHexKey[] = "hex";

void EscapeStrings(json& value) {
  if (value.is_string()) {
    const auto& bytes = value.get_ref<const std::string&>();
    if (!IsPlainText(bytes)) value = json{{kHexKey, ToHex(bytes)}};
  } else if (value.is_structured()) {
    for (json& part : value) EscapeStrings(part);
  }
}

// What {"hex": "..."} says.
std::optional<std::string> BytesIn(const json& value) {
  if (!value.is_object() || value.size() != 1 || !value.contains(kHexKey)) return std::nullopt;
  const json& digits = value[kHexKey];
  return digits.is_string() ? FromHex(digits.get_ref<const std::string&>()) : std::nullopt;
}

bool UnescapeStrings(json& value, int depth) {
  if (depth > kDeepest) return false;
  if (auto bytes = BytesIn(value)) {
    value = *std::move(bytes);
    return true;
  }
  if (!value.is_structured()) return true;
  return std::all_of(value.begin(), value.end(),
                     [&](json& part) { return UnescapeStrings(part, depth + 1); });
}

}  // namespace

bool IsPlainText(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = Utf8Length(bytes);
    const auto first = static_cast<unsigned char>(bytes.front());
    const bool is_control = first < ' ' || first == 0x7f;
    if (length == 0 || (is_control && first != '\n' && first != '\t' && first != '\r'))
      return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

std::optional<std::string> FromHex(std::string_view digits) {
  const auto value_of = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isdigit(byte) != 0 ? c - '0' : std::tolower(byte) - 'a' + 10;
  };
  const bool is_hex = std::all_of(digits.begin(), digits.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (!is_hex || digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(value_of(digits[i]) * 16 + value_of(digits[i + 1]));
  return bytes;
}

std::string ToJsonText(json value) {
  EscapeStrings(value);
  // Names of members are ours, but for metadata.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<json> FromJsonText(std::string_view text) {
  size_t parts = 0;
  std::vector<std::set<std::string>> members;  // of the objects that are begun
  const auto check = [&](int /*depth*/, json::parse_event_t event, json& parsed) {
    if (++parts > kMostParts) throw std::length_error("JSON of too many parts");
    if (event == json::parse_event_t::object_start) members.emplace_back();
    if (event == json::parse_event_t::object_end) members.pop_back();
    const bool is_member = event == json::parse_event_t::key;
    if (is_member && !members.back().insert(parsed.get_ref<const std::string&>()).second)
      throw std::invalid_argument("JSON that says a member twice");
    return true;
  };
  json value;
  try {
    value = json::parse(text, check, /*allow_exceptions=*/false);
  } catch (const std::logic_error&) {
    return std::nullopt;
  }
  if (value.is_discarded() || !UnescapeStrings(value, 0)) return std::nullopt;
  return value;
}

}  // namespace cellfs
