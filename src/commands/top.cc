// SPDX-License-Identifier: MIT
//
// top: what a mount is asked for now, by whom, and how long it takes to answer. The daemon counts
// from its beginning on; the difference of two looks is what is shown.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "fs/requests/request_counts.h"
#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

using nlohmann::json;
using fs::RequestFigures;

// Longer than from one look to the next, so that who asks is noted in between.
constexpr double kLongestInterval = 3600;
constexpr double kShortestInterval = 0.1;
constexpr size_t kAskersShown = 10;

// ---- Where the store is -------------------------------------------------------------------------

json FiguresRecord(const RequestFigures& figures) {
  json record = {{"nanoseconds", figures.nanoseconds}, {"buckets", json::array()}};
  size_t used = RequestFigures::kBuckets;
  while (used > 0 && figures.buckets[used - 1] == 0) --used;
  for (size_t n = 0; n < used; ++n) record["buckets"].push_back(figures.buckets[n]);
  return record;
}

StatusOr<Answer> ServeTop(Session& session, const Arguments& arguments) {
  if (session.mountpoint.empty())
    return NoMountOf(session.other_mounts, "a store that is not mounted is asked for nothing");
  CELLFS_ASSIGN_OR_RETURN(const int64_t wanted_ms,
                          arguments.NumberOr("wanted_ms", 1, std::numeric_limits<int32_t>::max(), 1));
  fs::RequestCounts& counts = session.filesystem.request_counts();
  const fs::AllRequestFigures figures = counts.Figures();
  json record = {{"requests", json::object()}, {"askers", json::array()}};
  for (size_t kind = 0; kind < fs::kRequestKinds; ++kind) {
    if (figures[kind].Count() != 0)
      record["requests"][NameOf(static_cast<fs::RequestKind>(kind))] = FiguresRecord(figures[kind]);
  }
  for (const fs::Asker& asker : counts.AskersFor(std::chrono::milliseconds(wanted_ms))) {
    record["askers"].push_back({{"uid", asker.uid},
                                {"pid", asker.process},
                                {"process", asker.name},
                                {"requests", asker.requests}});
  }
  if (session.store.traits().has_statistics) {
    const Statistics statistics = session.store.GetStatistics();
    record.update({{"memstore_bytes", statistics.memstore_bytes},
                   {"log_bytes", statistics.log_bytes},
                   {"log_syncs", statistics.log_syncs},
                   {"mutations", statistics.mutations},
                   {"maintenance", statistics.maintenance}});
  }
  session.take(std::move(record));
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

using Moments = std::chrono::steady_clock;

struct Look {
  Moments::time_point when;
  json record;
};

// What happened between two looks.
struct Difference {
  Difference(const Look& earlier, const Look& later)
      : before(earlier.record),
        after(later.record),
        seconds(std::chrono::duration<double>(later.when - earlier.when).count()) {}

  double PerSecond(const char* name) const {
    return static_cast<double>(after.value(name, uint64_t{0}) - before.value(name, uint64_t{0})) /
           seconds;
  }
  RequestFigures Of(const std::string& kind) const {
    RequestFigures figures = FiguresIn(after, kind);
    const RequestFigures was = FiguresIn(before, kind);
    figures.nanoseconds -= was.nanoseconds;
    for (size_t n = 0; n < RequestFigures::kBuckets; ++n) figures.buckets[n] -= was.buckets[n];
    return figures;
  }

  const json& before;
  const json& after;
  const double seconds;

 private:
  static RequestFigures FiguresIn(const json& record, const std::string& kind) {
    RequestFigures figures;
    const auto found = record["requests"].find(kind);
    if (found == record["requests"].end()) return figures;
    figures.nanoseconds = (*found)["nanoseconds"];
    const json& buckets = (*found)["buckets"];
    for (size_t n = 0; n < buckets.size() && n < RequestFigures::kBuckets; ++n)
      figures.buckets[n] = buckets[n];
    return figures;
  }
};

struct KindShown {
  std::string kind;
  double per_second = 0;
  double mean = 0;  // nanoseconds, as those below
  uint64_t half = 0;
  uint64_t nearly_all = 0;
  double busy = 0;  // for so many seconds of each it kept a thread
};

std::vector<KindShown> KindsIn(const Difference& difference) {
  std::vector<KindShown> kinds;
  for (const auto& [kind, counted] : difference.after["requests"].items()) {
    const RequestFigures figures = difference.Of(kind);
    const uint64_t count = figures.Count();
    if (count == 0) continue;
    const auto took = static_cast<double>(figures.nanoseconds);
    kinds.push_back({.kind = kind,
                     .per_second = static_cast<double>(count) / difference.seconds,
                     .mean = took / static_cast<double>(count),
                     .half = figures.Quantile(0.5),
                     .nearly_all = figures.Quantile(0.99),
                     .busy = took / 1e9 / difference.seconds});
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const KindShown& a, const KindShown& b) {
    return a.per_second > b.per_second;
  });
  return kinds;
}

