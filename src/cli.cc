// SPDX-License-Identifier: MIT
#include "src/cli.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/check.h"
#include "src/background.h"
#include "src/check_command.h"
#include "src/commands.h"
#include "src/daemon.h"
#include "src/mount_table.h"
#include "src/mountpoint.h"
#include "src/store_opening.h"
#include "src/unmount.h"

namespace cellfs {
namespace {

using nlohmann::json;

struct CommandLine {
  std::string store;
  std::string mountpoint;
  std::string path;  // a store or a mount point
  std::string config_file;
  std::vector<std::string> mount_options;
  std::vector<std::string> settings;
  std::string table;
  std::string released;  // a time of .asof, or "all"
  bool foreground = false;
  bool debug = false;
  bool lazy = false;
  bool minor = false;
  bool as_json = false;
  bool repairs = false;
  bool confirmed = false;
};

int Fail(const std::string& message) {
  std::cerr << "cellfs: " << message << '\n';
  return 1;
}

int Misused(const std::string& message) {
  Fail(message);
  return 2;
}

StatusOr<Configuration> ReadConfiguration(const CommandLine& line) {
  Configuration configuration;
  if (!line.config_file.empty()) {
    CELLFS_RETURN_IF_ERROR(ReadConfigurationFile(line.config_file, configuration));
  }
  configuration.mount.uid = configuration.mount.uid == 0 ? getuid() : configuration.mount.uid;
  configuration.mount.gid = configuration.mount.gid == 0 ? getgid() : configuration.mount.gid;
  for (const std::string& options : line.mount_options) {
    CELLFS_RETURN_IF_ERROR(ApplyMountOptions(options, configuration));
  }
  return configuration;
}

int Mount(const CommandLine& line) {
  if (line.store.empty()) return Misused("the store's path is empty; name its directory");
  if (line.mountpoint.empty()) {
    return Misused("the mount point's path is empty; name an existing directory");
  }
  auto configuration = ReadConfiguration(line);
  if (!configuration.ok()) return Fail(configuration.status().message());
  const DaemonOptions options{.store_directory = CanonicalPath(line.store),
                              .mountpoint = CanonicalPath(line.mountpoint),
                              .foreground = line.foreground || line.debug,
                              .debug = line.debug,
                              .configuration = *configuration};
  const Status prepared = PrepareMountpoint(options.store_directory, options.mountpoint);
  if (!prepared.ok()) return Fail(prepared.message());
  if (options.foreground) {
    return RunDaemon(options, [](const std::string& failure) {
      if (!failure.empty()) Fail(failure);
    });
  }
  const std::string failure =
      RunInBackground([&](const Report& report) { return RunDaemon(options, report); });
  if (!failure.empty()) return Fail(failure);
  // The first request through the mount: it answers.
  struct stat attributes {};
  if (stat(line.mountpoint.c_str(), &attributes) != 0) {
    return Fail(line.mountpoint + " is mounted but does not answer: " + strerror(errno));
  }
  return 0;
}

StatusOr<std::string> RunOnMount(const MountedStore& mount, const std::string& command,
                                 const Arguments& arguments) {
  auto answer = CallDaemon(mount.store, command, arguments);
  const StatusCode code = answer.status().code();
  const bool may_be_gone = code == StatusCode::kUnavailable || code == StatusCode::kOutcomeUnknown;
  if (!may_be_gone || !IsStale(mount.mountpoint)) return answer;
  return Status(code, answer.status().message() + "; the mount on " + mount.mountpoint +
                          " is stale: 'cellfs umount " + mount.mountpoint + "' takes it away");
}

// Through the store's daemon where it is mounted, else on the store, opened for this alone.
StatusOr<std::string> RunOnStore(const CommandLine& line, const std::string& command,
                                 const Arguments& arguments) {
  if (const auto mount = FindMount(line.path)) return RunOnMount(*mount, command, arguments);
  const std::string store_directory = CanonicalPath(line.path);
  CELLFS_RETURN_IF_ERROR(CheckMayUse(store_directory));
  if (access((store_directory + "/FORMAT").c_str(), F_OK) != 0) {
    return Status(StatusCode::kIllegalArgument,
                  line.path + " is neither a store nor a mount point of one");
  }
  StoreOptions options = Configuration().store;
  options.background_maintenance = false;
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<LocalStore> store,
                          OpenWhenFree(store_directory, options));
  return Commands(*store, store.get(), {}).Run(command, arguments);
}

std::string Size(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, kUnits[unit]);
  return text;
}

