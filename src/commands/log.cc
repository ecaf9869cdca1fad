// SPDX-License-Identifier: MIT
//
// log: what happened to a cell, a row, a family or a table.
#include <utility>

#include "src/commands/all.h"
#include "src/commands/past.h"
#include "src/history/dropped_tables.h"
#include "src/history/log.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr int64_t kEvents = 100;
constexpr int64_t kMostEvents = 10000;  // that are kept to be put in order

json RecordOf(Event&& event, const LogOptions& options) {
  json record = KeyOf(event.cell);
  record["timestamp"] = event.cell.timestamp;
  record["type"] = TypeName(event.cell.type);
  if (!IsTombstone(event.cell.type)) record["size"] = event.cell.value_length;
  if (event.cell.time_to_live != kNoCellTtl) record["ttl"] = event.cell.time_to_live;
  if (!options.with_before) return record;
  record["before"] = SideOf(std::move(event.before), options.detail);
  const bool is_put = !IsTombstone(event.cell.type);
  const ValueDetail detail = event.value_is_gone ? ValueDetail::kLengths : options.detail;
  record["after"] = is_put ? SideOf(std::move(event.cell), detail) : json();
  if (event.value_is_gone) record["value_is_gone"] = true;
  return record;
}

StatusOr<Answer> ServeLog(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  LogOptions options;
  CELLFS_ASSIGN_OR_RETURN(const int64_t limit,
                          arguments.NumberOr("limit", 0, kMostEvents, kEvents));
  options.limit = static_cast<size_t>(limit);
  CELLFS_ASSIGN_OR_RETURN(const auto since, arguments.Time("since", session.Now()));
  CELLFS_ASSIGN_OR_RETURN(const auto until, arguments.Time("until", session.Now()));
  options.since = since.value_or(options.since);
  options.until = until.value_or(options.until);
  if (options.since > options.until)
    return Status(StatusCode::kIllegalArgument, "--since is later than --until");
  const HistoryAccess access = AccessOf(session);
  CELLFS_RETURN_IF_ERROR(CheckIsNotDropped(access, CatalogAtOf(session), scope, options.since,
                                           options.until));
  options.with_before = arguments.Flag("patch");
  options.detail = options.with_before ? ValueDetail::kValues : ValueDetail::kLengths;
  bool is_any = false;
  CELLFS_RETURN_IF_ERROR(
      ReadLog(access, scope, options, [&](Event&& event) {
        is_any = true;
        return session.take(RecordOf(std::move(event), options));
      }));
  return is_any ? Answer::kDone : Answer::kNo;
}

const char* ShownType(const std::string& type) {
  if (type == "Put") return "put";
  if (type == "Delete") return "delete version";
  if (type == "DeleteColumn") return "delete";
  if (type == "DeleteFamily") return "delete family";
  return "delete version of family";
}

void PrintLog(Printer& printer, const json& event) {
  const std::string type = event["type"];
  const bool is_put = type == "Put";
  std::string details = is_put ? ShownSize(event["size"].get<uint64_t>()) : "";
  if (event.contains("ttl"))
    details += ", gone after " + std::to_string(event["ttl"].get<int64_t>()) + " ms";
  std::vector<std::string> fields = {
      ShownTime(event["timestamp"].get<Timestamp>()),
      std::to_string(event["timestamp"].get<Timestamp>()),
      printer.In(is_put ? Colour::kGreen : Colour::kRed, ShownType(type)), ShownKey(event)};
  if (!details.empty()) fields.push_back(details);
  printer.Row(std::move(fields));
  if (!event.contains("before")) return;
  if (event.value("value_is_gone", false)) {
    printer.Line("the value is no longer kept");
  } else if (is_put || !event["before"].is_null()) {
    PrintDifference(printer, event);
  }
  printer.Line("");
}

}  // namespace

const Command kLogCommand{
    .name = "log",
    .group = Group::kHistory,
    .summary = "print what happened to a cell, a row, a family or a table",
    .description =
        "Versions and deletes: when, what, and how long the value is. What a compaction has removed "
        "is not known any more. Of what was another's, and the caller may not read, the size is told "
        "alone.",
    .example = "log ~/m/default/notes/monday/text/list\nlog -p ./list\n"
               "log --since yesterday -n 0 ~/m/default/notes",
    .no = "no version and no delete of it is stored, or none in that time",
    .syntax =
        [](Syntax& syntax) {
          syntax.Targets("what to tell of; it need not be there any more");
          syntax.Option("-n,--limit", "limit", "N",
                        "the newest N (100; at most 10000), newest first; 0: all, row by row");
          syntax.Option("--since", "since", "TIME", "nothing earlier");
          syntax.Option("--until", "until", "TIME", "nothing later");
          syntax.Flag("-p,--patch", "patch", "what changed, too");
        },
    .is_paged = true,
    .only_reads = true,
    .serve = ServeLog,
    .print = PrintLog,
    .run = [](const Front& front,
              const Arguments& arguments) { return RunForTargets(front, arguments, kLogCommand); },
};

}  // namespace cellfs
