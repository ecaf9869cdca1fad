// SPDX-License-Identifier: MIT
//
// restore: makes a cell, a row, a family or a table what it was, by new versions. undelete: brings
// back what deletes hide.
#include "src/history/restore.h"

#include <utility>

#include "src/commands/all.h"
#include "src/commands/past.h"
#include "src/history/dropped_tables.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr char kNothingKept[] = "nothing that was deleted of it is still kept";

OnChange TellOf(Session& session) {
  return [&session](Change&& change) {
    json record = KeyOf(change.key());
    record["before"] = SideOf(std::move(change.before), ValueDetail::kLengths);
    record["after"] = SideOf(std::move(change.after), ValueDetail::kLengths);
    session.take(std::move(record));
    return true;  // whoever has gone, `cancelled` says so
  };
}

// Null where the caller may change everything.
RowWriter CheckerOf(Session& session, const Scope& scope) {
  if (!session.store.MayRefuse(session.caller)) return nullptr;
  return [&](RowMutations& mutations) {
    return session.store.CheckMayMutate(session.caller, scope.table, mutations);
  };
}

// A part of it is not what it was, or not back, and who looks at the exit code alone shall know.
bool TakeClosed(Session& session, const RestoreReport& report) {
  if (report.closed.count == 0) return false;
  session.take({{"passed_over", "of " + ShownColumns(report.closed) +
                                    " you may not read what was there: another's file had that "
                                    "name then; that was passed over, and is as it was"}});
  return true;
}

bool TakePassedOver(Session& session) {
  if (!session.store.has_passed_over()) return false;
  session.take({{"passed_over",
                 "some of it you may not read: that was passed over, and is as it was"}});
  return true;
}

json SumOf(const RestoreReport& report, bool dry_run) {
  return {{"rows", report.rows},
          {"puts", report.puts},
          {"deletes", report.deletes},
          {"dry_run", dry_run}};
}

StatusOr<Answer> ServeRestore(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto at, arguments.Time("at", session.Now()));
  if (!at) return Status(StatusCode::kIllegalArgument, "say --at TIME: as it was when");
  if (*at > session.Now()) {
    return Status(StatusCode::kIllegalArgument, "--at is " + ShownTime(*at) +
                                                    ", which is still to come; name a time "
                                                    "that is past");
  }
  CELLFS_RETURN_IF_ERROR(CheckIsNotDropped(AccessOf(session), scope, *at, *at));
  RestoreOptions options{.dry_run = arguments.Flag("dry_run"),
                         .despite_unknown = arguments.Flag("known"),
                         .writer = nullptr,
                         .checker = CheckerOf(session, scope)};
  CELLFS_ASSIGN_OR_RETURN(const RestoreReport report,
                          RestoreTo(AccessOf(session), scope, *at, options, TellOf(session)));
  if (report.refused) {
    return Status(StatusCode::kUnavailable,
                  Explained(report.unknown) + "; --known restores the rest, and leaves that as it is");
  }
  if (!report.unknown.empty()) session.take(UnknownRecord(report.unknown));
  if (report.deletes > 0 && report.puts == 0) TakeIfNotThere(session, scope, *at);
  session.take(SumOf(report, options.dry_run));
  const bool left_closed = TakeClosed(session, report);
  if (TakePassedOver(session) || left_closed) return Answer::kNo;
  if (report.rows > 0) return Answer::kDone;
  CELLFS_ASSIGN_OR_RETURN(const bool is_stored, IsStored(AccessOf(session), scope));
  return is_stored ? Answer::kDone : TakeNothing(session, kNothingStored);
}

// Of what an umount, or the death of the daemon, has ended between two rows.
Status WithRestoreRemedy(const Status& status) {
  const bool was_ended = status.code() == StatusCode::kCancelled ||
                         status.code() == StatusCode::kOutcomeUnknown;
  if (!was_ended) return status;
  return {status.code(),
          status.message() + "; what was done stays, and the same call again finishes it"};
}

StatusOr<int> RunRestore(const Front& front, const Arguments& arguments) {
  const StatusOr<Answer> answer =
      CallAndPrint(front, kRestoreCommand, arguments.Text("target"), arguments.values());
  if (!answer.ok()) return WithRestoreRemedy(answer.status());
  return ExitCodeOf(*answer);
}

