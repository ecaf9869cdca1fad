// SPDX-License-Identifier: MIT
#include "src/daemon/daemon.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "fs/kernel/fuse_session.h"
#include "fs/operations/filesystem.h"
#include "src/commands/serving.h"
#include "src/daemon/guardian.h"
#include "src/daemon/logging.h"
#include "src/daemon/noted_controls.h"
#include "src/daemon/periodic_task.h"
#include "src/daemon/reloading.h"
#include "src/daemon/scrub_news.h"
#include "src/daemon/service_manager.h"
#include "src/mount/mount_table.h"
#include "src/mount/mountpoint.h"
#include "src/mount/new_store.h"
#include "src/mount/store_name.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

constexpr std::chrono::seconds kQuotaInterval{60};
constexpr std::chrono::seconds kScrubNewsInterval{15};
// Also how soon memory is given back after a long walk.
constexpr std::chrono::seconds kMomentInterval{5};

// Ends the session on SIGTERM and SIGINT, which must be blocked in every thread, as SIGHUP, which
// ends it where the terminal that it runs on has gone; else it calls `reload`.
class SignalThread {
 public:
  SignalThread(fs::FuseSession& session, std::atomic<bool>& ending, bool ends_with_terminal,
               std::function<void()> reload)
      : ends_with_terminal_(ends_with_terminal),
        reload_(std::move(reload)),
        thread_([this, &session, &ending] { Wait(session, ending); }) {}
  ~SignalThread() {
    ended_ = true;
    // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread): it waits for that, and blocks it
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }

  static sigset_t Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    return signals;
  }

 private:
  void Wait(fs::FuseSession& session, std::atomic<bool>& ending) {
    const sigset_t signals = Signals();
    int number = 0;
    while (sigwait(&signals, &number) == 0 && !ended_) {
      if (number == SIGHUP && !ends_with_terminal_) {
        reload_();
        continue;
      }
      ending = true;
      spdlog::info("signal {}: unmounting", number);
      session.Exit();
    }
  }

  const bool ends_with_terminal_;
  const std::function<void()> reload_;
  std::atomic<bool> ended_ = false;  // this thread
  std::thread thread_;
};

// In the foreground of a terminal, and not begun by nohup(1).
bool EndsWithTerminal(const DaemonOptions& options) {
  struct sigaction action {};
  const bool is_ignored =
      sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  const int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) close(terminal);
  return options.foreground && terminal >= 0 && !is_ignored;
}

std::string LogTarget(const DaemonOptions& options) {
  return LogTargetOf(options.configuration, options.foreground);
}

// Logs the reason, tells whoever waits for the mount, and gives the exit code. Who runs in the
// foreground is told where the log goes by default.
int Fail(const Status& status, const DaemonOptions& options, const ServiceManager& manager,
         const Report& report) {
  if (LogTarget(options) != "stderr") spdlog::error("{}", status.message());
  manager.TellStatus(status.message());
  report(status);
  return 1;
}

// FORMAT is written once, when the store is made. Of a cluster nobody says it.
std::optional<int64_t> StoreMadeAt(const std::string& store) {
  struct stat format {};
  if (stat((store + "/FORMAT").c_str(), &format) != 0) return std::nullopt;
  return fs::ToMilliseconds(format.st_mtim);
}

fs::MountOptions MountOptionsOf(const DaemonOptions& options,
                                std::function<std::string()> configuration) {
  fs::MountOptions mount = options.configuration.mount;
  mount.authorization = options.configuration.store.site.authorization;
  if (IsRemote(options.store)) {
    mount.attributes_table = AttributesTableOf(options.store, options.configuration);
  } else {
    mount.store_directory = options.store;
  }
  mount.store_made_at = StoreMadeAt(options.store);
  mount.configuration = std::move(configuration);
  return mount;
}

// Each table has a few files open, and the usual soft limit is made for programs that use
// select(2).
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// A heap of a thread's own grows by a page at a time, each with a system call: for every page of
// the store file that is cached, and every few nodes. The main one grows by 32 of them.
void UseOneHeap() { mallopt(M_ARENA_MAX, 1); }

fs::SessionOptions SessionOptionsOf(const DaemonOptions& options) {
  return {.source = options.store,
          .debug = options.debug,
          .max_threads = options.configuration.threads,
          .transport = options.configuration.transport,
          .extra = options.configuration.kernel_options};
}

std::optional<mode_t> ModeOf(const std::string& directory) {
  struct stat attributes {};
  if (stat(directory.c_str(), &attributes) != 0) return std::nullopt;
  return attributes.st_mode & 07777;
}

