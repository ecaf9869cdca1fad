// SPDX-License-Identifier: MIT
#include "src/mount_table.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cellfs {
namespace {

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string Unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::string CanonicalPath(const std::string& path) {
  namespace filesystem = std::filesystem;
  std::error_code error;
  const filesystem::path absolute = filesystem::absolute(path, error).lexically_normal();
  const filesystem::path named =
      absolute.has_filename() ? absolute : absolute.parent_path();  // "dir/" names "dir"
  // Not by lstat(2), which would ask the daemon of a mount for its root.
  char target = 0;
  if (readlink(named.c_str(), &target, 1) >= 0) {
    return filesystem::weakly_canonical(named, error).string();
  }
  const filesystem::path parent = filesystem::weakly_canonical(named.parent_path(), error);
  return error ? named.string() : (parent / named.filename()).string();
}

std::vector<MountedStore> ListMounts() {
  std::vector<MountedStore> mounts;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string field, mountpoint, type, source;
    for (int i = 0; i < 4; ++i) fields >> field;
    fields >> mountpoint;
    while (fields >> field && field != "-") {
    }
    fields >> type >> source;
    if (type == "fuse.cellfs") mounts.push_back({Unescape(source), Unescape(mountpoint)});
  }
  return mounts;
}

std::optional<MountedStore> FindMount(const std::string& path) {
  const std::string canonical = CanonicalPath(path);
  std::optional<MountedStore> found;
  for (MountedStore& mount : ListMounts()) {
    if (mount.store == canonical || mount.mountpoint == canonical) found = std::move(mount);
  }
  return found;
}

}  // namespace cellfs
