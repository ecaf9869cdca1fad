// SPDX-License-Identifier: MIT
//
// Bytes in JSON text: each byte is the character of that number (Latin-1), in UTF-8, so that what
// is text can be read.
#ifndef CELLFS_ENGINE_JSON_BYTES_H_
#define CELLFS_ENGINE_JSON_BYTES_H_

#include <optional>
#include <string>
#include <string_view>

namespace cellfs {

std::string BytesToJsonText(std::string_view bytes);
// nullopt: the text holds what is no byte.
std::optional<std::string> JsonTextToBytes(std::string_view text);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_JSON_BYTES_H_
