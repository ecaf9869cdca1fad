// SPDX-License-Identifier: MIT
//
// report: what a report of a fault needs beside its story. It has no keys and no values, and names of
// tables only where that is asked for: what may have them is left out, not looked through. A part that
// cannot be had says why, and the others are there all the same.
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "fs/kernel/fuse_session.h"
#include "src/commands/all.h"
#include "src/commands/callers_umask.h"
#include "src/commands/target.h"
#include "src/configuration.h"
#include "src/daemon/logging.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

using nlohmann::json;

// ---- Where the store is -------------------------------------------------------------------------

// "open default/t/r/f/q: no such row (ENOENT), by cat": "open ... (ENOENT)".
std::string WithoutNames(const std::string& line) {
  const size_t error = line.rfind(" (E");
  const size_t end = error == std::string::npos ? error : line.find(')', error);
  return line.substr(0, line.find(' ')) + " ..." +
         (end == std::string::npos ? "" : line.substr(error, end + 1 - error));
}

json LogOf(bool with_names) {
  json lines = json::array();
  for (const LogLine& line : RecentLog()) {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
        line.time.time_since_epoch());
    const bool is_whole = with_names || !line.may_have_names;
    lines.push_back({{"time", time.count()},
                     {"level", line.level},
                     {"text", is_whole ? line.text : WithoutNames(line.text)}});
  }
  return lines;
}

json TablesOf(const Statistics& statistics, bool with_names) {
  json tables = json::array();
  for (const TableStatistics& table : statistics.tables) {
    const auto state = [&](const std::string& text) {
      return text.empty() || with_names ? text : "yes";
    };
    tables.push_back({{"name", with_names ? table.table.ToString() : ""},
                      {"memstore_bytes", table.memstore_bytes},
                      {"file_bytes", table.file_bytes},
                      {"flushes", table.flushes},
                      {"compactions", table.compactions},
                      {"error", state(table.error)},
                      {"damage", state(table.damage)}});
  }
  return tables;
}

// Files have numbers, and rows are not named: but what helps may be.
json ScrubIn(const ScrubStatistics& scrub, bool with_names) {
  json damage = json::array();
  for (const std::string& what : scrub.damage)
    damage.push_back(with_names ? what : what.substr(0, what.find(':')));
  return {{"due", scrub.due},     {"begun", scrub.begun},
          {"ended", scrub.ended}, {"files", scrub.files},
          {"bytes", scrub.bytes}, {"under_way_since", scrub.under_way_since},
          {"damage", damage}};
}

json Figures(const Statistics& statistics, bool with_names) {
  return {{"log_bytes", statistics.log_bytes},
          {"memstore_bytes", statistics.memstore_bytes},
          {"mutations", statistics.mutations},
          {"maintenance", statistics.maintenance},
          {"puts_refused", CodeName(statistics.puts_refused.code())},
          {"lost_tables", statistics.lost_tables.size()},
          {"cut_off", statistics.cut_off.size()},
          {"kept_tables", statistics.kept.size()},
          {"moments", statistics.pinned_moments},
          {"disk_reserve", statistics.disk_reserve},
          {"disk_reserve_wanted", statistics.disk_reserve_wanted},
          {"scrub", ScrubIn(statistics.scrub, with_names)},
          {"tables", TablesOf(statistics, with_names)}};
}

