// SPDX-License-Identifier: MIT
#include "src/commands/serving.h"

#include <utility>
#include <vector>

#include "fs/operations/callers_store.h"
#include "fs/requests/owner.h"
#include "fs/requests/request_counts.h"
#include "fs/requests/running_request.h"
#include "src/commands/all.h"

namespace cellfs {
namespace {

class PeerGroups : public fs::CallerGroups {
 public:
  explicit PeerGroups(const std::vector<gid_t>& groups) : groups_(groups) {}
  std::vector<gid_t> All() const override { return groups_; }

 private:
  const std::vector<gid_t>& groups_;
};

// Of the calling process; who does not say it makes nothing that others could use.
mode_t UmaskIn(const nlohmann::json& arguments) {
  const auto found = arguments.find("umask");
  const bool is_said = found != arguments.end() && found->is_number_unsigned();
  return is_said ? found->get<mode_t>() & 0777 : 0077;
}

// Among the requests of the mount, but for what only looks at these.
class CountedCommand {
 public:
  CountedCommand(fs::RequestCounts& counts, const Command& command, const Peer& peer)
      : counts_(counts), begin_(fs::RequestCounts::Begin()), is_counted_(&command != &kTopCommand) {
    if (is_counted_ && counts_.WantsAskers(begin_)) counts_.NoteAsker(peer.uid, peer.pid);
  }
  ~CountedCommand() {
    if (is_counted_) counts_.End(counts_.SetForThread(), fs::RequestKind::kCommand, begin_);
  }
  CountedCommand(const CountedCommand&) = delete;
  CountedCommand& operator=(const CountedCommand&) = delete;

 private:
  fs::RequestCounts& counts_;
  const uint64_t begin_;
  const bool is_counted_;
};

}  // namespace

StatusOr<nlohmann::json> Serve(const Served& served, const Peer& peer,
                               ControlRequest request, const TakeRecord& take) {
  if (request.command == "ping") return nlohmann::json::object();
  const Command* const command = FindCommand(request.command);
  if (command == nullptr || command->serve == nullptr) {
    return Status(StatusCode::kIllegalArgument,
                  "there is no command '" + request.command + "' to serve");
  }
  if (command->is_owners && !fs::IsOwnerOrRoot(peer.uid)) {
    return Status(StatusCode::kAccessDenied, "'" + request.command +
                                                 "' is for who mounted the store, and root");
  }
  const PeerGroups groups(peer.groups);
  const fs::RunningRequest running(peer.uid, request.interruption, &groups, peer.pid);
  const Caller& caller = served.filesystem.parts().callers.Of(peer.uid);
  fs::CallersStore store(served.filesystem, running.FindCredentials(), UmaskIn(request.arguments));
  Session session{.filesystem = served.filesystem,
                  .store = store,
                  .caller = caller,
                  .controls = fs::IsOwnerOrRoot(peer.uid) ? served.controls : nullptr,
                  .mountpoint = served.mountpoint,
                  .kernel = served.kernel,
                  .other_mounts = served.other_mounts,
                  .cancelled = request.cancelled,
                  .take = take};
  const CountedCommand counted(served.filesystem.request_counts(), *command, peer);
  CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                          command->serve(session, Arguments(std::move(request.arguments))));
  nlohmann::json result = nlohmann::json::object();
  if (answer == Answer::kNo) result["no"] = true;
  return result;
}

}  // namespace cellfs
