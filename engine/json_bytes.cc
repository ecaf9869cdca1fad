// SPDX-License-Identifier: MIT
#include "engine/json_bytes.h"

namespace cellfs {

std::string BytesToJsonText(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text.push_back(static_cast<char>(0xc0 | byte >> 6));
    text.push_back(static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f)));
  }
  return text;
}

std::optional<std::string> JsonTextToBytes(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes.push_back(text[i]);
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes.push_back(static_cast<char>((lead & 3) << 6 | (text[++i] & 0x3f)));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace cellfs