StatusOr<Answer> ServeReport(Session& session, const Arguments& arguments) {
  const bool with_names = arguments.Flag("names");
  json record = {{"version", CELLFS_VERSION},
                 {"fuse", fs::FuseVersion()},
                 {"configuration", session.filesystem.options().configuration()}};
  if (session.store.traits().has_statistics)
    record.update(Figures(session.store.GetStatistics(), with_names));
  if (session.controls != nullptr) record["log"] = LogOf(with_names);
  session.take(record);
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

StatusOr<std::string> FirstLineOf(const std::string& path, const std::string& start) {
  errno = 0;
  std::ifstream file(path);
  if (!file.is_open()) return Status(StatusCode::kIoError, path + ": " + strerror(errno));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return Status(StatusCode::kIoError, path + " has no such line");
}

StatusOr<std::string> Program() {
  return std::string("cellfs ") + CELLFS_VERSION + ", libfuse " + fs::FuseVersion() +
         ", compiled by " + __VERSION__ + "\n";
}

StatusOr<std::string> System() {
  utsname names{};
  if (uname(&names) != 0) return Status(StatusCode::kIoError, strerror(errno));
  std::string text = std::string(names.sysname) + " " + names.release + " " + names.machine + "\n";
  const auto distribution = FirstLineOf("/etc/os-release", "PRETTY_NAME=");
  if (distribution.ok()) text += *distribution + "\n";
  text += std::string("/dev/fuse ") +
          (access("/dev/fuse", R_OK | W_OK) == 0 ? "can be opened" : strerror(errno)) + "\n";
  return text;
}

std::string SpaceOf(const std::string& directory) {
  struct statvfs space {};
  if (statvfs(directory.c_str(), &space) != 0) return std::string("space: ") + strerror(errno);
  return "space: " + ShownSize(space.f_bavail * space.f_frsize) + " free of " +
         ShownSize(space.f_blocks * space.f_frsize);
}

// As its files tell, without opening it: that would replay its log.
StatusOr<std::string> StoreFiles(const std::string& store) {
  if (store.empty()) return Status(StatusCode::kUnavailable, "its directory is not known");
  if (IsRemote(store)) return std::string("on servers\n");
  CELLFS_ASSIGN_OR_RETURN(const std::string format, FirstLineOf(store + "/FORMAT", ""));
  std::string text = format + "\n" + SpaceOf(store) + "\n";
  for (const char* folder : {"wal", "tables"}) {
    uint64_t files = 0;
    uint64_t bytes = 0;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(store + "/" + folder, error), end;
         !error && at != end; at.increment(error)) {
      std::error_code gone;
      if (!at->is_regular_file(gone)) continue;
      ++files;
      const auto size = at->file_size(gone);
      bytes += gone ? 0 : size;
    }
    text += std::string(folder) + ": " +
            (error ? error.message() : std::to_string(files) + " files, " + ShownSize(bytes)) + "\n";
  }
  return text;
}

StatusOr<json> AskTheDaemon(const Front& front, const StorePath& path, bool with_names) {
  if (!path.mount) {
    const bool is_mounted = IsRemote(path.store) && !FindMountsOf(path.store).empty();
    return Status(StatusCode::kUnavailable,
                  is_mounted ? "of a store on servers a mount point is to be named"
                             : "the store is not mounted");
  }
  const DaemonState state = AskDaemon(*path.mount);
  if (state == DaemonState::kIsSilent)
    return Status(StatusCode::kUnavailable, "the daemon does not answer");
  if (state != DaemonState::kServes)
    return Status(StatusCode::kUnavailable, "no daemon serves the mount");
  json arguments = json::object();
  if (with_names) arguments["names"] = true;
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(path.mount->mountpoint, arguments));
  json answer;
  const auto take = [&](const json& record) {
    answer = record;
    return true;
  };
  CELLFS_RETURN_IF_ERROR(access->Call("report", arguments, take).status());
  return answer;
}

std::string TableLine(const json& table, size_t number) {
  std::string name = table["name"];
  if (name.empty()) name = "table " + std::to_string(number);
  std::string line = name + ": " + ShownSize(table["memstore_bytes"]) + " in memory, " +
                     ShownSize(table["file_bytes"]) + " in files, " +
                     std::to_string(table["flushes"].get<uint64_t>()) + " flushes, " +
                     std::to_string(table["compactions"].get<uint64_t>()) + " compactions";
  for (const char* what : {"error", "damage"}) {
    if (const std::string text = table[what]; !text.empty()) line += std::string(", ") + what + ": " + text;
  }
  return line + "\n";
}

