// SPDX-License-Identifier: MIT
#include "src/commands/restoring.h"

#include <utility>

#include "fs/base/owner_and_mode.h"
#include "src/history/tables_then.h"

namespace cellfs {

using nlohmann::json;

OnChange TellOf(Session& session, const std::string& table) {
  return [&session, table](Change&& change) {
    json record = KeyOf(change.key());
    if (!table.empty()) record["table"] = table;
    record["before"] = SideOf(std::move(change.before), ValueDetail::kLengths);
    record["after"] = SideOf(std::move(change.after), ValueDetail::kLengths);
    session.take(std::move(record));
    return true;  // whoever has gone, `cancelled` says so
  };
}

RowWriter CheckerOf(Session& session, const Scope& scope, bool dry_run) {
  if (dry_run && session.filesystem.parts().options.read_only) return nullptr;
  return [&](RowMutations& mutations) {
    return session.store.CheckMayMutate(session.caller, scope.table, mutations);
  };
}

IsAnothers IsAnothersIn(Session& session, const TableName& table) {
  return [&session, table](const Cell& put) -> StatusOr<bool> {
    const fs::Reading& reading = session.filesystem.parts().reading;
    const fs::Place column = fs::CellPlace(table, put.row, put.family, put.qualifier);
    const fs::Place version = column.As(fs::PlaceKind::kVersion, put.timestamp);
    CELLFS_ASSIGN_OR_RETURN(const fs::OwnerAndMode now, reading.FindOwner(column));
    CELLFS_ASSIGN_OR_RETURN(const fs::OwnerAndMode then, reading.FindOwnerOfVersion(version));
    return then.uid != now.uid || !fs::MayInherit(now, then);
  };
}

bool TakeLeft(Session& session, const RestoreReport& report) {
  if (!report.unknown.empty()) session.take(UnknownRecord(report.unknown));
  if (report.closed.count > 0) {
    session.take({{"passed_over", "of " + ShownColumns(report.closed) +
                                      " you may not read what was there: another's file had that "
                                      "name then; that was passed over, and is as it was"}});
  }
  if (report.anothers.count > 0) {
    session.take({{"passed_over", "of " + ShownColumns(report.anothers) +
                                      " what was there was another's file, or closed to more users, "
                                      "and would become a file like the one that has the name now: "
                                      "that is as it was; 'cp -a' of it from below .asof brings it "
                                      "elsewhere, with its owner and mode"}});
  }
  return !report.unknown.empty() || report.closed.count + report.anothers.count > 0;
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

StatusOr<RestoreReport> RestoreAsTold(Session& session, const Scope& scope,
                                      const RestoreWords& words, const RowWriter& checker,
                                      const OnChange& on_change) {
  const RestoreOptions options{.dry_run = words.dry_run,
                               .despite_unknown = words.known,
                               .writer = nullptr,
                               .checker = checker,
                               .is_anothers = IsAnothersIn(session, scope.table)};
  CELLFS_ASSIGN_OR_RETURN(RestoreReport report, RestoreTo(AccessOf(session), scope, words.at,
                                                          options, on_change));
  if (!report.refused) return report;
  return Status(StatusCode::kUnavailable,
                Explained(report.unknown) +
                    "; --known restores the rest, and leaves that as it is");
}

namespace {

Status OfTable(const Status& status, const TableName& table) {
  if (status.ok()) return status;
  const std::string named = "table '" + table.ToString() + "'";
  if (status.message().find(named) != std::string::npos) return status;
  return {status.code(), named + ": " + status.message()};
}

Status NothingChanged(const Status& status) {
  constexpr std::string_view kNothing = "nothing was changed";
  if (status.ok() || status.message().find(kNothing) != std::string::npos) return status;
  return {status.code(), status.message() + "; " + std::string(kNothing)};
}

StatusOr<TablesThen> FindTables(Session& session, const std::optional<std::string>& namespace_name,
                                Timestamp at) {
  CELLFS_ASSIGN_OR_RETURN(
      TablesThen tables,
      FindTablesThen(AccessOf(session), CatalogAtOf(session), namespace_name, at));
  std::erase_if(tables.there, [&](const TableName& table) {
    const bool is_closed =
        !session.store.CheckMayRead(session.caller, fs::TablePlace(table)).ok();
    if (is_closed) tables.others.push_back(ClosedTable(table));
    return is_closed;
  });
  return tables;
}

Status CheckTable(Session& session, const TableName& table, RestoreWords words) {
  const Scope scope{.table = table, .row = {}, .family = {}, .qualifier = {}};
  const RowWriter checker = CheckerOf(session, scope, words.dry_run);
  words.dry_run = true;
  const OnChange nothing = [](Change&&) { return true; };
  return RestoreAsTold(session, scope, words, checker, nothing).status();
}

}  // namespace

StatusOr<Answer> RestoreTables(Session& session, const std::optional<std::string>& namespace_name,
                               const RestoreWords& words) {
  CELLFS_ASSIGN_OR_RETURN(const TablesThen tables,
                          FindTables(session, namespace_name, words.at));
  for (const TableName& table : tables.there)
    CELLFS_RETURN_IF_ERROR(NothingChanged(OfTable(CheckTable(session, table, words), table)));
  RestoreReport sum;
  bool left_any = false;
  for (const TableName& table : tables.there) {
    const Scope scope{.table = table, .row = {}, .family = {}, .qualifier = {}};
    const auto report =
        RestoreAsTold(session, scope, words, nullptr, TellOf(session, table.ToString()));
    CELLFS_RETURN_IF_ERROR(OfTable(report.status(), table));
    left_any |= TakeLeft(session, *report);
    sum.rows += report->rows;
    sum.puts += report->puts;
    sum.deletes += report->deletes;
  }
  session.take(SumOf(sum, words.dry_run));
  left_any |= TakePassedOver(session);
  for (const std::string& line : tables.others) session.take({{"not_restored", line}});
  return left_any || !tables.others.empty() ? Answer::kNo : Answer::kDone;
}

}  // namespace cellfs
