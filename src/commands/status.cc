// SPDX-License-Identifier: MIT
//
// status: what a store holds and does; which times .asof holds, and letting go of them.
#include <unistd.h>

#include "engine/open.h"
#include "fs/kernel/fuse_session.h"
#include "fs/store/not_kept.h"
#include "fs/tree/hidden_namespace.h"
#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/daemon/logging.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Answers with the times that stay: who uses one, or has within a minute, may be about to read it.
StatusOr<json> Release(Session& session, const std::string& what) {
  if (session.mountpoint.empty())
    return NoMountOf(session.other_mounts, "a store that is not mounted holds no times");
  bool is_any = false;
  json kept = json::array();
  for (const fs::AsofRegistry::Held& held : session.filesystem.asof().ListHeld()) {
    if (what != "all" && what != std::to_string(held.time)) continue;
    const fs::Outcome outcome = session.filesystem.asof().LetGo(held.time);
    is_any |= outcome.ok();
    if (!outcome.ok()) kept.push_back(held.time);
    if (!outcome.ok() && what != "all")
      return Status(StatusCode::kUnavailable, what + ": " + outcome.reason());
  }
  if (!is_any && what != "all") {
    return Status(StatusCode::kIllegalArgument,
                  "'" + what + "' is not a time that is held; 'cellfs status' lists them");
  }
  return kept;
}

json TablesOf(const Statistics& statistics) {
  json tables = json::array();
  for (const TableStatistics& table : statistics.tables) {
    tables.push_back({{"table", table.table.ToString()},
                      {"memstore_bytes", table.memstore_bytes},
                      {"memstore_cells", table.memstore_cells},
                      {"file_bytes", table.file_bytes},
                      {"flushes", table.flushes},
                      {"compactions", table.compactions},
                      {"error", table.error},
                      {"retry_ms", table.retry_ms},
                      {"compaction_debt", table.compaction_debt},
                      {"quota_in_force",
                       table.violation ? json(PolicyName(*table.violation)) : json()},
                      {"damage", table.damage}});
  }
  return tables;
}

json ScrubOf(const ScrubStatistics& scrub) {
  return {{"due", scrub.due},
          {"begun", scrub.begun},
          {"ended", scrub.ended},
          {"files", scrub.files},
          {"bytes", scrub.bytes},
          {"damage", scrub.damage},
          {"under_way_since", scrub.under_way_since},
          {"bytes_read", scrub.bytes_read},
          {"bytes_to_read", scrub.bytes_to_read}};
}

json DamagedOfKept(const Statistics& statistics) {
  json tables = json::array();
  for (const KeptTableStatistics& kept : statistics.kept) {
    if (kept.damage.empty()) continue;
    tables.push_back({{"table", kept.table.ToString()},
                      {"dropped", kept.dropped},
                      {"damage", kept.damage}});
  }
  return tables;
}

// What is not there for a cluster, which tells it elsewhere.
json StatusFigures(const Statistics& statistics, bool is_mounted) {
  return {{"log_bytes", statistics.log_bytes},
          {"log_syncs", statistics.log_syncs},
          {"mutations", statistics.mutations},
          {"last_sequence_id", statistics.last_sequence_id},
          {"maintenance", statistics.maintenance},
          // Of a store that is not mounted it would be that this command only reads.
          {"puts_refused", is_mounted ? statistics.puts_refused.message() : ""},
          {"memstore_bytes", statistics.memstore_bytes},
          {"lost_tables", statistics.lost_tables},
          {"cut_off", statistics.cut_off},
          {"pinned_moments", statistics.pinned_moments},
          {"disk_reserve", statistics.disk_reserve},
          {"disk_reserve_wanted", statistics.disk_reserve_wanted},
          {"moment_bytes", statistics.moment_bytes},
          {"moment_limit", statistics.moment_limit},
          {"kept_tables", statistics.kept.size()},
          {"kept_bytes", BytesOfKept(statistics)},
          {"damaged_kept_tables", DamagedOfKept(statistics)},
          {"freed_early", statistics.freed_early},
          {"scrub", ScrubOf(statistics.scrub)},
          {"past_schemas", statistics.past_states},
          {"past_schema_bytes", statistics.past_bytes},
          {"oldest_moment_age_ms", statistics.oldest_moment_age_ms},
          {"tables", TablesOf(statistics)}};
}

json HeldTimes(const Session& session) {
  json held = json::array();
  if (session.mountpoint.empty()) return held;
  for (const fs::AsofRegistry::Held& time : session.filesystem.asof().ListHeld()) {
    held.push_back({{"time", time.time}, {"last_use", time.last_use}, {"in_use", time.in_use}});
  }
  return held;
}