struct AskerShown {
  uid_t uid = 0;
  pid_t pid = 0;
  std::string process;
  double per_second = 0;
  size_t processes = 1;  // of that name
};

// Those that ask most.
void KeepTheFirst(std::vector<AskerShown>& askers) {
  std::stable_sort(askers.begin(), askers.end(), [](const AskerShown& a, const AskerShown& b) {
    return a.per_second > b.per_second;
  });
  if (askers.size() > kAskersShown) askers.resize(kAskersShown);
}

std::vector<AskerShown> AskersIn(const Difference& difference) {
  using Key = std::tuple<uid_t, pid_t, std::string>;
  const auto key_of = [](const json& asker) {
    return Key{asker["uid"].get<uid_t>(), asker["pid"].get<pid_t>(),
               asker["process"].get<std::string>()};
  };
  std::map<Key, uint64_t> before;
  for (const json& asker : difference.before["askers"]) before[key_of(asker)] = asker["requests"];
  std::vector<AskerShown> askers;
  for (const json& asker : difference.after["askers"]) {
    const Key key = key_of(asker);
    const uint64_t now = asker["requests"];
    const uint64_t was = before[key] <= now ? before[key] : 0;  // counted anew
    if (now == was) continue;
    askers.push_back({std::get<uid_t>(key), std::get<pid_t>(key), std::get<std::string>(key),
                      static_cast<double>(now - was) / difference.seconds});
  }
  return askers;
}

// A script may start a process for each file.
std::vector<AskerShown> AskersByName(const Difference& difference) {
  std::map<std::pair<uid_t, std::string>, AskerShown> by_name;
  for (const AskerShown& asker : AskersIn(difference)) {
    auto [found, is_new] = by_name.try_emplace({asker.uid, asker.process}, asker);
    if (is_new) continue;
    found->second.per_second += asker.per_second;
    ++found->second.processes;
  }
  std::vector<AskerShown> askers;
  askers.reserve(by_name.size());
  for (auto& [name, asker] : by_name) askers.push_back(std::move(asker));
  KeepTheFirst(askers);
  return askers;
}

std::string ShownProcessIds(const AskerShown& asker) {
  if (asker.processes > 1) return std::to_string(asker.processes) + " processes";
  return asker.pid == 0 ? "-" : std::to_string(asker.pid);
}

std::string UserShown(uid_t uid) {
  const passwd* const user = getpwuid(uid);
  return user == nullptr ? std::to_string(uid) : user->pw_name;
}

std::string ShownRate(double per_second) {
  char text[32];
  snprintf(text, sizeof text, per_second < 10 ? "%.1f" : "%.0f", per_second);
  return text;
}