void PrintHeldTimes(const json& status) {
  if (status["pinned_moments"] == 0) return;
  std::cout << "held by .asof  " << status["pinned_moments"] << ", the oldest for "
            << status["oldest_moment_age_ms"].get<int64_t>() / 1000 << " s, keep "
            << Size(status["moment_bytes"]) << " of at most " << Size(status["moment_limit"])
            << "\n";
  for (const json& held : status["asof"]) {
    const auto unused = std::chrono::system_clock::now().time_since_epoch() -
                        std::chrono::milliseconds(held["last_use"].get<int64_t>());
    std::cout << "               " << held["time"] << ", "
              << (held["in_use"].get<bool>() ? "in use" : "used") << " "
              << std::chrono::duration_cast<std::chrono::seconds>(unused).count() << " s ago\n";
  }
}

void PrintStatus(const json& status) {
  if (status["pid"] == 0) {
    std::cout << "not mounted\n";
  } else {
    std::cout << "mounted on " << status["mountpoint"].get<std::string>() << " by process "
              << status["pid"] << "\n";
  }
  std::cout << "log to replay  " << Size(status["log_bytes"]) << "\nmaintenance    "
            << status["maintenance"].get<std::string>() << "\n";
  if (status["disk_reserve"] != status["disk_reserve_wanted"]) {
    std::cout << "disk full      " << Size(status["disk_reserve"]) << " are left of the "
              << Size(status["disk_reserve_wanted"]) << " kept for deletes; other writes fail\n";
  }
  if (const std::string why = status["puts_refused"]; !why.empty())
    std::cout << "puts refused   " << why << "\n";
  for (const json& lost : status["lost_tables"])
    std::cout << "lost           " << lost.get<std::string>() << "\n";
  PrintHeldTimes(status);
  printf("%-40s %12s %12s\n", "table", "in memory", "in files");
  for (const json& table : status["tables"]) {
    printf("%-40s %12s %12s\n", table["table"].get<std::string>().c_str(),
           Size(table["memstore_bytes"]).c_str(), Size(table["file_bytes"]).c_str());
    if (const std::string error = table["error"]; !error.empty())
      printf("               failed: %s\n", error.c_str());
    if (const std::string damage = table["damage"]; !damage.empty())
      printf("               damaged: %s\n", damage.c_str());
  }
}

int ShowStatus(const CommandLine& line) {
  if (!line.released.empty()) {
    const auto released = RunOnStore(line, "release", {{"time", line.released}});
    if (!released.ok()) return Fail(released.status().message());
  }
  auto status = RunOnStore(line, "status", {});
  if (!status.ok()) return Fail(status.status().message());
  if (line.as_json) {
    std::cout << *status << '\n';
  } else {
    PrintStatus(json::parse(*status));
  }
  return 0;
}

// Of a store that is not mounted. Without --yes it only says what it would do.
int Repair(const CommandLine& line, const std::string& store_directory) {
  const RepairMode mode = line.confirmed ? RepairMode::kAct : RepairMode::kPlan;
  const auto repairs = RepairLocalStore(store_directory, mode);
  if (!repairs.ok()) return Fail(repairs.status().message());
  std::cout << (line.as_json ? RepairJson(*repairs) + '\n' : RepairText(*repairs, mode));
  return IsDamageLeft(*repairs, mode) ? 1 : 0;
}