// Also to whoever mounts: his terminal is ours until the mount answers.
void TellOfMode(const DaemonOptions& options, mode_t before) {
  std::ostringstream line;
  line << options.store << " had the mode 0" << std::oct << before
       << "; it is 0700 now, for a store is its owner's alone";
  spdlog::warn("{}", line.str());
  if (LogTarget(options) != "stderr") std::cerr << "cellfs: " << line.str() << std::endl;
}

// What is not whole, tables and the store's log: in the log, in /.cellfs/errors, and to whoever mounts.
void TellOfDamage(const Statistics& statistics, const DaemonOptions& options,
                  fs::ErrorLog& errors) {
  const auto tell = [&](const fs::Place& place, const std::string& what) {
    errors.Record("mount", place, fs::Outcome(EIO, what));
    if (LogTarget(options) != "stderr") std::cerr << "cellfs: warning: " << what << std::endl;
  };
  for (const TableStatistics& table : statistics.tables) {
    if (!table.damage.empty())
      tell(fs::TablePlace(table.table), table.table.ToString() + ": " + table.damage);
  }
  for (const KeptTableStatistics& kept : statistics.kept) {
    if (kept.damage.empty()) continue;
    tell(fs::NamespacePlace(kept.table.namespace_name),
         kept.table.ToString() + ", dropped at " + std::to_string(kept.dropped) + " and kept: " +
             kept.damage);
  }
  for (const std::string& lost : statistics.lost_tables) tell(fs::RootPlace(), lost);
  for (const std::string& cut_off : statistics.cut_off) tell(fs::RootPlace(), cut_off);
  if (statistics.disk_reserve < statistics.disk_reserve_wanted)
    tell(fs::RootPlace(),
         "RESERVE keeps " + std::to_string(statistics.disk_reserve) + " of " +
             std::to_string(statistics.disk_reserve_wanted) +
             " bytes for a full disk: there is no room for more, or it is no file");
}

Status WithRemedyOfOwners(const Status& unreadable, const std::string& store) {
  return Status(unreadable.code(),
                unreadable.message() +
                    ". Without a backup 'cellfs check --repair --forget-owners " + store +
                    "' gives up every owner, mode and time that was set");
}

std::string DeviceOf(const std::string& mountpoint) {
  const auto mount = FindMountOn(mountpoint);
  return mount ? mount->device : "";
}

// Also by another name, or below another's mount.
bool IsMounted(const std::string& device) {
  const std::vector<MountedStore> mounts = ListMounts();
  return std::any_of(mounts.begin(), mounts.end(),
                     [&](const MountedStore& mount) { return mount.device == device; });
}

// It is left, for programs in it would go on in the directory below. The next mount takes it away.
void TellOfStaleMount(const std::string& mountpoint) {
  spdlog::error("the kernel's connection was aborted, as by 'umount -f': the mount on {} is stale; "
                "mount the store again, or take it away with 'cellfs umount {}'",
                mountpoint, mountpoint);
}

Status Ending(const std::string& store) {
  return Status(StatusCode::kUnavailable,
                "the store " + store + " is being unmounted; try again");
}

// Whether a request goes through the kernel and comes back: statfs(2) always reaches the daemon,
// and asks nothing of the store. Where the mount has been detached there is nothing to ask.
bool Answers(const std::string& mountpoint) {
  struct statvfs answer {};
  return statvfs(mountpoint.c_str(), &answer) == 0;
}

std::string MountedText(const DaemonOptions& options) {
  return options.store + " is mounted on " + options.mountpoint;
}

// Twice as often as it is wanted. A thread that waits for an answer that does not come tells
// nothing, and so the service manager ends the daemon; the end of the connection ends the waiting.
std::unique_ptr<PeriodicTask> Watch(const ServiceManager& manager, const std::string& mountpoint) {
  if (!manager.watchdog()) return nullptr;
  return std::make_unique<PeriodicTask>(*manager.watchdog() / 2, [&manager, mountpoint] {
    if (Answers(mountpoint)) manager.TellAlive();
  });
}

