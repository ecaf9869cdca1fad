// SPDX-License-Identifier: MIT
#include "src/mount_helper.h"

#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "src/commands/command.h"
#include "src/commands/mounting.h"
#include "src/mount/mount_table.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

constexpr int kMounted = 0;
constexpr int kWrongCallOrPermission = 1;
constexpr int kSystemError = 2;
constexpr int kInternalBug = 4;
constexpr int kInterrupted = 8;
constexpr int kMountFailure = 32;

constexpr char kUsage[] = "usage: mount.cellfs STORE DIRECTORY [-sfnv] [-o OPTIONS]";
constexpr std::string_view kSetuidKey = "setuid=";

struct HelperCall {
  MountCall mount;
  bool is_fake = false;
  bool is_verbose = false;
  std::string user;  // that shall run the daemon; empty: who calls
};

std::string_view NameOf(const char* path) {
  const std::string_view whole = path;
  return whole.substr(whole.find_last_of('/') + 1);
}

bool HasSlash(const char* word) { return strchr(word, '/') != nullptr; }

int CodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kMounted;
    case StatusCode::kAccessDenied:
      return kWrongCallOrPermission;
    case StatusCode::kIoError:
      return kSystemError;
    case StatusCode::kOutcomeUnknown:
      return kInternalBug;
    case StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kMountFailure;
  }
}

int Say(const std::string& message, int code) {
  std::cerr << "mount.cellfs: " << message << '\n';
  return code;
}

// Takes setuid=USER out of the options, as mount.fuse3(8) does.
std::string TakeUserFrom(std::string& options) {
  std::string user;
  std::string rest;
  std::string_view left = options;
  while (!left.empty()) {
    const std::string_view option = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), option.size() + 1));
    if (option.starts_with(kSetuidKey)) {
      user = option.substr(kSetuidKey.size());
    } else {
      rest += (rest.empty() ? "" : ",") + std::string(option);
    }
  }
  options = rest;
  return user;
}

StatusOr<HelperCall> Parse(int argc, char** argv) {
  HelperCall call;
  opterr = 0;
  for (int option = 0; (option = getopt(argc, argv, "sfnvo:t:")) != -1;) {
    if (option == 's') call.mount.unknown = UnknownOptions::kPassedOver;
    if (option == 'f') call.is_fake = true;
    if (option == 'v') call.is_verbose = true;
    if (option == 'o') {
      std::string options = optarg;
      if (std::string user = TakeUserFrom(options); !user.empty()) call.user = user;
      call.mount.options.push_back(options);
    }
    if (option == '?') return Status(StatusCode::kIllegalArgument, kUsage);
  }
  if (argc - optind != 2) return Status(StatusCode::kIllegalArgument, kUsage);
  call.mount.store = argv[optind];
  call.mount.mountpoint = argv[optind + 1];
  return call;
}

// For good: the daemon is then his, and so is the mount.
Status BecomeUser(const std::string& name) {
  errno = 0;
  const passwd* const user = getpwnam(name.c_str());
  if (user == nullptr)
    return {StatusCode::kIllegalArgument, "-o setuid=" + name + ": there is no such user"};
  if (initgroups(name.c_str(), user->pw_gid) == 0 && setgid(user->pw_gid) == 0 &&
      setuid(user->pw_uid) == 0) {
    return {};
  }
  return {StatusCode::kAccessDenied, "-o setuid=" + name + ": " + strerror(errno)};
}

int Mount(const HelperCall& call) {
  if (!call.user.empty()) {
    if (const Status status = BecomeUser(call.user); !status.ok())
      return Say(status.message(), kWrongCallOrPermission);
  }
  const StatusOr<Configuration> configuration = ReadConfiguration(call.mount);
  if (!configuration.ok())
    return Say(configuration.status().message(), kWrongCallOrPermission);
  Status status = CheckMount(call.mount, *configuration);
  if (status.ok()) {
    status = call.is_fake ? CheckIsFree(CanonicalPath(call.mount.store))
                          : MountStore(call.mount, *configuration);
  }
  if (!status.ok()) return Say(status.message(), CodeOf(status));
  if (call.is_verbose && !call.is_fake)
    std::cout << call.mount.store << " is mounted on " << call.mount.mountpoint << '\n';
  return kMounted;
}

}  // namespace

// A mistyped command is none: a store is named by a path, or stands before a directory and options.
bool IsCallOfMount(int argc, char** argv) {
  if (argc < 1) return false;
  if (NameOf(argv[0]).starts_with("mount.")) return true;
  if (argc < 3 || argv[1][0] == '-' || FindCommand(argv[1]) != nullptr) return false;
  const bool has_options = argc == 5 && std::string_view(argv[3]) == "-o";
  return (HasSlash(argv[1]) || has_options) && argv[2][0] == '/';
}

int RunMountHelper(int argc, char** argv) {
  try {
    const StatusOr<HelperCall> call = Parse(argc, argv);
    if (!call.ok()) return Say(call.status().message(), kWrongCallOrPermission);
    return Mount(*call);
  } catch (const std::bad_alloc&) {
    return Say("out of memory", kSystemError);
  }
}

}  // namespace cellfs
