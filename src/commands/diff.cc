// SPDX-License-Identifier: MIT
//
// diff: what differs between two times.
#include <utility>

#include "src/commands/all.h"
#include "src/commands/past.h"
#include "src/history/log.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Just before the last change; nullopt: there was none.
StatusOr<std::optional<Timestamp>> BeforeLastChange(const HistoryAccess& access,
                                                    const Scope& scope) {
  std::optional<Timestamp> time;
  CELLFS_RETURN_IF_ERROR(ReadLog(access, scope, {.limit = 1}, [&](const Event& event) {
    time = event.cell.timestamp - 1;
    return true;
  }));
  return time;
}

StatusOr<Answer> Serve(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  const HistoryAccess access = AccessOf(session);
  CELLFS_ASSIGN_OR_RETURN(HistoryTime before, arguments.Time("at", session.Now()));
  CELLFS_ASSIGN_OR_RETURN(const HistoryTime after, arguments.Time("to", session.Now()));
  if (after && !before)
    return Status(StatusCode::kIllegalArgument, "--to goes with --at: from when, to when");
  if (!before) {
    CELLFS_ASSIGN_OR_RETURN(before, BeforeLastChange(access, scope));
    if (!before) return Answer::kNo;  // there never was anything
  }
  bool differs = false;
  CELLFS_RETURN_IF_ERROR(ReadDifferences(
      access, scope, before, after, ValueDetail::kValues, [&](Change&& change) {
        differs = true;
        json record = KeyOf(change.key());
        record["before"] = SideOf(std::move(change.before), ValueDetail::kValues);
        record["after"] = SideOf(std::move(change.after), ValueDetail::kValues);
        return session.take(std::move(record));
      }));
  return differs ? Answer::kNo : Answer::kDone;
}

}  // namespace

const Command kDiffCommand{
    .name = "diff",
    .group = Group::kHistory,
    .summary = "print what differs between two times; 1: something does",
    .description =
        "Text is compared line by line; of other bytes the sizes are told. Without times it "
        "prints what the last change has changed.",
    .example = "diff ~/m/default/notes/monday/text/list\ndiff --at -2h ~/m/default/notes\n"
               "diff --at '2026-11-21 18:00' --to yesterday ~/m/default/notes/monday",
    .syntax =
        [](Syntax& syntax) {
          syntax.Targets("a cell, a row, a family or a table");
          syntax.Option("--at", "at", "TIME", "from that time; else from before the last change");
          syntax.Option("--to", "to", "TIME", "to that time; else to now");
        },
    .is_paged = true,
    .serve = Serve,
    .print = PrintDifference,
    .run = [](const Front& front,
              const Arguments& arguments) { return RunForTargets(front, arguments, kDiffCommand); },
};

}  // namespace cellfs