std::string ScrubLines(const json& scrub) {
  const auto time = [&](const char* name) {
    const auto at = scrub[name].get<Timestamp>();
    return at == 0 ? std::string("never") : ShownTime(at);
  };
  std::string lines = "scrub: ended " + time("ended") + ", " + scrub["files"].dump() + " files, " +
                      ShownSize(scrub["bytes"]) + ", " + std::to_string(scrub["damage"].size()) +
                      " damaged; due " + time("due");
  if (scrub["under_way_since"] != 0) lines += "; under way since " + time("under_way_since");
  lines += "\n";
  for (const json& what : scrub["damage"]) lines += "scrub: " + what.get<std::string>() + "\n";
  return lines;
}

std::string StatusText(const json& answer) {
  std::string text = "cellfs " + answer["version"].get<std::string>() + ", libfuse " +
                     answer["fuse"].get<std::string>() + "\n";
  for (const auto& [key, value] : answer.items()) {
    if (value.is_number() || key == "maintenance" || key == "puts_refused")
      text += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  }
  if (!answer.contains("tables")) return text;
  text += ScrubLines(answer["scrub"]);
  size_t number = 0;
  for (const json& table : answer["tables"]) text += TableLine(table, ++number);
  return text;
}

StatusOr<std::string> LogText(const json& answer) {
  if (!answer.contains("log"))
    return Status(StatusCode::kAccessDenied, "the log is for who mounted the store, and root");
  std::string text;
  for (const json& line : answer["log"]) {
    text += ShownTime(line["time"].get<Timestamp>()) + " " + line["level"].get<std::string>() + " " +
            ShownBytes(line["text"].get<std::string>()) + "\n";
  }
  return text;
}

void AddSection(std::string& report, const std::string& title, const StatusOr<std::string>& text) {
  report += "== " + title + "\n" +
            (text.ok() ? *text : "not to be had: " + text.status().message() + "\n");
}

void AddMount(std::string& report, const Front& front, const std::string& target, bool with_names) {
  const auto path = FindWholeStore(target);
  if (!path.ok()) return AddSection(report, "store", path.status());
  AddSection(report, "store", StoreFiles(path->store));
  const auto answer = AskTheDaemon(front, *path, with_names);
  if (!answer.ok()) return AddSection(report, "daemon", answer.status());
  AddSection(report, "daemon", StatusText(*answer));
  AddSection(report, "configuration", (*answer)["configuration"].get<std::string>());
  AddSection(report, "log", LogText(*answer));
}

StatusOr<int> RunReport(const Front& front, const Arguments& arguments) {
  std::string report;
  AddSection(report, "program", Program());
  AddSection(report, "system", System());
  if (const std::string target = arguments.Text("target"); !target.empty())
    AddMount(report, front, target, arguments.Flag("names"));
  const std::string path = arguments.Text("output");
  if (path.empty()) {
    front.printer.Bytes(report);
    return kExitDone;
  }
  const CallersUmask as_open_as_he_wants(arguments);
  std::ofstream file(path);
  file << report;
  if (!file.flush())
    return Status(StatusCode::kIoError, "cannot write " + path + ": " + strerror(errno));
  return kExitDone;
}

}  // namespace

const Command kReportCommand{
    .name = "report",
    .group = Group::kHelp,
    .summary = "gather what a report of a fault needs, without any data",
    .description =
        "Versions, kernel, distribution; of a store its sizes; of a mount also its status, its "
        "configuration and the last 100 lines of its log. No key and no value is in it, and no name "
        "of a table unless --names is given. What cannot be had is said there, and is no failure.",
    .example = "report\nreport ~/m -o report.txt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Word("target", "STORE|MOUNT|PATH", "a store or a mount point",
                      /*is_required=*/false);
          syntax.Option("-o,--output", "output", "FILE", "write it there");
          syntax.Flag("--names", "names",
                      "with names of tables, and with log lines as they are, which have keys");
        },
    .serve = ServeReport,
    .run = RunReport,
};

}  // namespace cellfs