// Everything between the store's opening and its closing: the exit code, or why nothing was served.
StatusOr<int> Serve(const OpenedStore& opened, const DaemonOptions& options,
                    const Guardian& guardian, const ServiceManager& manager,
                    const Report& report) {
  Store& store = *opened.store;
  std::optional<NotedControls> controls;
  if (opened.controls != nullptr)
    controls.emplace(*opened.controls, options.configuration.store.cache_bytes);
  StoreControls* const noted = controls ? &*controls : nullptr;
  Reloading reloading(options.configuration, options.read_configuration, noted,
                      options.foreground);
  const auto configuration_text = [&] {
    Configuration in_force = reloading.InForce();
    if (controls) in_force.store.cache_bytes = controls->cache_bytes();
    return ConfigurationText(std::move(in_force));
  };
  fs::FileSystem filesystem(store, MountOptionsOf(options, configuration_text),
                            options.configuration.store.clock, noted);
  filesystem.errors().SetSink(WarnWithNames);
  TellOfDamage(store.GetStatistics(), options, filesystem.errors());
  // Nobody's rights could be told, and not even the root be shown.
  if (const Status loaded = filesystem.LoadAttributes(); !loaded.ok())
    return WithRemedyOfOwners(loaded, options.store);
  auto session = fs::FuseSession::Mount(filesystem, options.mountpoint, SessionOptionsOf(options));
  if (!session.ok())
    return WithCause(session.status(), options.mountpoint, filesystem.options().allow_other);
  guardian.Guard(options.mountpoint);
  std::atomic<bool> ending = false;  // the mount: who wants to mount the store anew may wait for it
  const Served served{.filesystem = filesystem,
                      .controls = noted,
                      .mountpoint = options.mountpoint,
                      .kernel = session->get()};
  const std::string device = DeviceOf(options.mountpoint);
  auto control = ControlServer::Open(
      {.device = device,
       .store = options.store,
       .is_for_all = filesystem.options().allow_other,
       .memory = &filesystem.parts().tree.open_file_memory},
      [&](const Peer& peer, ControlRequest request,
          const TakeRecord& take) -> StatusOr<nlohmann::json> {
        spdlog::debug("command {} of user {}", request.command, peer.uid);
        if (ending) return Ending(options.store);
        return cellfs::Serve(served, peer, std::move(request), take);
      });
  if (!control.ok()) return control.status();
  PeriodicTask quotas(kQuotaInterval, [&] {
    if (options.configuration.mount.read_only) return;  // what they refuse is refused anyway
    if (Status status = store.CheckSpaceQuotas(); !status.ok())
      WarnWithNames("space quotas: " + status.message());
  });
  std::optional<PeriodicTask> scrubs;
  if (store.traits().has_statistics) {
    const ScrubNews before(store.GetStatistics().scrub);
    scrubs.emplace(kScrubNewsInterval, [&store, news = before]() mutable {
      for (const std::string& line : news.Of(store.GetStatistics().scrub)) WarnWithNames(line);
    });
  }
  PeriodicTask moments(kMomentInterval, [&filesystem] { filesystem.LetGoUnused(); });
  std::unique_ptr<PeriodicTask> watch;  // goes after the session, whose end it may wait for
  Status ended;
  {
    const SignalThread signals(**session, ending, EndsWithTerminal(options), [&] {
      manager.TellReloading();
      reloading.Reload();
      manager.TellReady(MountedText(options));
    });
    ended = (*session)->Run([&] {
      spdlog::info("{}", MountedText(options));
      watch = Watch(manager, options.mountpoint);
      manager.TellReady(MountedText(options));
      report({});
    });
    ending = true;
    manager.TellStopping();
  }
  const bool is_left = (*session)->disconnected() && IsMounted(device);
  // Of what was closed last the kernel drops what it still had to say.
  if ((*session)->disconnected() && !is_left) filesystem.ReleaseClosed();
  (*control)->StopAccepting();
  session->reset();  // programs in the mount need not wait for commands that still run
  if (!ended.ok()) spdlog::error("{}", ended.message());
  if (is_left) TellOfStaleMount(options.mountpoint);
  return ended.ok() && !is_left ? 0 : 1;
}

}  // namespace

int RunDaemon(const DaemonOptions& options, const Report& report) {
  RaiseDescriptorLimit();
  UseOneHeap();
  const sigset_t signals = SignalThread::Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A limit of file sizes (SIGXFSZ) is an error of the write that meets it.
  for (const int number : {SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ}) signal(number, SIG_IGN);
  const ServiceManager manager;  // both while there is one thread
  const Guardian guardian;
  if (Status status = SetUpLogging(LogTarget(options), options.configuration.log_level);
      !status.ok()) {
    report(status);
    return 1;
  }
  const auto mode = ModeOf(options.store);
  std::optional<NewStore> made;
  if (!IsRemote(options.store)) made.emplace(options.store);
  manager.TellStatus("opening the store");
  auto store = OpenStore(options.store, options.configuration);
  if (!store.ok()) {
    if (made) made->TakeAway();
    return Fail(store.status(), options, manager, report);
  }
  if (mode && mode != ModeOf(options.store)) TellOfMode(options, *mode);
  const StatusOr<int> code = Serve(*store, options, guardian, manager, report);
  store->store.reset();
  if (!code.ok()) {
    if (made) made->TakeAway();
    return Fail(code.status(), options, manager, report);
  }
  spdlog::info("{} is closed", options.store);
  return *code;
}

}  // namespace cellfs
