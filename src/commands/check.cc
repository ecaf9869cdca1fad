// SPDX-License-Identifier: MIT
//
// check: reads all of a store, also of a mounted one, and says what is damaged. Stored names appear
// as the mount spells them, with control bytes escaped.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/check.h"
#include "engine/repair.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/name_spelling.h"
#include "src/commands/all.h"
#include "src/commands/progress.h"
#include "src/commands/target.h"
#include "src/mount/store_name.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::string RowName(const std::string& row) {
  return fs::NameSpelling(fs::NameLevel::kRow, fs::NameMode::kPrintable).Spell(row);
}

std::string QualifierName(const std::string& qualifier) {
  return fs::NameSpelling(fs::NameLevel::kQualifier, fs::NameMode::kPrintable).Spell(qualifier);
}

// "default/t/row/f/q@17", as far as it is known.
std::string PathOf(const Damage& damage) {
  std::string path;
  if (!damage.table) return path;
  path = damage.table->namespace_name + "/" + damage.table->name;
  if (damage.cell) {
    path += "/" + RowName(damage.cell->row) + "/" + damage.family + "/" +
            QualifierName(damage.cell->qualifier) + "@" + std::to_string(damage.cell->timestamp);
  } else if (!damage.family.empty()) {
    path += ", family " + damage.family;
  }
  if (damage.between_rows) {
    const auto& [before, behind] = *damage.between_rows;
    path += before.empty() ? ", from the first row" : ", from row " + RowName(before);
    path += behind.empty() ? " to the last" : " to row " + RowName(behind);
  }
  return path;
}

constexpr char kGivesUpTable[] =
    "'cellfs disable' and 'cellfs drop' give the table up, and 'rm -r' of its name in .deleted "
    "what is kept of it; of one that was dropped already that alone";
constexpr char kGivesUpOwners[] =
    "'cellfs check --repair --forget-owners' gives up all owners, modes and times";

bool IsOfOwners(const TableName& table) { return table.namespace_name == fs::kHiddenNamespace; }

// The table of owners, modes and times cannot be dropped; it can be given up.
std::string RemedyOf(const Damage& damage) {
  if (damage.has_all_cells) return damage.remedy;
  if (damage.table && IsOfOwners(*damage.table))
    return "the same files from a backup help, put in place while the store is not mounted; of a "
           "MANIFEST alone 'cellfs check --repair'; without either " +
           std::string(kGivesUpOwners);
  if (!damage.file.ends_with(".db")) return damage.remedy;
  // A table that lacks a file is not opened; one whose file is damaged is.
  const bool is_missing = damage.what == "it is missing";
  return "the same file from a backup helps, put in place while the store is not mounted; without "
         "one " +
         std::string(is_missing ? "put an empty file there, mode 0600, and " : "") +
         "copy what can be read to another table; then " + kGivesUpTable;
}

json JsonOf(const Damage& damage) {
  json found = {{"file", damage.file}, {"what", damage.what}, {"remedy", RemedyOf(damage)}};
  if (damage.table) found["table"] = damage.table->ToString();
  if (!damage.family.empty()) found["family"] = damage.family;
  if (damage.cell) {
    found["row"] = RowName(damage.cell->row);
    found["qualifier"] = QualifierName(damage.cell->qualifier);
    found["timestamp"] = damage.cell->timestamp;
  }
  if (damage.between_rows) {
    const auto& [before, behind] = *damage.between_rows;
    if (!before.empty()) found["after_row"] = RowName(before);
    if (!behind.empty()) found["before_row"] = RowName(behind);
  }
  return found;
}

std::string CheckText(const CheckReport& report) {
  std::string text;
  for (const Damage& damage : report.damage) {
    const std::string path = PathOf(damage);
    const std::string remedy = RemedyOf(damage);
    text += damage.file + ": " + (path.empty() ? "" : path + ": ") + damage.what +
            (remedy.empty() ? "" : "; " + remedy) + "\n";
  }
  return text + std::to_string(report.cells) + " cells and " + std::to_string(report.log_records) +
         " records of the log read; " +
         (report.damage.empty() ? "no damage"
                                : std::to_string(report.damage.size()) +
                                      (report.damage.size() == 1 ? " finding" : " findings") +
                                      " of damage; what helps is in storage.md, \"Damage "
                                      "and recovery\"") +
         "\n";
}