// Why the store cannot be mounted, though its tables may be whole; empty: it can.
std::string DamageOfOwners(const Session& session) {
  if (!session.mountpoint.empty()) return "";
  const Status loaded = session.filesystem.LoadAttributes();
  if (loaded.ok()) return "";
  return std::string(fs::kHiddenNamespace) + ":" + std::string(fs::kAttributesName) + ": " +
         loaded.message() +
         ". Without a backup 'cellfs check --repair', or with '--forget-owners' as well, helps";
}

bool LacksInodes(const Session& session) {
  const std::string& directory = session.filesystem.parts().options.store_directory;
  return !directory.empty() && DiskLacksInodes(directory);
}

json OtherMounts(const Session& session) {
  json mounts = json::array();
  for (const MountedStore& mount : session.other_mounts) {
    mounts.push_back(
        {{"mountpoint", mount.mountpoint}, {"pid", ProcessOfDaemon(mount).value_or(0)}});
  }
  return mounts;
}

// How requests come, and why not the faster way, where that was wanted if it can be had.
json TransportOf(const Session& session) {
  if (session.kernel == nullptr) return nullptr;
  if (session.kernel->transport() == fs::Transport::kUring) return {{"name", "uring"}, {"why", ""}};
  const bool was_wanted = session.kernel->wanted_transport() == fs::Transport::kBest;
  return {{"name", "fuse"}, {"why", was_wanted ? fs::FindUring().message() : std::string()}};
}

// What somebody should see to, each in a line; nothing: all is well.
json HealthOf(const json& status) {
  json wrong = json::array();
  const auto add = [&](const std::string& what, const json& why) {
    if (why.is_string() && !why.get_ref<const std::string&>().empty())
      wrong.push_back(what + why.get<std::string>());
  };
  for (const json& table : status.value("tables", json::array())) {
    const std::string name = table["table"].get<std::string>() + ": ";
    add(name + "damaged: ", table["damage"]);
    add(name, table["error"]);
    add(name + "over its quota: ", table["quota_in_force"]);
  }
  for (const json& kept : status.value("damaged_kept_tables", json::array()))
    add(kept["table"].get<std::string>() + ", dropped: ", kept["damage"]);
  for (const char* const list : {"lost_tables", "cut_off"})
    for (const json& what : status.value(list, json::array())) add("", what);
  if (status.contains("scrub"))
    for (const json& damage : status["scrub"]["damage"]) add("scrub: ", damage);
  add("puts are refused: ", status.value("puts_refused", json()));
  add("no mount: ", status["owners"]);
  const bool has_reserve =
      status.value("disk_reserve", json()) == status.value("disk_reserve_wanted", json());
  if (status["pid"] != 0 && !has_reserve)
    add("the disk is full: ", "what is kept for deletes is not whole");
  if (std::abs(status.value("clock_difference_ms", int64_t{0})) > kLongestClockDifference.count())
    add("the clock is too far from the cluster's: ", "nothing is written");
  return wrong;
}

StatusOr<Answer> ServeStatus(Session& session, const Arguments& arguments) {
  json not_released = json::array();
  if (arguments.Has("release")) {
    if (session.controls == nullptr)
      return Status(StatusCode::kAccessDenied, "--release is for who mounted the store, and root");
    CELLFS_ASSIGN_OR_RETURN(not_released, Release(session, arguments.Text("release")));
  }
  const bool is_mounted = !session.mountpoint.empty();
  json record = {{"mountpoint", session.mountpoint},
                 {"pid", is_mounted ? getpid() : 0},
                 {"other_mounts", OtherMounts(session)},
                 {"log_level", is_mounted ? LogLevel() : ""},
                 {"transport", TransportOf(session)},
                 {"owners", DamageOfOwners(session)},
                 {"not_kept", fs::NotKept(session.store.traits())},
                 {"not_released", not_released},
                 {"asof", HeldTimes(session)}};
  if (session.store.traits().has_statistics) {
    record.update(StatusFigures(session.store.GetStatistics(), is_mounted));
    record["lacks_inodes"] = LacksInodes(session);
  }
  if (session.store.traits().has_other_writers) {
    if (const auto apart = session.store.ClockDifference(); apart.ok())
      record["clock_difference_ms"] = apart->count();
  }
  record["health"] = HealthOf(record);
  const bool is_asked_for = arguments.Has("health") && arguments.Flag("health");
  const Answer answer = is_asked_for && !record["health"].empty() ? Answer::kNo : Answer::kDone;
  if (is_asked_for) record = {{"health", record["health"]}};
  session.take(record);
  return answer;
}