std::string ShownDuration(double nanoseconds) {
  char text[32];
  if (nanoseconds < 1e3) {
    snprintf(text, sizeof text, "%.0f ns", nanoseconds);
  } else if (nanoseconds < 1e6) {
    snprintf(text, sizeof text, "%.1f us", nanoseconds / 1e3);
  } else if (nanoseconds < 1e9) {
    snprintf(text, sizeof text, "%.1f ms", nanoseconds / 1e6);
  } else {
    snprintf(text, sizeof text, "%.1f s", nanoseconds / 1e9);
  }
  return text;
}

double Microseconds(double nanoseconds) { return std::round(nanoseconds) / 1e3; }

json DifferenceRecord(const Difference& difference, Timestamp now) {
  json record = {{"time", now},
                 {"seconds", difference.seconds},
                 {"requests", json::object()},
                 {"askers", json::array()}};
  for (const KindShown& kind : KindsIn(difference)) {
    record["requests"][kind.kind] = {{"per_second", kind.per_second},
                                     {"mean_us", Microseconds(kind.mean)},
                                     {"p50_us", Microseconds(static_cast<double>(kind.half))},
                                     {"p99_us", Microseconds(static_cast<double>(kind.nearly_all))},
                                     {"busy", kind.busy}};
  }
  std::vector<AskerShown> askers = AskersIn(difference);
  KeepTheFirst(askers);
  for (const AskerShown& asker : askers) {
    record["askers"].push_back({{"uid", asker.uid},
                                {"pid", asker.pid},
                                {"process", asker.process},
                                {"per_second", asker.per_second}});
  }
  if (!difference.after.contains("maintenance")) return record;
  for (const char* name : {"memstore_bytes", "log_bytes", "maintenance"})
    record[name] = difference.after[name];
  for (const char* name : {"mutations", "log_syncs"})
    record[std::string(name) + "_per_second"] = difference.PerSecond(name);
  return record;
}

std::string LoadBar(const Printer& printer, double busy) {
  constexpr double kWidthOfOneThread = 10;
  constexpr double kLongest = 40;
  if (!printer.style().terminal) return ShownRate(busy);
  const auto length = static_cast<size_t>(std::ceil(std::min(busy * kWidthOfOneThread, kLongest)));
  return printer.In(Colour::kGreen, std::string(length, '#'));
}

void PrintStoreLine(Printer& printer, const Difference& difference) {
  const json& now = difference.after;
  if (!now.contains("maintenance")) return;
  printer.Line("memstores " + ShownSize(now["memstore_bytes"]) + ", log " + ShownSize(now["log_bytes"]) +
               ", " + ShownRate(difference.PerSecond("mutations")) + " mutations/s, " +
               ShownRate(difference.PerSecond("log_syncs")) + " syncs/s, maintenance: " +
               now["maintenance"].get<std::string>());
}

void PrintLook(Printer& printer, const std::string& target, const Difference& difference,
                     Timestamp now) {
  constexpr char kFromTheTop[] = "\x1b[H\x1b[J";
  const std::vector<KindShown> kinds = KindsIn(difference);
  double all = 0;
  for (const KindShown& kind : kinds) all += kind.per_second;
  if (printer.style().terminal) printer.Bytes(kFromTheTop);
  printer.Line(printer.In(Colour::kBold, target) + "  " + ShownTime(now).substr(0, 19) + "  " +
               ShownRate(all) + " requests/s");
  PrintStoreLine(printer, difference);
  printer.Line("");
  if (kinds.empty()) printer.Line("nothing was asked for");
  printer.Head({"request", "per s", "mean", "p50", "p99", "threads busy"});
  for (const KindShown& kind : kinds) {
    printer.Row({kind.kind, ShownRate(kind.per_second), ShownDuration(kind.mean),
                 ShownDuration(static_cast<double>(kind.half)),
                 ShownDuration(static_cast<double>(kind.nearly_all)), LoadBar(printer, kind.busy)});
  }
  printer.Line("");
  printer.Head({"who", "process", "pid", "per s"});
  for (const AskerShown& asker : AskersByName(difference)) {
    const bool is_kernel = asker.pid == 0 && asker.process.empty();
    printer.Row({UserShown(asker.uid), is_kernel ? "(kernel)" : ShownBytes(asker.process),
                 ShownProcessIds(asker), ShownRate(asker.per_second)});
  }
  if (!printer.style().terminal) printer.Line("");
  printer.Finish();
}

