// SPDX-License-Identifier: MIT
//
// Bytes in JSON, for programs and on the way between command line and daemon: what is text stays
// text; everything else, which JSON cannot say, is {"hex": "00ff"}. Inside the program the strings
// of a JSON value are bytes.
#ifndef CELLFS_SRC_DAEMON_JSON_TEXT_H_
#define CELLFS_SRC_DAEMON_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cellfs {

// On one line, without a newline.
std::string ToJsonText(nlohmann::json value);
// Nullopt: it is no JSON, nested deeper than anything of ours, or has more parts; or an object says
// a member twice, of which one would be lost.
std::optional<nlohmann::json> FromJsonText(std::string_view text);

// UTF-8 without control bytes other than tabs and ends of lines.
bool IsPlainText(std::string_view bytes);

std::string ToHex(std::string_view bytes);
// Nullopt: these are no pairs of hexadecimal digits.
std::optional<std::string> FromHex(std::string_view digits);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_JSON_TEXT_H_
