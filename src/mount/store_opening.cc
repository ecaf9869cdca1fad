// SPDX-License-Identifier: MIT
#include "src/mount/store_opening.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/open.h"
#include "src/daemon/control_socket.h"
#include "src/mount/mount_elsewhere.h"
#include "src/mount/mount_table.h"
#include "src/mount/silent_daemon.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

constexpr std::chrono::seconds kOpeningPatience{10};
constexpr std::chrono::milliseconds kOpeningPause{20};

// A daemon whose mount has gone is about to end, and so is one that says so or cannot be reached.
bool IsServed(const MountedStore& mount) {
  const DaemonState daemon = AskDaemon(mount);
  return daemon != DaemonState::kEnds && daemon != DaemonState::kIsMissing;
}

Status InUseWithRemedy(const Status& in_use, const std::string& remedy) {
  return Status(in_use.code(), in_use.message() + remedy);
}

std::string RemedyFor(const MountedStore& mount, const std::optional<std::string>& holder) {
  return ", mounted on " + mount.mountpoint + "; " + HowToEndMount(mount.mountpoint, holder);
}

std::string MountElsewhereOf(const std::string& directory) {
  const auto holder = HolderOfLocalStore(directory);
  return holder ? DescribeMountElsewhere(directory, *holder) : "";
}

StatusOr<std::unique_ptr<ControlledStore>> OpenWhenFree(const std::string& directory,
                                                        const StoreOptions& options) {
  const auto deadline = std::chrono::steady_clock::now() + kOpeningPatience;
  while (true) {
    auto store = OpenLocalStore(directory, options);
    if (store.ok() || store.status().code() != StatusCode::kUnavailable) return store;
    if (const auto mount = FindMountOf(directory); mount && IsServed(*mount))
      return InUseWithRemedy(store.status(), RemedyFor(*mount, HolderOfLocalStore(directory)));
    if (const std::string elsewhere = MountElsewhereOf(directory); !elsewhere.empty())
      return InUseWithRemedy(store.status(), elsewhere);
    if (std::chrono::steady_clock::now() >= deadline) {
      return InUseWithRemedy(store.status(),
                             ", of which no mount is seen from here, and did not end within " +
                                 std::to_string(kOpeningPatience.count()) +
                                 " s; wait for it (after 'umount -l' it serves open files), or "
                                 "kill it");
    }
    std::this_thread::sleep_for(kOpeningPause);
  }
}

std::string NameOfAccount() {
  const passwd* const user = getpwuid(geteuid());
  return user != nullptr ? user->pw_name : std::to_string(geteuid());
}

// As HBase's own client finds it; a cluster without Kerberos believes it.
std::string NameOfUser() {
  const char* const said = getenv("HADOOP_USER_NAME");
  return said != nullptr && *said != '\0' ? said : NameOfAccount();
}

StatusOr<std::unique_ptr<Store>> OpenClusterOf(const RemoteName& name, ClusterOptions options) {
  options.servers = name.servers;
  if (options.user.empty()) options.user = NameOfUser();
  return OpenCluster(options);
}

