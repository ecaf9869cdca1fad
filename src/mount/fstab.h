// SPDX-License-Identifier: MIT
//
// The lines of fstab(5).
#ifndef CELLFS_SRC_MOUNT_FSTAB_H_
#define CELLFS_SRC_MOUNT_FSTAB_H_

#include <optional>
#include <string>

#include "engine/status_or.h"

namespace cellfs {

struct FstabLine {
  std::string store;
  std::string mountpoint;
  std::string type;
  std::string options;  // empty: defaults

  bool operator==(const FstabLine&) const = default;
};

// White space and backslashes as \040 and the like. kIllegalArgument: no line of fstab can say it.
StatusOr<std::string> TextOf(const FstabLine& line);

// nullopt: a comment, or no line that mount(8) understands.
std::optional<FstabLine> ParseFstabLine(const std::string& text);

// The file's text with the line in it: in place of the one of its mount point, else at the end.
// kIllegalArgument where something else is mounted there.
StatusOr<std::string> WithLine(const std::string& text, const FstabLine& line);

// Whether UpdateFstab would do it, as far as can be known before.
Status CheckFstab(const std::string& path, const FstabLine& line);

// Puts the line into the file, whole or not at all; does not touch a file that has it. A file that
// is missing is made.
Status UpdateFstab(const std::string& path, const FstabLine& line);

// /etc/fstab, unless the environment says otherwise to mount(8).
std::string FstabPath();

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_FSTAB_H_