void PrintHeldTimes(Printer& printer, const json& status) {
  if (status["asof"].empty()) return;
  if (const size_t stay = status.value("not_released", json::array()).size(); stay != 0)
    printer.Line("not let go of  " + std::to_string(stay) + (stay == 1 ? " time" : " times") +
                 ": in use, or used within the last minute");
  printer.Line("held by .asof  " + std::to_string(status["asof"].size()) + " times:");
  for (const json& held : status["asof"]) {
    const auto unused = std::chrono::system_clock::now().time_since_epoch() -
                        std::chrono::milliseconds(held["last_use"].get<int64_t>());
    printer.Line("               " + std::to_string(held["time"].get<int64_t>()) + ", " +
                 (held["in_use"].get<bool>() ? "in use " : "used ") +
                 std::to_string(std::chrono::duration_cast<std::chrono::seconds>(unused).count()) +
                 " s ago");
  }
}

void PrintHealth(Printer& printer, const json& health) {
  if (health.empty()) return printer.Line("health         ok");
  for (const json& what : health)
    printer.Line(printer.In(Colour::kRed, "health         ") + what.get<std::string>());
}

std::string DayOf(int64_t ms) {
  const time_t seconds = ms / 1000;
  struct tm time {};
  char text[32] = "";
  if (localtime_r(&seconds, &time) != nullptr) strftime(text, sizeof text, "%F %H:%M", &time);
  return text;
}

void PrintScrub(Printer& printer, const json& scrub) {
  const int64_t since = scrub["under_way_since"], ended = scrub["ended"], due = scrub["due"];
  if (since == 0 && ended == 0 && due == 0) return;
  const size_t found = scrub["damage"].size();
  std::string text = ended == 0 ? "none has ended yet"
                                : DayOf(ended) + ", " + std::to_string(scrub["files"].get<int>()) +
                                      " files, " + ShownSize(scrub["bytes"]);
  if (found != 0) {
    text += ", " + std::to_string(found) + " damaged";
  } else if (ended != 0) {
    text += ", no damage";
  }
  if (since != 0) {
    text += "; one is under way since " + DayOf(since);
  } else if (due != 0) {
    text += "; the next from " + DayOf(due) + " on";
  }
  printer.Line("scrub          " + text);
}

void PrintStatesKept(Printer& printer, const json& status) {
  if (status["pinned_moments"] == 0) return;
  printer.Line("states kept    " + std::to_string(status["pinned_moments"].get<int>()) +
               " of the store, the oldest for " +
               std::to_string(status["oldest_moment_age_ms"].get<int64_t>() / 1000) + " s; " +
               ShownSize(status["moment_bytes"]) + " of at most " +
               ShownSize(status["moment_limit"]));
}

void PrintFigures(Printer& printer, const json& status) {
  printer.Line("log to replay  " + ShownSize(status["log_bytes"]));
  printer.Line("maintenance    " + status["maintenance"].get<std::string>());
  if (status["disk_reserve"] != status["disk_reserve_wanted"]) {
    const bool lacks_inodes = status.value("lacks_inodes", false);
    printer.Line(printer.In(Colour::kRed, lacks_inodes ? "no inodes      " : "disk full      ") +
                 ShownSize(status["disk_reserve"]) + " are left of the " +
                 ShownSize(status["disk_reserve_wanted"]) +
                 (lacks_inodes ? " kept for deletes; no file can be made, though bytes are free: "
                                 "remove files outside the store"
                               : " kept for deletes; other writes fail"));
  }
  if (const std::string why = status["puts_refused"]; !why.empty())
    printer.Line(printer.In(Colour::kRed, "puts refused   ") + why);
  for (const json& lost : status["lost_tables"])
    printer.Line(printer.In(Colour::kRed, "lost           ") + lost.get<std::string>());
  for (const json& cut_off : status["cut_off"])
    printer.Line(printer.In(Colour::kRed, "cut off        ") + cut_off.get<std::string>());
  if (status["kept_tables"] != 0) {
    const int kept = status["kept_tables"].get<int>();
    printer.Line("dropped        " + std::to_string(kept) +
                 (kept == 1 ? " table is" : " tables are") + " kept in .deleted; " +
                 ShownSize(status["kept_bytes"]));
  }
  for (const json& table : status["damaged_kept_tables"]) {
    printer.Line(printer.In(Colour::kRed, "damaged        ") + table["table"].get<std::string>() +
                 ", dropped at " + table["dropped"].dump() + ": " +
                 table["damage"].get<std::string>());
  }
  for (const json& freed : status["freed_early"])
    printer.Line("freed early    " + freed.get<std::string>());
  PrintStatesKept(printer, status);
  if (status.contains("scrub")) PrintScrub(printer, status["scrub"]);
}