// The first line of a file that nobody else may read.
StatusOr<std::string> PasswordIn(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string password;
  struct stat attributes {};
  if (!std::getline(file, password) || stat(path.c_str(), &attributes) != 0) {
    return Status(StatusCode::kIllegalArgument,
                  "password_file " + path + " cannot be read, or is empty");
  }
  if ((attributes.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Status(StatusCode::kIllegalArgument,
                  "password_file " + path + " is open to others; chmod 600 closes it");
  }
  return password;
}

StatusOr<std::unique_ptr<Store>> OpenDatabaseOf(const RemoteName& name,
                                                const Configuration& configuration) {
  ObkvOptions options = configuration.database;
  if (!name.servers.empty()) options.server = name.servers.front();
  options.socket = name.socket;
  if (!name.user.empty()) options.user = name.user;
  if (options.user.empty()) options.user = NameOfAccount();
  CELLFS_ASSIGN_OR_RETURN(options.password, PasswordIn(configuration.database_password_file));
  return OpenDatabase(options, configuration.store);
}

StatusOr<OpenedStore> OpenByServers(const std::string& store, const Configuration& configuration) {
  CELLFS_ASSIGN_OR_RETURN(const RemoteName name, ParseRemote(store));
  auto opened = name.kind == RemoteKind::kCluster ? OpenClusterOf(name, configuration.cluster)
                                                  : OpenDatabaseOf(name, configuration);
  if (!opened.ok()) return opened.status();
  return OpenedStore{.store = *std::move(opened)};
}

StatusOr<OpenedStore> OpenDirectory(const std::string& directory,
                                    const Configuration& configuration) {
  StoreOptions options = configuration.store;
  options.read_only = configuration.mount.read_only;
  CELLFS_ASSIGN_OR_RETURN(auto store, OpenWhenFree(directory, options));
  StoreControls* const controls = store.get();
  return OpenedStore{.store = std::move(store), .controls = controls};
}

bool LacksStore(const std::string& directory) {
  return access((directory + "/FORMAT").c_str(), F_OK) != 0 && errno == ENOENT;
}

bool IsOurs(const std::string& directory) {
  struct stat attributes {};
  return stat(directory.c_str(), &attributes) == 0 && attributes.st_uid == geteuid();
}

// In which, for that reason, nothing can be made.
Status WhereNoStoreCanBe(const std::string& directory, int reason) {
  const std::string what = "no store can be made in " + directory;
  if (reason == EROFS) {
    return {StatusCode::kIllegalArgument,
            what + ", whose file system is read-only; name a directory elsewhere"};
  }
  if (reason != EACCES) return {StatusCode::kIoError, what + ": " + strerror(reason)};
  return {StatusCode::kAccessDenied,
          what + (IsOurs(directory) ? ", whose mode forbids it; see chmod"
                                    : ", which is somebody else's; name a directory of your own")};
}

Status CheckCanBeMade(const std::string& directory) {
  const std::string parent = std::filesystem::path(directory).parent_path().string();
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {};
  if (errno != ENOENT) return WhereNoStoreCanBe(parent, errno);
  return {StatusCode::kIllegalArgument, "the store " + directory + " cannot be made: there is no " +
                                            parent + "; make it with mkdir -p"};
}

}  // namespace

StatusOr<OpenedStore> OpenStore(const std::string& store, const Configuration& configuration) {
  return IsRemote(store) ? OpenByServers(store, configuration)
                          : OpenDirectory(store, configuration);
}

std::optional<TableName> AttributesTableOf(const std::string& store,
                                           const Configuration& configuration) {
  const auto name = ParseRemote(store);
  const bool is_database = name.ok() && name->kind == RemoteKind::kDatabase;
  return is_database ? configuration.database_attributes : configuration.cluster_attributes;
}

Status CheckIsFree(const std::string& directory) {
  const Status free = CheckLocalStoreIsFree(directory);
  if (free.ok()) return {};
  const auto mount = FindMountOf(directory);
  if (mount && !IsServed(*mount)) return {};  // it is about to end
  if (mount) return InUseWithRemedy(free, RemedyFor(*mount, HolderOfLocalStore(directory)));
  const std::string elsewhere = MountElsewhereOf(directory);
  return InUseWithRemedy(free, elsewhere.empty() ? "; wait for it, or end it" : elsewhere);
}

Status CheckIsThere(const std::string& directory) {
  if (!LacksStore(directory)) return {};
  const bool may_be_made = access(directory.c_str(), W_OK) == 0 || errno == ENOENT;
  if (!may_be_made) return WhereNoStoreCanBe(directory, errno);
  return {StatusCode::kIllegalArgument,
          "there is no store in " + directory +
              ", and a mount that is read-only makes none; mount it once without 'ro'"};
}

Status CheckTakesMount(const std::string& directory) {
  if (access(directory.c_str(), W_OK) == 0) return {};
  const int reason = errno;
  if (reason == ENOENT) return CheckCanBeMade(directory);
  if (LacksStore(directory)) return WhereNoStoreCanBe(directory, reason);
  if (reason != EROFS) return {};
  return {StatusCode::kIllegalArgument, "the file system of the store " + directory +
                                            " is read-only; mount it with '-o ro'"};
}

Status CheckMayUse(const std::string& directory, Use use) {
  std::error_code error;
  const bool is_file = std::filesystem::exists(directory, error) &&
                       !std::filesystem::is_directory(directory, error);
  if (is_file) return Status(StatusCode::kIllegalArgument, directory + " is no directory");
  const int needed = use == Use::kReads ? R_OK | X_OK : R_OK | W_OK | X_OK;
  if (access(directory.c_str(), needed) == 0 || errno != EACCES) return {};
  return Status(StatusCode::kAccessDenied,
                use == Use::kReads || access(directory.c_str(), R_OK | X_OK) != 0
                    ? "the store " + directory + " is somebody else's; run this as its owner"
                    : "the store " + directory +
                          " can only be read; what reads works, and 'mount -o ro'");
}

}  // namespace cellfs
