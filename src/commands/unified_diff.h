// SPDX-License-Identifier: MIT
//
// UnifiedDiff: how two texts differ, as diff(1) of diffutils says it, which every Debian has.
#ifndef CELLFS_SRC_COMMANDS_UNIFIED_DIFF_H_
#define CELLFS_SRC_COMMANDS_UNIFIED_DIFF_H_

#include <optional>
#include <string>

namespace cellfs {

struct LabelledText {
  std::string label;
  std::string text;
};

// "--- a\n+++ b\n@@ ..."; empty: they are equal. Nullopt: there is no diff(1), or it failed.
std::optional<std::string> UnifiedDiff(const LabelledText& before, const LabelledText& after);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_UNIFIED_DIFF_H_
