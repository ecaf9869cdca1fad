// SPDX-License-Identifier: MIT
//
// What the commands of the group "History" have in common: what they are about, and how they show
// changes of values.
#ifndef CELLFS_SRC_COMMANDS_PAST_H_
#define CELLFS_SRC_COMMANDS_PAST_H_

#include <optional>
#include <string>

#include "src/commands/command.h"
#include "src/history/scope.h"
#include "src/history/states.h"
#include "src/history/tables_then.h"
#include "src/history/unknown.h"

namespace cellfs {

// The table, row, family or column that the target's path names. kIllegalArgument: another place.
StatusOr<Scope> ScopeOf(const Session& session, const Arguments& arguments);
HistoryAccess AccessOf(const Session& session);

// The catalog of then is the daemon's: what is told of it is what the names in a namespace were,
// which the caller may list.
CatalogAt CatalogAtOf(const Session& session);
// Of a time that is asked about: CheckHadItsName and CheckIsNotDropped.
Status CheckIsThatOf(const Session& session, const Scope& scope, Timestamp time);

// {"row", "family", "qualifier"}
nlohmann::json KeyOf(const Cell& cell);
// With {"timestamp", "size", "value"}, the last where `detail` says so; null for nullopt. Of what
// the caller may not read "closed" stands in its place.
nlohmann::json SideOf(std::optional<Cell>&& cell, ValueDetail detail);

// "12 B" of a side, "12 B (closed to you)".
std::string ShownSizeOf(const nlohmann::json& side);
// "monday text:list", "ns:notes monday text:list" where the record names its table.
std::string ShownKey(const nlohmann::json& record);
// The difference between record["before"] and record["after"]: of text, line by line; of other
// bytes, their sizes.
void PrintDifference(Printer& printer, const nlohmann::json& record);
// A line for a changed column: "+ monday text:list  12 B".
void PrintChange(Printer& printer, const nlohmann::json& record);

// "2 columns (monday text:list, monday text:todo)"
std::string ShownColumns(const ToldColumns& columns);
// In one line.
std::string Explained(const Unknown& unknown);
// {"unknown": "..."}: what the records before it leave out.
nlohmann::json UnknownRecord(const Unknown& unknown);

// A line on standard error beside what was told; false: `record` is none of these.
bool PrintRemark(Printer& printer, const nlohmann::json& record);
// {"not_there": "...", "made": milliseconds}, where the table was not there at that time.
void TakeIfNotThere(Session& session, const Scope& scope, Timestamp time);
// {"nothing": "..."}: why the answer is "no". Its caller adds what he named, {"target": "..."}.
Answer TakeNothing(Session& session, const char* reason);

// Whether a version or a delete of it is stored: a mistyped name has none.
StatusOr<bool> IsStored(const HistoryAccess& access, const Scope& scope);
inline constexpr char kNothingStored[] = "no version and no delete of it is stored";

// Each of the targets in turn, with `serve` of the command: the highest exit code.
StatusOr<int> RunForTargets(const Front& front, const Arguments& arguments,
                            const Command& command);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_PAST_H_
