// SPDX-License-Identifier: MIT
//
// Call: one command of HBase's shell while it runs: what it was given, and the ways to the store and
// to whom it was typed by. ShellCommand: what there is to call, a page for each.
#ifndef CELLFS_SRC_SHELL_CALL_H_
#define CELLFS_SRC_SHELL_CALL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/commands/command.h"
#include "src/shell/output.h"
#include "src/shell/value.h"

namespace cellfs::shell {

// What all commands of a shell share; outlives them.
struct Surroundings {
  StoreAccess& store;
  Output& output;
  bool is_cluster = false;
  // The next line of what is typed, or of the script; nullopt: there is none.
  virtual std::optional<std::string> NextLine() = 0;
  Surroundings(StoreAccess& its_store, Output& its_output, bool its_cluster)
      : store(its_store), output(its_output), is_cluster(its_cluster) {}
  virtual ~Surroundings() = default;
};

class Call {
 public:
  Call(Surroundings& surroundings, std::string_view command, const List& arguments)
      : surroundings_(surroundings), command_(command), arguments_(arguments) {}

  std::string_view command() const { return command_; }
  Output& output() { return surroundings_.output; }
  bool is_cluster() const { return surroundings_.is_cluster; }
  std::optional<std::string> NextLine() { return surroundings_.NextLine(); }

  size_t count() const { return arguments_.size(); }
  const List& arguments() const { return arguments_; }
  bool Has(size_t place) const { return place < count() && !arguments_[place].IsNil(); }
  // kIllegalArgument, which names the argument as `what`: it is not there, or something else.
  StatusOr<std::string> Text(size_t place, const std::string& what) const;
  // An empty one where there is none.
  StatusOr<Hash> HashAt(size_t place, const std::string& what) const;

  // Calls a command of the command line where the store is; each of its records goes to `take`,
  // until that says that it is enough. Errors are in the words of HBase's shell.
  StatusOr<Answer> Ask(const std::string& command, const nlohmann::json& arguments,
                       const TakeRecord& take = IgnoreRecord);
  // The only record of it.
  StatusOr<nlohmann::json> AskOne(const std::string& command, const nlohmann::json& arguments);

 private:
  static bool IgnoreRecord(const nlohmann::json& /*record*/) { return true; }

  Surroundings& surroundings_;
  const std::string_view command_;
  const List& arguments_;
};

struct ShellCommand {
  std::string_view name;
  size_t least = 0;  // arguments
  size_t most = 0;
  std::string_view help;  // what it does, and calls of it, a line each
  // What it answers is shown where people type, and can be kept under a name.
  StatusOr<Value> (*run)(Call& call) = nullptr;
};

struct CommandGroup {
  std::string_view name;   // "ddl"
  std::span<const ShellCommand> commands;
};

// In the order of HBase's help.
std::span<const CommandGroup> CommandGroups();
const ShellCommand* FindShellCommand(std::string_view name);  // null: none that does anything here
// Of HBase's other commands, why nothing is done; empty: HBase has none of that name.
std::string WhyNotHere(std::string_view name, bool is_cluster);
// And whether all is as if it had been done. Where not, whoever goes on has to know.
bool IsAsIfDone(std::string_view name, bool is_cluster);

extern const std::span<const ShellCommand> kGeneralCommands;
extern const std::span<const ShellCommand> kDdlCommands;
extern const std::span<const ShellCommand> kNamespaceCommands;
extern const std::span<const ShellCommand> kDmlCommands;
extern const std::span<const ShellCommand> kToolCommands;
extern const std::span<const ShellCommand> kQuotaCommands;
extern const std::span<const ShellCommand> kSecurityCommands;

// Bytes as a word of the command line says them.
std::string WordOf(std::string_view bytes);
// Of a column: "f", "f:", "f:q".
std::string ColumnWordOf(std::string_view bytes);

inline Status Refused(const std::string& why) { return {StatusCode::kIllegalArgument, why}; }

// Those of the texts that the whole of the regular expression matches; kIllegalArgument: it is none.
StatusOr<std::vector<std::string>> Matching(const std::vector<std::string>& texts,
                                            const std::string& expression);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_CALL_H_