// Reads the files itself, also of a mounted store: that goes on working meanwhile.
int Check(const CommandLine& line) {
  const auto mount = FindMount(line.path);
  const std::string store_directory = mount ? mount->store : CanonicalPath(line.path);
  if (Status status = CheckMayUse(store_directory); !status.ok()) return Fail(status.message());
  if (line.repairs) return Repair(line, store_directory);
  const auto report = CheckLocalStore(store_directory);
  if (!report.ok()) return Fail(report.status().message());
  std::cout << (line.as_json ? CheckJson(*report) + '\n' : CheckText(*report));
  return report->damage.empty() ? 0 : 1;
}

// Commands whose answer matters to scripts only.
int RunQuietly(const CommandLine& line, const std::string& command, const Arguments& arguments) {
  auto answer = RunOnStore(line, command, arguments);
  if (!answer.ok()) return Fail(answer.status().message());
  if (line.as_json) std::cout << *answer << '\n';
  return 0;
}

int Set(const CommandLine& line) {
  for (const std::string& setting : line.settings) {
    const size_t equals = setting.find('=');
    const Arguments arguments = {
        {"name", setting.substr(0, equals)},
        {"value", equals == std::string::npos ? "" : setting.substr(equals + 1)}};
    if (const int code = RunQuietly(line, "set", arguments); code != 0) return code;
  }
  return 0;
}

int ShowConfiguration(const CommandLine& line) {
  auto configuration = ReadConfiguration(line);
  if (!configuration.ok()) return Fail(configuration.status().message());
  std::cout << ConfigurationText(*std::move(configuration));
  return 0;
}

Arguments CompactArguments(const CommandLine& line) {
  return {{"table", line.table}, {"kind", line.minor ? "minor" : "major"}};
}

void AddConfigurationOptions(CLI::App& command, CommandLine& line) {
  command.add_option("--config", line.config_file, "configuration file (TOML)")->type_name("FILE");
  command
      .add_option("-o", line.mount_options, "options: key=value,... as 'cellfs config' lists them")
      ->type_name("OPTIONS");
}

void AddStoreArgument(CLI::App& command, CommandLine& line) {
  command.add_option("store", line.path, "a store's directory or its mount point")
      ->required()
      ->type_name("STORE|MOUNTPOINT");
  command.add_flag("--json", line.as_json, "answer in JSON");
}

// How many letters have to be put in, left out or replaced to make one word of the other.
size_t DistanceOf(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

bool IsCommand(const CLI::App& app, const std::string& word) {
  const auto is_named_so = [&](const CLI::App* command) { return command->check_name(word); };
  return !app.get_subcommands(is_named_so).empty();
}

// Of a word that is no command.
std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  constexpr size_t kMostMistakes = 2;
  std::string closest;
  size_t mistakes = kMostMistakes + 1;
  for (const CLI::App* command : app.get_subcommands({})) {
    const size_t distance = DistanceOf(word, command->get_name());
    if (distance >= mistakes) continue;
    mistakes = distance;
    closest = command->get_name();
  }
  const std::string remedy =
      closest.empty() ? "'cellfs --help' lists all of them" : "did you mean '" + closest + "'?";
  return "unknown command '" + word + "'; " + remedy;
}

// "cellfs mount [OPTIONS] STORE MOUNTPOINT"
std::string UsageOf(const CLI::App& command) {
  std::string usage = "cellfs " + command.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string& name = option->get_type_name();
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

// What of a command that was parsed is missing: "STORE, MOUNTPOINT"; empty: nothing.
std::string MissingIn(const CLI::App& command) {
  std::string missing;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    missing += (missing.empty() ? "" : ", ") + option->get_type_name();
  }
  return missing;
}

