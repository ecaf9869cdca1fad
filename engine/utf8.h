// SPDX-License-Identifier: MIT
//
// What of bytes is UTF-8: without overlong forms and surrogates, up to U+10FFFF.
#ifndef CELLFS_ENGINE_UTF8_H_
#define CELLFS_ENGINE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace cellfs {

// The length of the sequence at the begin of `text`, which is not empty; 0 where there is none.
size_t Utf8Length(std::string_view text);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_UTF8_H_