StatusOr<double> IntervalIn(const Arguments& arguments) {
  if (!arguments.Has("interval")) return 1.0;
  const std::string text = arguments.Text("interval");
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= kShortestInterval &&
      seconds <= kLongestInterval)
    return seconds;
  return WrongCall("--interval is '" + text + "'; it is seconds, from 0.1 to 3600");
}

StatusOr<Look> LookAt(StoreAccess& access, double interval) {
  constexpr double kSpareSeconds = 5;
  Look look;
  const json sent = {
      {"wanted_ms", std::to_string(static_cast<int64_t>((interval + kSpareSeconds) * 1000))}};
  CELLFS_RETURN_IF_ERROR(access.Call("top", sent, [&](json record) {
                                 look.record = std::move(record);
                                 return true;
                               }).status());
  look.when = Moments::now();
  return look;
}

StatusOr<int> ShowLooks(const Front& front, StoreAccess& access, const std::string& target,
                        double interval, int64_t count) {
  CELLFS_ASSIGN_OR_RETURN(Look before, LookAt(access, interval));
  for (int64_t shown = 0; (count == 0 || shown < count) && front.printer.ok(); ++shown) {
    std::this_thread::sleep_for(std::chrono::duration<double>(interval));
    CELLFS_ASSIGN_OR_RETURN(Look after, LookAt(access, interval));
    const Difference difference(before, after);
    const Timestamp now = SystemClock().Now();
    if (front.printer.style().json) {
      front.printer.Json(DifferenceRecord(difference, now));
      front.printer.Finish();
    } else {
      PrintLook(front.printer, target, difference, now);
    }
    before = std::move(after);
  }
  return kExitDone;
}

StatusOr<int> RunTop(const Front& front, const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  CELLFS_ASSIGN_OR_RETURN(const double interval, IntervalIn(arguments));
  CELLFS_ASSIGN_OR_RETURN(
      const int64_t count,
      arguments.NumberOr("count", 0, std::numeric_limits<int32_t>::max(), 0));
  CELLFS_ASSIGN_OR_RETURN(const StorePath path, FindWholeStore(target));
  if (!path.mount && !IsRemote(path.store))
    return Status(StatusCode::kUnsupportedOperation,
                  "the store " + target + " is not mounted, and so asked for nothing");
  json sent = arguments.values();
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(target, sent, /*only_reads=*/true));
  const StatusOr<int> shown = ShowLooks(front, *access, target, interval, count);
  // Who watches a mount without an end is done when it ends.
  const bool has_ended = count == 0 && shown.status().code() == StatusCode::kOutcomeUnknown;
  return has_ended ? StatusOr<int>(kExitDone) : shown;
}

}  // namespace

const Command kTopCommand{
    .name = "top",
    .group = Group::kMaintenance,
    .summary = "show what a mount is asked for now, by whom, and how fast it answers",
    .description =
        "Each second: requests of the kernel by kind, and commands, with the mean, median (p50) and 99th percentile (p99) of the "
        "time that the daemon took, how many of its threads they kept busy; memstores, log and "
        "maintenance; and the processes that ask most. What the kernel answers from its cache does not come to the "
        "daemon. For root and who mounted the store. ^C ends it.",
    .example = "top ~/m\ntop --json --count 10 ~/m",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a mount point, or the directory of a store that is mounted");
          syntax.Option("--interval", "interval", "SECONDS", "between two looks; 1");
          syntax.Option("--count", "count", "N", "end after so many");
        },
    .is_owners = true,
    .only_reads = true,
    .serve = ServeTop,
    .run = RunTop,
};

}  // namespace cellfs
