// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_FILTER_JAVA_REGEX_H_
#define CELLFS_ENGINE_FILTER_JAVA_REGEX_H_

#include <string>
#include <string_view>

#include "engine/status_or.h"

namespace cellfs {

// Rewrites a Java expression, which is UTF-8, into PCRE2's syntax. `mark` comes before each of the
// expression's alternatives. kIllegalArgument: what PCRE2 has not, or would take for another thing.
// What is wrong in both is left for PCRE2 to judge.
StatusOr<std::string> TranslateFromJava(std::string_view java, std::string_view mark);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_JAVA_REGEX_H_
