// SPDX-License-Identifier: MIT
//
// errors: what the mount has refused lately, and why. Others than root and the mount's owner see
// what they were refused themselves.
#include <chrono>
#include <thread>
#include <utility>

#include "fs/resolve/cellfs_directory.h"
#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/mount/mountpoint.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kBetweenLooks{100};

bool IsWithin(fs::Place place, const fs::Place& whole) {
  if (whole.IsColumn() && place.IsColumn()) return place.IsOfSameColumn(whole);
  while (!(place == whole)) {
    if (place.kind == fs::PlaceKind::kRoot) return false;
    place = place.Parent();
  }
  return true;
}

// The latest of each kind, of the whole mount.
void TellAll(Session& session) {
  const auto kinds = session.filesystem.errors().Kinds(fs::CellfsDirectory::WhoseErrors());
  for (const fs::ErrorLog::Kind& kind : kinds) {
    json record = {{"time", kind.latest_time}, {"user", kind.user}, {"line", kind.latest}};
    if (kind.count > 1) {
      record["count"] = kind.count;
      record["since"] = kind.first_time;
    }
    if (!session.take(std::move(record))) return;
  }
}

// Single ones, in what the target names. Whether there were any.
bool TellSingle(Session& session, const fs::Place& target, bool follows) {
  const auto whose = fs::CellfsDirectory::WhoseErrors();
  uint64_t last = 0;
  bool is_any = false;
  while (true) {
    for (const fs::ErrorLog::Told& told : session.filesystem.errors().After(last, whose)) {
      last = told.number;
      if (!IsWithin(told.place, target)) continue;
      is_any = true;
      if (!session.take({{"time", told.time}, {"user", told.user}, {"line", told.line}}))
        return true;
    }
    if (!follows || *session.cancelled) return is_any;
    std::this_thread::sleep_for(kBetweenLooks);
    if (*session.cancelled) return is_any;
  }
}

// Where nothing is told the name may be mistyped. What could not be made is told of.
Status CheckNameIsThere(Session& session, const fs::Place& target) {
  if (!target.table.name.empty()) return session.store.DescribeTable(target.table).status();
  if (target.table.namespace_name.empty()) return {};
  return session.store.DescribeNamespace(target.table.namespace_name).status();
}

StatusOr<Answer> ServeErrors(Session& session, const Arguments& arguments) {
  if (session.mountpoint.empty())
    return NoMountOf(session.other_mounts, "a store that is not mounted refuses nothing");
  CELLFS_ASSIGN_OR_RETURN(const fs::Place target, PlaceOf(session, arguments));
  const bool follows = arguments.Flag("follow");
  if (target.kind == fs::PlaceKind::kRoot && !follows) {
    TellAll(session);
  } else if (!TellSingle(session, target, follows) && !follows) {
    CELLFS_RETURN_IF_ERROR(CheckNameIsThere(session, target));
  }
  return Answer::kDone;
}

// Who follows a mount is done when it ends; a daemon that died leaves a stale one.
StatusOr<int> Run(const Front& front, const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  const StatusOr<Answer> answer =
      CallAndPrint(front, kErrorsCommand, target, arguments.values());
  if (answer.ok()) return kExitDone;
  const bool has_ended = arguments.Flag("follow") &&
                         answer.status().code() == StatusCode::kOutcomeUnknown &&
                         !IsStale(target);
  return has_ended ? StatusOr<int>(kExitDone) : answer.status();
}

void PrintErrors(Printer& printer, const json& record) {
  std::string line = ShownTime(record["time"].get<Timestamp>()) + " " +
                     record["line"].get<std::string>();
  if (record.contains("count")) {
    line += "; " + std::to_string(record["count"].get<uint64_t>()) + " times since " +
            ShownTime(record["since"].get<Timestamp>());
  }
  printer.Line(line);
  printer.Finish();  // who follows waits for it
}

}  // namespace

const Command kErrorsCommand{
    .name = "errors",
    .group = Group::kMaintenance,
    .summary = "print what the mount has refused lately, and why",
    .description =
        "In what the path names. Others than root and the owner of the mount see their own.",
    .example = "errors ~/m\nerrors -f ~/m/default/notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a mount point, or what is in it");
          syntax.Flag("-f,--follow", "follow", "go on with what comes");
        },
    .only_reads = true,
    .serve = ServeErrors,
    .print = PrintErrors,
    .run = Run,
};

}  // namespace cellfs
