// SPDX-License-Identifier: MIT
#include "src/shell/converter.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/big_endian.h"
#include "src/daemon/json_text.h"
#include "src/shell/output.h"

namespace cellfs::shell {
namespace {

constexpr std::string_view kConverters[] = {"toString", "toStringBinary", "toInt",    "toLong",
                                            "toShort",  "toFloat",        "toDouble", "toBoolean",
                                            "toHex"};

std::string Shown(double number) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", number);
  return text;
}

size_t WidthOf(std::string_view converter) {
  if (converter == "toLong" || converter == "toDouble") return 8;
  if (converter == "toInt" || converter == "toFloat") return 4;
  if (converter == "toShort") return 2;
  return converter == "toBoolean" ? 1 : 0;
}

}  // namespace

bool IsConverter(std::string_view name) {
  return std::find(std::begin(kConverters), std::end(kConverters), name) != std::end(kConverters);
}

StatusOr<std::string> Convert(std::string_view bytes, std::string_view converter) {
  if (converter.empty() || converter == "toStringBinary") return BinaryText(bytes);
  if (converter == "toString") return std::string(bytes);
  if (converter == "toHex") return ToHex(bytes);
  const size_t width = WidthOf(converter);
  if (bytes.size() < width) {
    return Status(StatusCode::kIllegalArgument,
                  std::string(converter) + " takes " + std::to_string(width) + " bytes, and '" +
                      BinaryText(bytes) + "' has " + std::to_string(bytes.size()));
  }
  if (converter == "toLong")
    return std::to_string(static_cast<int64_t>(ReadBigEndian<uint64_t>(bytes)));
  if (converter == "toDouble") return Shown(std::bit_cast<double>(ReadBigEndian<uint64_t>(bytes)));
  if (converter == "toInt")
    return std::to_string(static_cast<int32_t>(ReadBigEndian<uint32_t>(bytes)));
  if (converter == "toFloat") return Shown(std::bit_cast<float>(ReadBigEndian<uint32_t>(bytes)));
  if (converter == "toShort")
    return std::to_string(static_cast<int16_t>(ReadBigEndian<uint16_t>(bytes)));
  return std::string(bytes[0] != 0 ? "true" : "false");
}

StatusOr<std::string> ShownNumber(const nlohmann::json& cell) {
  return Convert(cell["value"].get_ref<const std::string&>(), "toLong");
}

ColumnSpec ParseColumnSpec(const std::string& text) {
  const size_t first = text.find(':');
  const size_t second = first == text.npos ? text.npos : text.find(':', first + 1);
  if (second == text.npos) return {text, ""};
  std::string converter = text.substr(second + 1);
  if (converter.starts_with("c(")) converter = converter.substr(converter.rfind('.') + 1);
  if (!IsConverter(converter)) return {text, ""};
  return {text.substr(0, second), converter};
}

}  // namespace cellfs::shell