void PrintClock(Printer& printer, int64_t difference_ms) {
  const std::string text = std::to_string(std::abs(difference_ms)) + " ms " +
                           (difference_ms > 0 ? "ahead of" : "behind") + " the cluster's";
  if (std::abs(difference_ms) > kLongestClockDifference.count()) {
    printer.Line(printer.In(Colour::kRed, "clock          ") + text + "; nothing is written");
  } else if (difference_ms != 0) {
    printer.Line("clock          " + text);
  }
}

void PrintTables(Printer& printer, const json& tables) {
  printer.Head({"table", "in memory", "in files", "state"});
  for (const json& table : tables) {
    const std::string error = table["error"];
    const std::string damage = table["damage"];
    std::string state = "ok";
    if (const json& policy = table["quota_in_force"]; !policy.is_null())
      state = printer.In(Colour::kRed, "over its quota: ") + policy.get<std::string>();
    if (!error.empty()) {
      state = printer.In(Colour::kRed, "failed: ") + error;
      if (const auto left = table["retry_ms"].get<int64_t>(); left > 0)
        state += " (tried again in " + std::to_string((left + 999) / 1000) + " s)";
    }
    if (!damage.empty()) state = printer.In(Colour::kRed, "damaged: ") + damage;
    printer.Row({table["table"], ShownSize(table["memstore_bytes"]),
                 ShownSize(table["file_bytes"]), state});
  }
}

void PrintMount(Printer& printer, const json& mount) {
  const int pid = mount["pid"];
  printer.Line("mounted on " + mount["mountpoint"].get<std::string>() +
               (pid == 0 ? "" : " by process " + std::to_string(pid)));
}

void PrintTransport(Printer& printer, const json& transport) {
  const std::string why = transport["why"];
  printer.Line(transport["name"] == "uring" ? "requests come  by io_uring"
                                            : "requests come  by /dev/fuse" +
                                                  (why.empty() ? "" : " (" + why + ")"));
}

// A cluster is asked by this process, also where there are mounts of it.
void PrintStatus(Printer& printer, const json& status) {
  if (status.contains("health")) PrintHealth(printer, status["health"]);
  if (!status.contains("pid")) return;  // --health
  if (status["pid"] != 0) PrintMount(printer, status);
  if (!status["transport"].is_null()) PrintTransport(printer, status["transport"]);
  for (const json& mount : status["other_mounts"]) PrintMount(printer, mount);
  if (status["pid"] == 0 && status["other_mounts"].empty()) printer.Line("not mounted");
  const bool has_figures = status.contains("tables");
  if (has_figures) PrintFigures(printer, status);
  if (const std::string owners = status["owners"]; !owners.empty())
    printer.Line(printer.In(Colour::kRed, "no mount       ") + owners);
  if (status.contains("clock_difference_ms"))
    PrintClock(printer, status["clock_difference_ms"].get<int64_t>());
  for (const json& what : status["not_kept"])
    printer.Line("not kept       " + what.get<std::string>());
  PrintHeldTimes(printer, status);
  if (has_figures) PrintTables(printer, status["tables"]);
}

}  // namespace

const Command kStatusCommand{
    .name = "status",
    .group = Group::kMaintenance,
    .summary = "what a store holds and does, and whether it is well",
    .description =
        "What is wrong comes first: tables that are not whole, flushes and compactions that fail, "
        "puts that are refused, damage that a scrub has found, a full disk. Then tables and their "
        "sizes, what is not in store files yet, what maintenance does and why it "
        "failed, whether puts are refused, and the times that .asof directories hold.",
    .example =
        "status ~/m\nstatus --health ~/m || echo somebody has to see to it\nstatus --json ~/store",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store's directory or its mount point");
          syntax.Option("--release", "release", "TIME|all",
                        "let go of a time that .asof holds, or of all that nothing uses");
          syntax.Flag("--health", "health", "say what is wrong alone; 1: something is");
        },
    .only_reads = true,
    .is_of_whole_store = true,
    .serve = ServeStatus,
    .print = PrintStatus,
};

}  // namespace cellfs
