// SPDX-License-Identifier: MIT
//
// status: what a store holds and does; which times .asof holds, and letting go of them.
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/open.h"
#include "fs/kernel/fuse_session.h"
#include "fs/store/not_kept.h"
#include "fs/tree/hidden_namespace.h"
#include "src/commands/all.h"
#include "src/commands/status_text.h"
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
    tables.push_back(
        {{"table", table.table.ToString()},
         {"memstore_bytes", table.memstore_bytes},
         {"memstore_cells", table.memstore_cells},
         {"file_bytes", table.file_bytes},
         {"live_bytes", LiveBytes(table)},
         {"old_version_bytes", table.old_version_bytes},
         {"deleted_bytes", table.deleted_bytes},
         {"flushes", table.flushes},
         {"compactions", table.compactions},
         {"error", table.error},
         {"retry_ms", table.retry_ms},
         {"compaction_debt", table.compaction_debt},
         {"quota_in_force", table.violation ? json(PolicyName(*table.violation)) : json()},
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

// Of the disk that the store lies on, for its owner; null: that is not known.
json FreeOf(const Session& session) {
  const std::string& directory = session.filesystem.parts().options.store_directory;
  struct statvfs disk {};
  if (directory.empty() || statvfs(directory.c_str(), &disk) != 0) return nullptr;
  return uint64_t{disk.f_bavail} * disk.f_frsize;
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
  const bool is_uring = session.kernel->transport() == fs::Transport::kUring;
  return {{"name", is_uring ? "uring" : "fuse"}, {"why", session.kernel->why_no_uring()}};
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
    record["disk_free"] = FreeOf(session);
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