StatusOr<int> RunUndelete(const Front& front, const Arguments& arguments) {
  const StatusOr<int> code = RunForTargets(front, arguments, kUndeleteCommand);
  if (!code.ok()) return WithRestoreRemedy(code.status());
  return code;
}

StatusOr<Answer> ServeUndelete(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  RestoreOptions options{.dry_run = arguments.Flag("dry_run"),
                         .writer = nullptr,
                         .checker = CheckerOf(session, scope)};
  CELLFS_ASSIGN_OR_RETURN(const RestoreReport report,
                          Undelete(AccessOf(session), scope, options, TellOf(session)));
  session.take(SumOf(report, options.dry_run));
  const bool left_closed = TakeClosed(session, report);
  // That there is something else is only for who has brought back a part.
  if (report.puts == 0) return left_closed ? Answer::kNo : TakeNothing(session, kNothingKept);
  const bool left_any = !options.dry_run && TakePassedOver(session);
  return left_any || left_closed ? Answer::kNo : Answer::kDone;
}

void PrintRestore(Printer& printer, const json& record) {
  if (PrintRemark(printer, record)) return;
  if (record.contains("puts")) {
    if (!printer.style().terminal) return;
    const std::string would = record["dry_run"].get<bool>() ? "would be " : "";
    printer.Line(std::to_string(record["puts"].get<uint64_t>()) + " put, " +
                 std::to_string(record["deletes"].get<uint64_t>()) + " deleted, in " +
                 std::to_string(record["rows"].get<uint64_t>()) + " rows" +
                 (would.empty() ? "" : " (nothing was changed)"));
  } else {
    PrintChange(printer, record);
  }
}

}  // namespace

const Command kRestoreCommand{
    .name = "restore",
    .group = Group::kHistory,
    .summary = "make a cell, a row or a table what it was, by new versions",
    .description =
        "Versions and deletes with timestamps up to TIME are what was then. "
        "Each row is one step, and the history is kept: a restore to a later time undoes it. "
        "Refuses, and changes nothing, where it cannot be known any more what was there, and says "
        "of which columns and why; likewise where the caller may not change all of it. What he may "
        "not read stays as it is, also what was another's file under the name, and the exit code is 1 "
        "then. After a kill the same call finishes it. "
        "Cells count as of their timestamps: what was copied in later with old times (cp -p, rsync -a, "
        "tar x, mv between rows) is not taken away, unless the table itself was not there. What left no "
        "trace was never there: of a name that was renamed or removed within an hour of its making, or "
        "was a temporary one, nothing comes back. The new name goes, and 'cellfs undelete NEWNAME' "
        "brings it back.",
    .example = "restore --at -2h --dry-run ~/m/default/notes\n"
               "restore --at -2h ~/m/default/notes/monday",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a cell, a row, a family or a table");
          syntax.Option("--at", "at", "TIME", "as it was then");
          syntax.Flag("--dry-run", "dry_run", "say what would change, and change nothing");
          syntax.Flag("--known", "known", "also where a part cannot be known: that stays as it is");
        },
    .goes_on = true,
    .serve = ServeRestore,
    .print = PrintRestore,
    .run = RunRestore,
};

const Command kUndeleteCommand{
    .name = "undelete",
    .group = Group::kHistory,
    .summary = "bring back what was deleted and is still kept; 1: nothing is",
    .description =
        "Each deleted column whose last value is still kept gets that value again, as a new "
        "version, also where an older one shows since it alone was deleted: of a table all that was "
        "ever deleted and is kept. To what it was at a time, 'cellfs restore --at TIME' brings it. What "
        "the caller may not read is passed over; where something else came back the exit code is 1 "
        "then.",
    .example = "undelete ~/m/default/notes/monday/text/list\nundelete --dry-run ~/m/default/notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Targets("cells, rows, families or tables");
          syntax.Flag("--dry-run", "dry_run", "say what would come back, and change nothing");
        },
    .goes_on = true,
    .serve = ServeUndelete,
    .print = PrintRestore,
    .run = RunUndelete,
};

}  // namespace cellfs
