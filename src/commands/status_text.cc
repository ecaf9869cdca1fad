// SPDX-License-Identifier: MIT
#include "src/commands/status_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMostHeldTimes = 10;

// The ones that were used last: a walk may hold hundreds.
std::vector<json> LastUsed(const json& all) {
  std::vector<json> times(all.begin(), all.end());
  std::stable_sort(times.begin(), times.end(), [](const json& one, const json& other) {
    return one["last_use"].get<int64_t>() > other["last_use"].get<int64_t>();
  });
  if (times.size() > kMostHeldTimes) times.resize(kMostHeldTimes);
  return times;
}

// "table 't', dropped at 1767225600000: why", as it is kept in the catalog.
std::string WithShownTime(std::string freed) {
  constexpr std::string_view kBefore = "', dropped at ";
  const size_t before = freed.find(kBefore);
  if (before == freed.npos) return freed;
  const size_t begin = before + kBefore.size();
  int64_t time = 0;
  const auto [end, error] =
      std::from_chars(freed.data() + begin, freed.data() + freed.size(), time);
  if (error != std::errc()) return freed;
  const auto length = static_cast<size_t>(end - freed.data()) - begin;
  return freed.replace(begin, length, ShownTime(time));
}

void PrintHeldTimes(Printer& printer, const json& status) {
  if (status["asof"].empty()) return;
  if (const size_t stay = status.value("not_released", json::array()).size(); stay != 0)
    printer.Line("not let go of  " + std::to_string(stay) + (stay == 1 ? " time" : " times") +
                 ": in use, or used within the last minute");
  const json& all = status["asof"];
  printer.Line("held by .asof  " + std::to_string(all.size()) +
               (all.size() == 1 ? " time:" : " times:"));
  const std::vector<json> newest = LastUsed(all);
  for (const json& held : newest) {
    const auto unused = std::chrono::system_clock::now().time_since_epoch() -
                        std::chrono::milliseconds(held["last_use"].get<int64_t>());
    const int64_t time = held["time"];
    printer.Line("               " + std::to_string(time) + " (" + ShownTime(time) + "), " +
                 (held["in_use"].get<bool>() ? "in use " : "used ") +
                 std::to_string(std::chrono::duration_cast<std::chrono::seconds>(unused).count()) +
                 " s ago");
  }
  if (newest.size() < all.size())
    printer.Line("               and " + std::to_string(all.size() - newest.size()) +
                 " more, as 'cellfs status --json' lists");
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

// What the disk is taken by; of tables as far as their files tell it.
void PrintRoom(Printer& printer, const json& status) {
  uint64_t live = 0, old_versions = 0, deleted = 0;
  for (const json& table : status["tables"]) {
    live += table["live_bytes"].get<uint64_t>();
    old_versions += table["old_version_bytes"].get<uint64_t>();
    deleted += table["deleted_bytes"].get<uint64_t>();
  }
  std::string text = ShownSize(live) + " live, " + ShownSize(old_versions) + " old versions, " +
                     ShownSize(deleted) + " deleted; ";
  if (status["kept_bytes"] != 0) text += ShownSize(status["kept_bytes"]) + " dropped tables, ";
  if (status["moment_bytes"] != 0) text += ShownSize(status["moment_bytes"]) + " for .asof, ";
  text +=
      ShownSize(status["log_bytes"]) + " log, " + ShownSize(status["disk_reserve"]) + " reserve";
  if (const json& free = status["disk_free"]; !free.is_null())
    text += "; " + ShownSize(free) + " are free";
  printer.Line("room           " + text);
}

void PrintFigures(Printer& printer, const json& status) {
  PrintRoom(printer, status);
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
                 ", dropped at " + ShownTime(table["dropped"].get<int64_t>()) + ": " +
                 table["damage"].get<std::string>());
  }
  for (const json& freed : status["freed_early"])
    printer.Line("freed early    " + WithShownTime(freed.get<std::string>()));
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
  printer.Head({"table", "in memory", "in files", "live", "old versions", "deleted", "state"});
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
    printer.Row({table["table"], ShownSize(table["memstore_bytes"]), ShownSize(table["file_bytes"]),
                 ShownSize(table["live_bytes"]), ShownSize(table["old_version_bytes"]),
                 ShownSize(table["deleted_bytes"]), state});
  }
}

void PrintMount(Printer& printer, const json& mount) {
  const int pid = mount["pid"];
  printer.Line("mounted on " + mount["mountpoint"].get<std::string>() +
               (pid == 0 ? "" : " by process " + std::to_string(pid)));
}

void PrintTransport(Printer& printer, const json& transport) {
  const std::string why = transport["why"];
  printer.Line(transport["name"] == "uring"
                   ? "requests come  by io_uring"
                   : "requests come  by /dev/fuse" + (why.empty() ? "" : " (" + why + ")"));
}

}  // namespace

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

}  // namespace cellfs
