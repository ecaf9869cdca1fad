// SPDX-License-Identifier: MIT
//
// restore: makes a cell, a row, a family or a table what it was, by new versions. undelete: brings
// back what deletes hide.
#include "src/history/restore.h"

#include <optional>

#include "src/commands/all.h"
#include "src/commands/past.h"
#include "src/commands/restoring.h"
#include "src/commands/target.h"
#include "src/history/dropped_tables.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr char kNothingKept[] = "nothing that was deleted of it is still kept";

StatusOr<RestoreWords> WordsOf(const Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto at, arguments.Time("at", session.Now()));
  if (!at) return Status(StatusCode::kIllegalArgument, "say --at TIME: as it was when");
  if (*at > session.Now()) {
    return Status(StatusCode::kIllegalArgument, "--at is " + ShownTime(*at) +
                                                    ", which is still to come; name a time "
                                                    "that is past");
  }
  return RestoreWords{*at, arguments.Flag("dry_run"), arguments.Flag("known")};
}

// Plain digits that were meant as seconds are a time of 1970, when no table was there: each would be
// emptied.
Status CheckIsNoTimeInSeconds(Session& session, const Scope& scope, Timestamp at) {
  constexpr Timestamp kLongestSeconds = 10'000'000'000;
  if (at >= kLongestSeconds || !StoreKnowledge::Ask(session.store, scope.table).WasNotThere(at))
    return {};
  return {StatusCode::kIllegalArgument,
          std::to_string(at) + " are milliseconds, " + ExactTime(at) +
              ", when the table was not there; for seconds: --at @" + std::to_string(at)};
}

StatusOr<Answer> RestoreScope(Session& session, const Scope& scope, const RestoreWords& words) {
  CELLFS_RETURN_IF_ERROR(CheckIsThatOf(session, scope, words.at));
  CELLFS_RETURN_IF_ERROR(CheckIsNoTimeInSeconds(session, scope, words.at));
  CELLFS_ASSIGN_OR_RETURN(
      const RestoreReport report,
      RestoreAsTold(session, scope, words, CheckerOf(session, scope, words.dry_run),
                    TellOf(session)));
  if (report.deletes > 0 && report.puts == 0) TakeIfNotThere(session, scope, words.at);
  session.take(SumOf(report, words.dry_run));
  const bool left_any = TakeLeft(session, report);
  if (TakePassedOver(session) || left_any) return Answer::kNo;
  if (report.rows > 0) return Answer::kDone;
  CELLFS_ASSIGN_OR_RETURN(const bool is_stored, IsStored(AccessOf(session), scope));
  return is_stored ? Answer::kDone : TakeNothing(session, kNothingStored);
}

StatusOr<Answer> ServeRestore(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const RestoreWords words, WordsOf(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  if (place.kind == fs::PlaceKind::kRoot) return RestoreTables(session, std::nullopt, words);
  if (place.kind == fs::PlaceKind::kNamespace)
    return RestoreTables(session, place.table.namespace_name, words);
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  return RestoreScope(session, scope, words);
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
  const bool dry_run = arguments.Flag("dry_run");
  RestoreOptions options{.dry_run = dry_run,
                         .writer = nullptr,
                         .checker = CheckerOf(session, scope, dry_run),
                         .is_anothers = IsAnothersIn(session, scope.table)};
  CELLFS_ASSIGN_OR_RETURN(const RestoreReport report,
                          Undelete(AccessOf(session), scope, options, TellOf(session)));
  session.take(SumOf(report, options.dry_run));
  const bool left_any = TakeLeft(session, report);
  // That there is something else is only for who has brought back a part.
  if (report.puts == 0) return left_any ? Answer::kNo : TakeNothing(session, kNothingKept);
  const bool left_more = !options.dry_run && TakePassedOver(session);
  return left_any || left_more ? Answer::kNo : Answer::kDone;
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
    .summary = "make a cell, a row, a table or a namespace what it was, by new versions",
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
        "brings it back. Of a namespace, or the whole store, each table that is there and was then is "
        "restored; of one that was dropped, renamed or made since a line says what to do, and the exit "
        "code is 1. Owners, modes and times stay as they are: 'rsync -a --existing --size-only "
        "--exclude=.schema.toml TABLE/.asof/TIME/ TABLE/' brings those of then.",
    .example = "restore --at -2h --dry-run ~/m/default/notes\n"
               "restore --at -2h ~/m/default/notes/monday",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a cell, a row, a family, a table, or all tables of a namespace or store");
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
        "then. Owner and mode are those that the name has; 'cp -a' or 'mv' out of .deleted brings the "
        "times too.",
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
