// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <utility>

#include "src/commands/cells.h"
#include "src/commands/command.h"
#include "src/commands/mounting.h"
#include "src/commands/serving.h"
#include "src/commands/target.h"
#include "src/configuration.h"
#include "src/mount/mountpoint.h"
#include "src/mount/store_name.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

using nlohmann::json;

StatusOr<Answer> AnswerIn(const StatusOr<json>& result) {
  if (!result.ok()) return result.status();
  return result->value("no", false) ? Answer::kNo : Answer::kDone;
}

// What could not be asked, or was not answered, may be because the daemon died.
Status WithStaleMount(const MountedStore& mount, const Status& status) {
  const StatusCode code = status.code();
  const bool may_be_gone = code == StatusCode::kUnavailable || code == StatusCode::kOutcomeUnknown;
  if (!may_be_gone || !IsStale(mount.mountpoint)) return status;
  return Status(code, status.message() + "; the mount on " + mount.mountpoint +
                          " is stale, its daemon has ended: 'cellfs mount " + mount.store + " " +
                          mount.mountpoint + "' mounts it again, and 'cellfs umount " +
                          mount.mountpoint + "' takes it away");
}

// Through the daemon of a mount.
class MountAccess : public StoreAccess {
 public:
  MountAccess(MountedStore mount, std::unique_ptr<ControlConnection> connection)
      : mount_(std::move(mount)), connection_(std::move(connection)) {}

  StatusOr<Answer> Call(const std::string& command, const json& arguments,
                        const TakeRecord& take) override {
    const auto result = connection_->Call(command, arguments, take);
    if (!result.ok()) return WithStaleMount(mount_, result.status());
    return AnswerIn(result);
  }

 private:
  const MountedStore mount_;
  const std::unique_ptr<ControlConnection> connection_;
};

Peer Ourselves() {
  Peer peer{getpid(), geteuid(), {getegid()}};
  std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::max(count, 0)));
  peer.groups.insert(peer.groups.end(), groups.begin(), groups.end());
  return peer;
}

// On a store that nobody has open.
class OwnAccess : public StoreAccess {
 public:
  OwnAccess(OpenedStore store, const Configuration& configuration,
            std::vector<MountedStore> mounts)
      : mounts_(std::move(mounts)),
        store_(std::move(store)),
        filesystem_(*store_.store, configuration.mount, configuration.store.clock,
                    store_.controls) {}

  StatusOr<Answer> Call(const std::string& command, const json& arguments,
                        const TakeRecord& take) override {
    static const std::atomic<bool> never = false;
    const Served served{.filesystem = filesystem_,
                        .controls = store_.controls,
                        .mountpoint = "",
                        .other_mounts = mounts_};
    return AnswerIn(Serve(served, Ourselves(), {command, arguments, &never}, take));
  }

 private:
  const std::vector<MountedStore> mounts_;
  const OpenedStore store_;
  fs::FileSystem filesystem_;
};

StatusOr<std::unique_ptr<StoreAccess>> OpenMount(const MountedStore& mount) {
  auto connection = ControlConnection::Open(mount);
  if (connection.ok()) {
    return std::unique_ptr<StoreAccess>(
        std::make_unique<MountAccess>(mount, *std::move(connection)));
  }
  return WithStaleMount(mount, connection.status());
}

StatusOr<std::unique_ptr<StoreAccess>> OpenOurselves(const std::string& name,
                                                     const std::string& config, bool only_reads) {
  CELLFS_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration({.config = config}));
  configuration.store.background_maintenance = false;
  configuration.mount.read_only |= only_reads;
  if (IsRemote(name)) {
    configuration.mount.attributes_table = AttributesTableOf(name, configuration);
  } else {
    CELLFS_RETURN_IF_ERROR(CheckMayUse(name, only_reads ? Use::kReads : Use::kChanges));
    configuration.mount.store_directory = name;
  }
  auto mounts = IsRemote(name) ? FindMountsOf(name) : std::vector<MountedStore>();
  CELLFS_ASSIGN_OR_RETURN(OpenedStore store, OpenStore(name, configuration));
  return std::unique_ptr<StoreAccess>(
      std::make_unique<OwnAccess>(std::move(store), configuration, std::move(mounts)));
}

// "m notes xx: no such cell is stored"
std::string NoOf(const Command& command, const std::string& target, const json& arguments) {
  std::string about = target;
  if (const auto words = arguments.find("words"); words != arguments.end()) {
    for (const json& word : *words) about += " " + word.get_ref<const std::string&>();
  }
  return ShownBytes(about) + ": " + std::string(command.no);
}

}  // namespace

StatusOr<std::unique_ptr<StoreAccess>> Front::Open(const std::string& target,
                                                   json& arguments, bool only_reads) const {
  CELLFS_ASSIGN_OR_RETURN(const StorePath path, FindStore(target));
  const std::string config = arguments.value("config", "");
  for (const char* name : {"target", "targets", "config"}) arguments.erase(name);
  if (!path.names.empty()) arguments["path"] = path.names;
  if (!path.mount) return OpenOurselves(path.store, config, only_reads);
  if (!config.empty()) {
    return Status(StatusCode::kIllegalArgument,
                  "--config: the mount on " + path.mount->mountpoint + " has its configuration");
  }
  auto mount = OpenMount(*path.mount);
  // What a daemon that died has left of its mount keeps nobody from the store itself.
  const bool may_be_gone = !mount.ok() && mount.status().code() == StatusCode::kUnavailable;
  if (path.is_by_store && may_be_gone && IsStale(path.mount->mountpoint))
    return OpenOurselves(path.store, config, only_reads);
  return mount;
}

StatusOr<Answer> CallAndPrint(const Front& front, const Command& command, const std::string& target,
                              json arguments) {
  const std::string no = command.no.empty() ? "" : NoOf(command, target, arguments);
  if (command.is_of_whole_store) CELLFS_RETURN_IF_ERROR(FindWholeStore(target).status());
  const bool only_reads = command.only_reads || arguments.value("dry_run", false);
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(target, arguments, only_reads));
  bool has_told = false;
  const auto take = [&](json record) {
    has_told = true;
    AddShown(record);
    if (record.contains("nothing")) record["target"] = target;  // as its caller names it
    if (front.printer.style().json) {
      record.erase(kForPrint);
      front.printer.Json(record);
    } else if (command.print != nullptr) {
      command.print(front.printer, record);
    }
    return command.goes_on || front.printer.ok();
  };
  auto answer = access->Call(std::string(command.name), arguments, take);
  if (!answer.ok() && has_told && ExitCodeOf(answer.status()) == kExitNo)
    return Status(StatusCode::kUnavailable, answer.status().message());
  if (answer.ok() && *answer == Answer::kNo) {
    front.printer.Finish();
    if (!no.empty()) fprintf(stderr, "cellfs: %s\n", no.c_str());
  }
  return answer;
}

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kExitDone;
    case StatusCode::kTableNotFound:
    case StatusCode::kTableExists:
    case StatusCode::kNamespaceNotFound:
    case StatusCode::kNamespaceExists:
    case StatusCode::kNoSuchColumnFamily:
      return kExitNo;
    case StatusCode::kIllegalArgument:
    case StatusCode::kInvalidVersions:
    case StatusCode::kFailedSanityCheck:
    case StatusCode::kUnsupportedOperation:
    case StatusCode::kWrongRow:
    case StatusCode::kNotALong:
      return kExitWrongCall;
    default:
      return kExitFailed;
  }
}

}  // namespace cellfs
