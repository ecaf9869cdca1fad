// SPDX-License-Identifier: MIT
#include "src/mount_table.h"

#include <unistd.h>

#include <climits>
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

// By readlink(2): lstat(2) would ask the daemon of a mount for its root.
std::optional<std::string> LinkTarget(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  if (length < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

}  // namespace

std::string CanonicalPath(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel's
  namespace filesystem = std::filesystem;
  std::error_code error;
  filesystem::path named = filesystem::absolute(path, error);
  for (int links = 0; links < kMostLinks; ++links) {
    named = named.lexically_normal();
    if (!named.has_filename() && named != named.root_path()) named = named.parent_path();  // "dir/"
    const filesystem::path parent = filesystem::weakly_canonical(named.parent_path(), error);
    if (!error && named.has_filename()) named = parent / named.filename();
    const auto target = LinkTarget(named.string());
    if (!target) break;
    named = named.parent_path() / *target;
  }
  return named.string();
}

std::vector<MountedStore> ListMounts() {
  std::vector<MountedStore> mounts;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string field, device, root, mountpoint, type, source;
    fields >> field >> field >> device >> root >> mountpoint;
    while (fields >> field && field != "-") {
    }
    fields >> type >> source;
    if (type == "fuse.cellfs") mounts.push_back({Unescape(source), Unescape(mountpoint), device});
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