// Of a command line that is none.
std::string WrongCall(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return "name a command; 'cellfs --help' lists all of them";
  const CLI::App& command = *commands.front();
  const bool is_short = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string reason = is_short ? "missing: " + MissingIn(command) : error.what();
  return reason + "; it is called " + UsageOf(command) + " ('cellfs " + command.get_name() +
         " --help')";
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  umask(S_IRWXG | S_IRWXO);  // the store is its owner's, and his rights are not to be masked
  CommandLine line;
  std::function<int()> action;
  CLI::App app(
      "cellfs mounts a store of versioned cells, with HBase's data model, as a directory tree.");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("cellfs ") + CELLFS_VERSION);
  const auto add = [&](const char* name, const char* help, std::function<int()> run) -> CLI::App& {
    CLI::App* command = app.add_subcommand(name, help);
    command->callback([&action, run = std::move(run)] { action = run; });
    return *command;
  };

  CLI::App& mount =
      add("mount", "mount a store; it is made where there is none", [&] { return Mount(line); });
  mount.add_option("store", line.store, "the store's directory")->required()->type_name("STORE");
  mount.add_option("mountpoint", line.mountpoint, "an existing directory")
      ->required()
      ->type_name("MOUNTPOINT");
  AddConfigurationOptions(mount, line);
  mount.add_flag("-f,--foreground", line.foreground, "stay in the foreground");
  mount.add_flag("-d,--debug", line.debug, "show every request; implies -f");

  CLI::App& unmount = add("umount", "end a mount and close its store", [&] {
    const Status status = Unmount(line.path, line.lazy);
    return status.ok() ? 0 : Fail(status.message());
  });
  unmount.add_option("path", line.path, "the mount point or the store's directory")
      ->required()
      ->type_name("MOUNTPOINT|STORE");
  unmount.add_flag("-l,--lazy", line.lazy, "detach it now, end it when nobody uses it");

  CLI::App& status = add("status", "what a store holds and does", [&] { return ShowStatus(line); });
  AddStoreArgument(status, line);
  status
      .add_option("--release", line.released,
                  "let go of a time that .asof holds, or of all that nothing uses")
      ->type_name("TIME|all");

  CLI::App& flush = add("flush", "move what is in memory into the store file, onto the disk", [&] {
    return RunQuietly(line, "flush", {{"table", line.table}});
  });
  AddStoreArgument(flush, line);
  flush.add_option("table", line.table, "ns:table; all of them if left out")->type_name("TABLE");

  CLI::App& compact = add("compact", "rewrite store files without what no read can see",
                          [&] { return RunQuietly(line, "compact", CompactArguments(line)); });
  AddStoreArgument(compact, line);
  compact.add_option("table", line.table, "ns:table; all of them if left out")->type_name("TABLE");
  compact.add_flag("--minor", line.minor, "only files that the background would take");

  CLI::App& check = add("check", "read all of a store and say what is damaged; 1: something is",
                        [&] { return Check(line); });
  AddStoreArgument(check, line);
  CLI::Option* const repair = check.add_flag(
      "--repair", line.repairs, "say how manifests that were lost can be made anew from store files");
  check.add_flag("--yes", line.confirmed, "with --repair: do it")->needs(repair);

  CLI::App& set = add("set", "change a setting of a mounted store until it is unmounted",
                      [&] { return Set(line); });
  AddStoreArgument(set, line);
  set.add_option("settings", line.settings,
                 "log_level=LEVEL, cache_size=BYTES, maintenance=paused|running")
      ->required()
      ->type_name("NAME=VALUE");

  CLI::App& config = add("config", "print the configuration in force, every key explained",
                         [&] { return ShowConfiguration(line); });
  AddConfigurationOptions(config, line);

  add("version", "print the version", [] {
    std::cout << "cellfs " << CELLFS_VERSION << '\n';
    return 0;
  });

  if (argc > 1 && argv[1][0] != '-' && !IsCommand(app, argv[1])) {
    return Misused(UnknownCommand(app, argv[1]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return Misused(WrongCall(app, error));
  }
  return action();
}

}  // namespace cellfs
