// SPDX-License-Identifier: MIT
#include "engine/names.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <optional>

namespace cellfs {
namespace {

Status Illegal(std::string message) { return {StatusCode::kIllegalArgument, std::move(message)}; }

// Takes one code point off the front of well-formed UTF-8; nothing where it is not.
std::optional<char32_t> TakeCodePoint(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return std::nullopt;
  char32_t point = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[length]) return std::nullopt;
  text.remove_prefix(length);
  return point;
}

// Of any script. HBase looks at UTF-16 units, so that nothing beyond U+FFFF is a letter to it.
bool IsLetterOrDigit(char32_t point) {
  if (point < 0x80) {
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') ||
           (point >= '0' && point <= '9');
  }
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return point <= 0xffff && unicode != nullptr &&
         iswalnum_l(static_cast<wint_t>(point), unicode) != 0;
}

// `inner`: what may stand after the first character besides [_ letter digit].
Status CheckName(std::string_view kind, std::string_view name, std::string_view inner) {
  const std::string what = std::string(kind) + " name '" + std::string(name) + "'";
  if (name.empty()) return Illegal(what + " is empty");
  if (name == "zookeeper") return Illegal(what + " is reserved");
  for (std::string_view rest = name; !rest.empty();) {
    const bool first = rest.size() == name.size();
    const std::optional<char32_t> point = TakeCodePoint(rest);
    if (!point) return Illegal(what + " is not valid UTF-8");
    const bool punctuation =
        *point < 0x80 && !first && inner.find(static_cast<char>(*point)) != std::string_view::npos;
    if (*point == '_' || punctuation || IsLetterOrDigit(*point)) continue;
    return Illegal(what + (first ? " starts with" : " has") +
                   " a character that is not allowed there; allowed: letters, digits, '_'" +
                   (inner.empty() ? "" : ", and after the first '-' and '.'"));
  }
  return {};
}

}  // namespace

std::string TableName::ToString() const {
  return namespace_name == kDefaultNamespace ? name : namespace_name + ":" + name;
}

TableName ParseTableName(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(kDefaultNamespace), std::string(text)};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

Status CheckNamespaceName(std::string_view name) { return CheckName("namespace", name, ""); }

Status CheckTableName(const TableName& name) {
  CELLFS_RETURN_IF_ERROR(CheckNamespaceName(name.namespace_name));
  return CheckName("table", name.name, "-.");
}

Status CheckFamilyName(std::string_view name) {
  const std::string what = "family name '" + std::string(name) + "'";
  if (name.empty() || name.size() > 127) {
    return Illegal(what + " has " + std::to_string(name.size()) + " bytes; allowed: 1 to 127");
  }
  if (name.front() == '.') return Illegal(what + " starts with '.'");
  if (name == "recovered.edits") return Illegal(what + " is reserved");
  const bool illegal = std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == ':' || c == '/' || c == '\\';
  });
  if (illegal) return Illegal(what + " has a control byte or one of ':', '/', '\\'");
  return {};
}

Status CheckRow(std::string_view row) {
  if (row.empty()) return Illegal("row is empty");
  if (row.size() > kMaxRowLength) {
    return Illegal("row has " + std::to_string(row.size()) + " bytes; at most " +
                   std::to_string(kMaxRowLength) + " are allowed");
  }
  return {};
}

}  // namespace cellfs
