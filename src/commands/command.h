// SPDX-License-Identifier: MIT
//
// Command: one word of `cellfs`, as a page of its own: how it is called, what it does, what people
// see of it. src/commands/all.cc lists them.
//
// Most have two halves. `serve` runs where the store is: in the daemon of a mount, as whoever called,
// or in this process where the store is not mounted. What it finds goes out as records, one at a
// time, so that nothing is held. `print` shows them here: as tables on a terminal, as plain lines in
// a pipe, as JSON where that is asked for.
#ifndef CELLFS_SRC_COMMANDS_COMMAND_H_
#define CELLFS_SRC_COMMANDS_COMMAND_H_

#include <atomic>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/controlled_store.h"
#include "engine/status_or.h"
#include "fs/operations/callers_store.h"
#include "fs/operations/filesystem.h"
#include "src/commands/arguments.h"
#include "src/commands/printer.h"
#include "src/commands/syntax.h"
#include "src/daemon/control_socket.h"
#include "src/mount/mount_table.h"

namespace cellfs::fs {
class FuseSession;
}  // namespace cellfs::fs

namespace cellfs {

// How a command ended that did not fail.
enum class Answer {
  kDone,
  kNo,  // not found, a condition that did not hold, things that differ
};

// The program's exit codes.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitWrongCall = 2;
inline constexpr int kExitFailed = 3;

inline int ExitCodeOf(Answer answer) { return answer == Answer::kDone ? kExitDone : kExitNo; }
// By what the store says: what is not there, or is there already, is a no; what could never be is a
// wrong call; everything else failed.
int ExitCodeOf(const Status& status);

// Where `serve` runs.
struct Session {
  fs::FileSystem& filesystem;
  fs::CallersStore& store;  // as the caller may use it; every change is told to the kernel
  const Caller& caller;
  StoreControls* controls;  // null where the store is not in this process, or is not the caller's
  std::string mountpoint;   // empty: not mounted
  const fs::FuseSession* kernel = nullptr;  // as in Served
  // Of a store that need not be open once: where else it is mounted.
  const std::vector<MountedStore>& other_mounts;
  const std::atomic<bool>* cancelled;
  const TakeRecord& take;

  Timestamp Now() const { return filesystem.parts().clock->Now(); }
};

// The way from here to where the store is: `serve` of the command, there.
class StoreAccess {
 public:
  virtual ~StoreAccess() = default;
  virtual StatusOr<Answer> Call(const std::string& command, const nlohmann::json& arguments,
                                const TakeRecord& take) = 0;
};

// Where `run` runs.
struct Front {
  Printer& printer;
  // The store or mount that the target is or lies in; where the rest of the path goes into the
  // arguments that are for `serve`. With only_reads nothing of a store that is not mounted is
  // written.
  StatusOr<std::unique_ptr<StoreAccess>> Open(const std::string& target,
                                              nlohmann::json& arguments,
                                              bool only_reads = false) const;
};

enum class Group { kMounts, kHistory, kData, kSchema, kRights, kMaintenance, kHelp };

struct Command {
  std::string_view name;
  Group group;
  std::string_view summary;  // a line
  std::string_view description = {};  // what else is to be known of it: a paragraph
  std::string_view example;  // one call, or some, a line each, without "cellfs "
  // What a kNo means, for people. Empty: the exit code says enough.
  std::string_view no = {};
  void (*syntax)(Syntax& syntax);
  // The mount's owner and root alone.
  bool is_owners = false;
  // Long: a pager shows it on a terminal.
  bool is_paged = false;
  // What it prints is a kNo (differences), also where nobody reads to its end.
  bool prints_no = false;
  // It makes changes, also where nobody reads of them any more.
  bool goes_on = false;
  // `run` prints JSON where that is asked for.
  bool prints_json = false;
  bool only_reads = false;
  // Its target is a store or a mount point, and nothing in one.
  bool is_of_whole_store = false;
  StatusOr<Answer> (*serve)(Session& session, const Arguments& arguments) = nullptr;
  // Null: people see nothing of it.
  void (*print)(Printer& printer, const nlohmann::json& record) = nullptr;
  // Instead of CallAndPrint, once: the exit code, or why it failed.
  StatusOr<int> (*run)(const Front& front, const Arguments& arguments) = nullptr;
};

// A member of records that only `print` is told: JSON is without it.
inline constexpr char kForPrint[] = "for_print";

// Calls `serve` of the command and shows its records, as JSON or by `print`; a kNo is explained on
// standard error. A failure after the first record is no "not found" any more.
StatusOr<Answer> CallAndPrint(const Front& front, const Command& command, const std::string& target,
                              nlohmann::json arguments);

// In the order in which they are listed.
std::span<const Command* const> AllCommands();
const Command* FindCommand(std::string_view name);  // null: there is none

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_COMMAND_H_
