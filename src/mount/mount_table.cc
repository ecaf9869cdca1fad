// SPDX-License-Identifier: MIT
#include "src/mount/mount_table.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "src/mount/store_name.h"

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

// Between single spaces: other white space is part of a name and not escaped.
std::vector<std::string> FieldsOf(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream rest(line);
  for (std::string field; std::getline(rest, field, ' ');) fields.push_back(field);
  return fields;
}

// "rw,user_id=1000,group_id=1000": of fuse file systems the kernel says whose daemon it is.
uid_t UserIn(const std::string& options) {
  constexpr std::string_view kKey = "user_id=";
  std::istringstream rest(options);
  for (std::string option; std::getline(rest, option, ',');) {
    if (option.starts_with(kKey))
      return static_cast<uid_t>(std::strtoul(option.c_str() + kKey.size(), nullptr, 10));
  }
  return 0;
}

// "36 35 98:0 /root /mountpoint options [tags] - type source options", if it is one of ours.
std::optional<MountedStore> ParseMount(const std::string& line) {
  constexpr size_t kDevice = 2, kMountpoint = 4;
  if (line.find(" fuse.cellfs ") == line.npos) return std::nullopt;  // nor is any field looked at
  const std::vector<std::string> fields = FieldsOf(line);
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() <= static_cast<ptrdiff_t>(kMountpoint) || fields.end() - dash < 3) {
    return std::nullopt;
  }
  if (dash[1] != "fuse.cellfs") return std::nullopt;
  const std::string options = fields.end() - dash > 3 ? dash[3] : "";
  return MountedStore{Unescape(dash[2]), Unescape(fields[kMountpoint]), fields[kDevice],
                      UserIn(options)};
}

// Anybody can mount something of his own that names this store: only the store's owner has it open.
// What nobody says is mounted is not looked at.
bool IsOwnersMount(const MountedStore& mount) {
  struct stat attributes {};
  return stat(mount.store.c_str(), &attributes) != 0 || mount.user == attributes.st_uid;
}

std::vector<MountedStore> ListMountsIn(const std::string& mountinfo) {
  std::vector<MountedStore> mounts;
  std::ifstream table(mountinfo);
  for (std::string line; std::getline(table, line);) {
    if (auto mount = ParseMount(line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

// The uppermost of each device: a bind mount of a mount has the same.
std::vector<MountedStore> FindAll(const std::function<bool(const MountedStore&)>& wanted) {
  std::vector<MountedStore> found;
  for (MountedStore& mount : ListMounts()) {
    if (!wanted(mount)) continue;
    std::erase_if(found, [&](const auto& before) { return before.device == mount.device; });
    found.push_back(std::move(mount));
  }
  return found;
}

std::optional<MountedStore> LastOf(std::vector<MountedStore> mounts) {
  return mounts.empty() ? std::nullopt : std::optional(std::move(mounts.back()));
}

}  // namespace

std::string CanonicalPath(const std::string& path) {
  namespace filesystem = std::filesystem;
  constexpr int kMostLinks = 40;  // as the kernel's
  std::set<filesystem::path> in_mounts;
  for (const MountedStore& mount : ListMounts()) in_mounts.insert(mount.mountpoint);
  std::error_code error;
  const filesystem::path named = filesystem::absolute(path, error).lexically_normal();
  const filesystem::path below_root = named.relative_path();
  std::deque<filesystem::path> rest(below_root.begin(), below_root.end());
  filesystem::path done = "/";
  for (int links = 0; !rest.empty();) {
    const filesystem::path name = rest.front();
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      done = done.parent_path();
      continue;
    }
    // In a mount there are no links that lead out of it.
    const bool is_in_mount = in_mounts.contains(done);
    const bool may_be_link = links < kMostLinks && !is_in_mount;
    const auto target = may_be_link ? LinkTarget((done / name).string()) : std::nullopt;
    if (!target) {
      done /= name;
      if (is_in_mount) in_mounts.insert(done);
      continue;
    }
    ++links;
    if (target->starts_with('/')) done = "/";
    const filesystem::path parts = filesystem::path(*target).relative_path();
    rest.insert(rest.begin(), parts.begin(), parts.end());
  }
  return done.string();
}

std::vector<MountedStore> ListMounts() { return ListMountsIn("/proc/self/mountinfo"); }

std::vector<MountedStore> ListMountsSeenBy(const std::string& process) {
  return ListMountsIn("/proc/" + process + "/mountinfo");
}

bool IsSameDirectory(const std::string& one, const std::string& other) {
  struct stat of_one {}, of_other {};
  return stat(one.c_str(), &of_one) == 0 && stat(other.c_str(), &of_other) == 0 &&
         of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

bool IsInMount(const std::string& path) {
  for (const MountedStore& mount : ListMounts()) {
    if (path == mount.mountpoint || path.starts_with(mount.mountpoint + "/")) return true;
  }
  return false;
}

std::optional<MountedStore> FindMountOf(const std::string& store) {
  return LastOf(FindMountsOf(store));
}

std::vector<MountedStore> FindMountsOf(const std::string& store) {
  const std::string canonical = CanonicalStore(store);
  const bool may_be_looked_at = !IsRemote(canonical) && !IsInMount(canonical);
  return FindAll([&](const MountedStore& mount) {
    const bool is_it = mount.store == canonical ||
                       (may_be_looked_at && IsSameDirectory(mount.store, canonical));
    return is_it && IsOwnersMount(mount);
  });
}

std::optional<MountedStore> FindMountOn(const std::string& mountpoint) {
  return LastOf(FindAll([canonical = CanonicalPath(mountpoint)](const MountedStore& mount) {
    return mount.mountpoint == canonical;
  }));
}

std::string MountpointsOf(const std::vector<MountedStore>& mounts) {
  std::string all;
  for (const MountedStore& mount : mounts) all += (all.empty() ? "" : ", ") + mount.mountpoint;
  return all;
}

std::optional<MountedStore> FindMount(const std::string& path) {
  auto mount = FindMountOn(path);
  return mount ? mount : FindMountOf(path);
}

}  // namespace cellfs