std::string CheckJson(const CheckReport& report) {
  json damage = json::array();
  for (const Damage& found : report.damage) damage.push_back(JsonOf(found));
  return json({{"damage", damage}, {"log_records", report.log_records}, {"cells", report.cells}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string LogRepairText(const LogRepair& repair, RepairMode mode) {
  const bool acts = mode == RepairMode::kAct;
  const std::string becomes = acts ? "was" : "would be";
  std::string text = "the log: " + repair.damage + "\n";
  for (const std::string& segment : repair.headers)
    text += "  the header of wal/" + segment + " " + becomes + " made anew\n";
  if (!repair.headers.empty())
    text += "  " + std::to_string(repair.saved) + " whole records behind that are not lost\n";
  for (const std::string& segment : repair.notes)
    text += "  what is damaged in wal/" + segment + " is a note of the log; it " + becomes +
            " passed over, and no record is lost\n";
  for (const std::string& segment : repair.ends)
    text += "  what is damaged lies behind the last record of wal/" + segment + "; it " + becomes +
            " cut off, and no record with it: the next segment begins there\n";
  if (repair.is_short)
    text += "  it " + becomes + " taken as it is: what was written behind its end " +
            (acts ? "is" : "would be") + " only where a table was flushed since\n";
  if (!repair.is_cut) return text;
  text += "  it " + becomes + " cut where the damage begins; " + std::to_string(repair.records) +
          " whole records behind that ";
  if (repair.kept.empty()) return text + "are known\n";
  text += acts ? "are in no table now" : "would be in no table";
  text += "; they, and what is damaged, " + std::to_string(repair.bytes) + " bytes in all, " +
          (acts ? "are" : "would be") + " kept in";
  for (const std::string& file : repair.kept) text += " wal/" + file;
  return text + "\n";
}

std::string TableRepairText(const TableRepair& repair, RepairMode mode) {
  std::string text = repair.table.ToString() + ": " + repair.damage + "\n";
  if (repair.obstacle.empty()) {
    text += std::string("  its MANIFEST ") + (mode == RepairMode::kAct ? "was" : "would be") +
            " made of ";
    for (const std::string& file : repair.files) text += file + " ";
    text += repair.files.empty() ? "no file\n" : "\n";
  } else {
    text += "  it is left as it is: " + repair.obstacle +
            "; what is missing from a backup helps; without one " +
            (IsOfOwners(repair.table) ? kGivesUpOwners : kGivesUpTable) + "\n";
  }
  for (const std::string& note : repair.notes) text += "  " + note + "\n";
  return text;
}

std::string RepairText(const StoreRepair& repair, RepairMode mode) {
  std::string text;
  for (const TableRepair& table : repair.tables) text += TableRepairText(table, mode);
  if (repair.log) text += LogRepairText(*repair.log, mode);
  const bool can_act =
      repair.log || std::any_of(repair.tables.begin(), repair.tables.end(),
                                [](const TableRepair& table) { return table.obstacle.empty(); });
  if (can_act && mode == RepairMode::kPlan)
    text += "nothing was changed; --yes does it. Make a copy of the store before\n";
  return text;
}

std::string JsonLine(const json& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// A line for each table, and one for the log.
std::string RepairJson(const StoreRepair& repair) {
  std::string lines;
  for (const TableRepair& table : repair.tables)
    lines += JsonLine({{"table", table.table.ToString()},
                       {"damage", table.damage},
                       {"files", table.files},
                       {"notes", table.notes},
                       {"obstacle", table.obstacle}});
  if (repair.log)
    lines += JsonLine({{"log", "wal"},
                       {"damage", repair.log->damage},
                       {"headers", repair.log->headers},
                       {"saved", repair.log->saved},
                       {"ends", repair.log->ends},
                       {"passed_over", repair.log->notes},
                       {"is_short", repair.log->is_short},
                       {"is_cut", repair.log->is_cut},
                       {"records", repair.log->records},
                       {"bytes", repair.log->bytes},
                       {"kept", repair.log->kept}});
  return lines;
}

bool IsDamageLeft(const StoreRepair& repair, RepairMode mode) {
  if (mode == RepairMode::kPlan) return repair.log || !repair.tables.empty();
  return std::any_of(repair.tables.begin(), repair.tables.end(),
                     [](const TableRepair& table) { return !table.obstacle.empty(); });
}

// What keeps the store from being looked at is damage like any other.
StatusOr<CheckReport> ReportOn(const std::string& store) {
  std::optional<Progress> progress;
  StatusOr<CheckReport> report = CheckLocalStore(store, [&](const CheckProgress& now) {
    if (!progress) progress.emplace(now.total);
    progress->Show(now.cells, now.bytes);
    return true;
  });
  if (report.status().code() != StatusCode::kCorruption) return report;
  CheckReport unreadable;
  unreadable.damage.push_back({.file = "store", .what = report.status().message()});
  return unreadable;
}

// Where there is nothing left to repair: what else is damaged, which nothing is known to make anew.
StatusOr<int> TellOfTheRest(const Front& front, const std::string& store) {
  CELLFS_ASSIGN_OR_RETURN(const CheckReport report, ReportOn(store));
  const bool is_whole = report.damage.empty();
  if (!front.printer.style().json) {
    front.printer.Line("every table has its manifest, and the log can be read");
    front.printer.Bytes(CheckText(report));
  } else if (!is_whole) {
    front.printer.Bytes(CheckJson(report) + '\n');
  }
  return is_whole ? kExitDone : kExitNo;
}

// Of a store that is not mounted. Without --yes it only says what it would do.
StatusOr<int> Repair(const Front& front, const Arguments& arguments, const std::string& store) {
  const RepairMode mode = arguments.Flag("yes") ? RepairMode::kAct : RepairMode::kPlan;
  const StatusOr<StoreRepair> repaired = RepairLocalStore(store, mode);
  if (repaired.status().code() == StatusCode::kUnavailable)
    CELLFS_RETURN_IF_ERROR(CheckIsFree(store));  // says where it is mounted
  CELLFS_ASSIGN_OR_RETURN(const StoreRepair repair, repaired);
  if (!repair.log && repair.tables.empty()) return TellOfTheRest(front, store);
  front.printer.Bytes(front.printer.style().json ? RepairJson(repair) : RepairText(repair, mode));
  if (IsDamageLeft(repair, mode)) return kExitNo;
  // A check tells of what was cut off a log as long as it is kept.
  const bool has_cut = repair.log && repair.log->is_cut;
  return has_cut ? StatusOr<int>(kExitDone) : TellOfTheRest(front, store);
}

// As a last resort: the table of owners, modes and times goes, and all is as it is inherited.
StatusOr<Answer> ServeForgetOwners(Session& session, const Arguments& arguments) {
  if (!session.mountpoint.empty())
    return Status(StatusCode::kUnavailable, "the store is mounted on " + session.mountpoint +
                                                "; 'cellfs umount' comes before that");
  Store& store = session.filesystem.parts().store;
  const bool acts = arguments.Flag("yes");
  const TableName table{std::string(fs::kHiddenNamespace), std::string(fs::kAttributesName)};
  const Status found = store.DescribeTable(table).status();
  const bool is_there = found.code() != StatusCode::kTableNotFound;
  if (is_there) CELLFS_RETURN_IF_ERROR(found);
  if (is_there && acts) {
    const Status disabled = store.DisableTable(Caller::Superuser(), table);
    if (disabled.code() != StatusCode::kTableNotEnabled) CELLFS_RETURN_IF_ERROR(disabled);
    CELLFS_RETURN_IF_ERROR(store.DropTable(Caller::Superuser(), table));
  }
  session.take({{"table", table.ToString()},
                {"forgotten", is_there && acts},
                {kForPrint, is_there ? "was set" : "never set"}});
  return is_there && !acts ? Answer::kNo : Answer::kDone;
}

void PrintForgotten(Printer& printer, const json& record) {
  if (record[kForPrint] == "never set") {
    printer.Line("no owner, mode or time was ever set");
  } else if (record["forgotten"].get<bool>()) {
    printer.Line(
        "every owner, mode and time that was set is forgotten; everything is its mounter's now, "
        "with file_mode and directory_mode");
  } else {
    printer.Line(
        "every owner, mode and time that was set would be forgotten, and what was closed to others "
        "be open to them where file_mode and directory_mode of a mount with allow_other say so; "
        "nothing was changed; --yes does it. Make a copy of the store before");
  }
}

StatusOr<int> ForgetOwners(const Front& front, const Arguments& arguments) {
  json sent = arguments.values();
  const bool only_reads = !arguments.Flag("yes");
  CELLFS_ASSIGN_OR_RETURN(const auto access,
                          front.Open(arguments.Text("target"), sent, only_reads));
  const auto take = [&](json record) {
    if (front.printer.style().json) {
      record.erase(kForPrint);
      front.printer.Json(record);
    } else {
      PrintForgotten(front.printer, record);
    }
    return true;
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                          access->Call(std::string(kCheckCommand.name), sent, take));
  return ExitCodeOf(answer);
}

StatusOr<int> DamageIsNo(const StatusOr<int>& code) {
  if (code.status().code() != StatusCode::kCorruption) return code;
  fprintf(stderr, "cellfs: %s\n", code.status().message().c_str());
  return kExitNo;
}

// Reads the files itself, also of a mounted store: that goes on working meanwhile.
StatusOr<int> Check(const Front& front, const Arguments& arguments) {
  if (arguments.Flag("yes") && !arguments.Flag("repair"))
    return Status(StatusCode::kIllegalArgument, "--yes goes with --repair");
  CELLFS_ASSIGN_OR_RETURN(const StorePath path,
                          FindWholeStore(arguments.Text("target")));
  if (IsRemote(path.store))
    return Status(StatusCode::kUnsupportedOperation,
                  "a cluster or a database checks itself; see 'hbase hbck'");
  CELLFS_RETURN_IF_ERROR(CheckMayUse(
      path.store, arguments.Flag("yes") ? Use::kChanges : Use::kReads));
  if (arguments.Flag("forget_owners")) {
    if (arguments.Flag("repair")) return ForgetOwners(front, arguments);
    return Status(StatusCode::kIllegalArgument, "--forget-owners goes with --repair");
  }
  if (arguments.Flag("repair")) return DamageIsNo(Repair(front, arguments, path.store));
  CELLFS_ASSIGN_OR_RETURN(const CheckReport report, ReportOn(path.store));
  front.printer.Bytes(front.printer.style().json ? CheckJson(report) + '\n' : CheckText(report));
  return report.damage.empty() ? kExitDone : kExitNo;
}

}  // namespace

const Command kCheckCommand{
    .name = "check",
    .group = Group::kMaintenance,
    .summary = "read all of a store and say what is damaged; 1: something is",
    .description =
        "Reads everything, also of a mounted store. --repair is for a store that is not mounted: "
        "it says how the manifests of tables that were lost can be made anew from store files, "
        "and how a damaged log can be mended, or where it can be cut, and with --yes it does so.",
    .example = "check ~/store\ncheck --repair ~/store",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store's directory or its mount point");
          syntax.Flag("--repair", "repair",
                      "say how manifests that were lost can be made anew from store files, and a "
                      "damaged log be mended or cut");
          syntax.Flag("--forget-owners", "forget_owners",
                      "with --repair: give up all owners, modes and times, where these cannot be "
                      "read and no mount can be made");
          syntax.Flag("--yes", "yes", "with --repair: do it");
        },
    .prints_json = true,
    .serve = ServeForgetOwners,
    .run = Check,
};

}  // namespace cellfs
