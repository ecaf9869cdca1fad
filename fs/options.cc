// SPDX-License-Identifier: MIT
#include "fs/options.h"

#include <fnmatch.h>

#include <algorithm>

namespace cellfs::fs {

Attributes ShippedFamilyDefaults() {
  return {{"VERSIONS", "10"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "2592000"}};
}

std::vector<std::string> ShippedTemporaryNames() {
  return {
      ".*.??????",  // rsync
      ".*.sw?",
      ".*.swpx",
      "4913",
      "*~",         // vim
      "sed??????",  // sed -i
      ".#*",
      "#*#",  // emacs
      ".goutputstream-??????",
      ".*.kate-swp",  // GNOME, KDE
      "*.tmp",
      "*.part",
      "*.crdownload",  // savers and loaders
      "*.lock",        // git
      ".nfs*",
      ".fuse_hidden*",
  };
}

bool IsTemporaryName(const MountOptions& options, const std::string& name) {
  return std::any_of(
      options.temporary_names.begin(), options.temporary_names.end(),
      [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

}  // namespace cellfs::fs
