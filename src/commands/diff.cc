// SPDX-License-Identifier: MIT
//
// diff: what differs between two times.
#include <utility>
#include <vector>

#include "src/commands/all.h"
#include "src/commands/past.h"
#include "src/commands/target.h"
#include "src/history/dropped_tables.h"
#include "src/history/log.h"

namespace cellfs {
namespace {

using nlohmann::json;

// nullopt: there was none.
StatusOr<std::optional<Cell>> LastChange(const HistoryAccess& access, const Scope& scope) {
  std::optional<Cell> last;
  CELLFS_RETURN_IF_ERROR(ReadLog(access, scope, {.limit = 1}, [&](Event&& event) {
    last = std::move(event.cell);
    return true;
  }));
  return last;
}

// That of the first time at which not everything is known.
StatusOr<Unknown> UnknownAt(Session& session, const Scope& scope,
                            const std::vector<HistoryTime>& times) {
  for (const HistoryTime time : times) {
    if (!time || *time > session.Now()) continue;
    CELLFS_ASSIGN_OR_RETURN(Unknown unknown, FindUnknown(AccessOf(session), scope, *time));
    if (!unknown.empty()) return unknown;
  }
  return Unknown();
}

StatusOr<Answer> ServeDiff(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  const HistoryAccess access = AccessOf(session);
  CELLFS_ASSIGN_OR_RETURN(HistoryTime before, arguments.Time("at", session.Now()));
  CELLFS_ASSIGN_OR_RETURN(const HistoryTime after, arguments.Time("to", session.Now()));
  if (after && !before)
    return Status(StatusCode::kIllegalArgument, "--to goes with --at: from when, to when");
  if (before && after && *before > *after)
    return Status(StatusCode::kIllegalArgument, "--at is later than --to");
  if (!before) {
    CELLFS_RETURN_IF_ERROR(
        CheckIsNotDropped(access, CatalogAtOf(session), scope, 0, session.Now()));
  }
  for (const HistoryTime& time : {before, after})
    if (time) CELLFS_RETURN_IF_ERROR(CheckIsThatOf(session, scope, *time));
  bool differs = false;
  bool is_all_new = true;
  const OnChange take = [&](Change&& change) {
    differs = true;
    is_all_new &= change.is_added();
    json record = KeyOf(change.key());
    record["before"] = SideOf(std::move(change.before), ValueDetail::kValues);
    record["after"] = SideOf(std::move(change.after), ValueDetail::kValues);
    return session.take(std::move(record));
  };
  if (!before) {
    CELLFS_ASSIGN_OR_RETURN(const auto last, LastChange(access, scope));
    if (!last) return TakeNothing(session, kNothingStored);
    if (IsVersionTombstone(last->type)) {
      CELLFS_RETURN_IF_ERROR(
          ReadVersionDeletes(access, scope, last->timestamp, ValueDetail::kValues, take));
      if (differs) return Answer::kNo;
      before = last->timestamp;
    } else {
      before = last->timestamp - 1;
    }
  }
  CELLFS_RETURN_IF_ERROR(ReadDifferences(access, scope, before, after, ValueDetail::kValues, take));
  CELLFS_ASSIGN_OR_RETURN(const Unknown unknown, UnknownAt(session, scope, {before, after}));
  if (!unknown.empty() && !differs) return Status(StatusCode::kUnavailable, Explained(unknown));
  if (!unknown.empty()) session.take(UnknownRecord(unknown));
  if (differs && is_all_new) TakeIfNotThere(session, scope, *before);
  if (differs) return Answer::kNo;
  CELLFS_ASSIGN_OR_RETURN(const bool is_stored, IsStored(access, scope));
  return is_stored ? Answer::kDone : TakeNothing(session, kNothingStored);
}

void Print(Printer& printer, const json& record) {
  if (!PrintRemark(printer, record)) PrintDifference(printer, record);
}

}  // namespace

const Command kDiffCommand{
    .name = "diff",
    .group = Group::kHistory,
    .summary = "print what differs between two times; 1: something does",
    .description =
        "Text is compared line by line; of other bytes the sizes are told. Without times it "
        "prints what the last change has changed. Cells count as of their timestamps: what was copied "
        "in later with old times (cp -p, rsync -a, tar x, mv between rows) is no difference. What left "
        "no trace, as a name that was renamed or removed within an hour of its making, was never there.",
    .example = "diff ~/m/default/notes/monday/text/list\ndiff --at -2h ~/m/default/notes\n"
               "diff --at '2026-11-21 18:00' --to yesterday ~/m/default/notes/monday",
    .syntax =
        [](Syntax& syntax) {
          syntax.Targets("a cell, a row, a family or a table");
          syntax.Option("--at", "at", "TIME", "from that time; else from before the last change");
          syntax.Option("--to", "to", "TIME", "to that time; else to now");
        },
    .is_paged = true,
    .prints_no = true,
    .only_reads = true,
    .serve = ServeDiff,
    .print = Print,
    .run = [](const Front& front,
              const Arguments& arguments) { return RunForTargets(front, arguments, kDiffCommand); },
};

}  // namespace cellfs
