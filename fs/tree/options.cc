// SPDX-License-Identifier: MIT
#include "fs/tree/options.h"

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
      "*.*.part",
      "*.crdownload",  // savers and loaders
      "index.lock",
      "HEAD.lock",
      "config.lock",
      "packed-refs.lock",  // git; other *.lock are files that people keep
      ".nfs*",
      ".fuse_hidden*",
  };
}

namespace {

bool IsItself(char in_glob) {
  return in_glob != '*' && in_glob != '?' && in_glob != '[' && in_glob != ']' && in_glob != '\\';
}

// By their first and last bytes most names are none, which takes a tenth of the time of fnmatch(3).
bool MayMatch(const std::string& glob, const std::string& name) {
  if (glob.empty() || name.empty()) return true;
  return (!IsItself(glob.front()) || glob.front() == name.front()) &&
         (!IsItself(glob.back()) || glob.back() == name.back());
}

}  // namespace

MountOptions OptionsOn(const StoreTraits& traits, MountOptions options) {
  if (traits.keeps_deleted) return options;
  for (const char* const name :
       {"KEEP_DELETED_CELLS", "DELETED_TTL", "MIN_VERSIONS", "NEW_VERSION_BEHAVIOR"})
    options.family_defaults.erase(name);
  return options;
}

bool IsTemporaryName(const MountOptions& options, const std::string& name) {
  return std::any_of(options.temporary_names.begin(), options.temporary_names.end(),
                     [&](const std::string& glob) {
                       return MayMatch(glob, name) && fnmatch(glob.c_str(), name.c_str(), 0) == 0;
                     });
}

}  // namespace cellfs::fs
