// SPDX-License-Identifier: MIT
//
// shell: HBase's shell on a store.
#include "src/shell/shell.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Of what is typed and shown; a command that shows nothing while it works goes on. Twice: enough.
void EndAtInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) {
    if (shell::Output::Interrupt()) _exit(130);
  };
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

// Who ends an answer amid it has ended the connection to a mount's daemon too; and a daemon may have
// gone. Then the next command comes by another connection.
class LastingAccess : public StoreAccess {
 public:
  LastingAccess(const Front& front, std::string target, json values)
      : front_(front), target_(std::move(target)), values_(std::move(values)) {}

  Status Open() {
    json values = values_;
    CELLFS_ASSIGN_OR_RETURN(access_, front_.Open(target_, values));
    return {};
  }

  StatusOr<Answer> Call(const std::string& command, const json& arguments,
                        const TakeRecord& take) override {
    if (access_ == nullptr) CELLFS_RETURN_IF_ERROR(Open());
    json with_umask = arguments;  // what the command makes is as open as what others make
    if (const auto umask = values_.find("umask"); umask != values_.end()) with_umask["umask"] = *umask;
    const auto answer = access_->Call(command, with_umask, take);
    const StatusCode code = answer.status().code();
    if (code == StatusCode::kCancelled || code == StatusCode::kUnavailable ||
        code == StatusCode::kOutcomeUnknown) {
      access_.reset();
    }
    return answer;
  }

 private:
  const Front& front_;
  const std::string target_;
  const json values_;
  std::unique_ptr<StoreAccess> access_;  // null: to be opened anew
};

StatusOr<int> RunShell(const Front& front, const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  CELLFS_ASSIGN_OR_RETURN(const StorePath path, FindWholeStore(target));
  std::unique_ptr<shell::Lines> script;
  if (const std::string file = arguments.Text("script"); !file.empty()) {
    CELLFS_ASSIGN_OR_RETURN(script, shell::FileLines(file));
  }
  json values = arguments.values();
  for (const char* name : {"script", "noninteractive"}) values.erase(name);
  LastingAccess access(front, target, std::move(values));
  CELLFS_RETURN_IF_ERROR(access.Open());
  const bool is_typed = script == nullptr && isatty(STDIN_FILENO) != 0;
  const bool is_alone = arguments.Flag("noninteractive");
  shell::Output output(stdout);
  shell::Shell typed(access, output,
                     {.is_interactive = is_typed && !is_alone,
                      .ends_at_error = is_alone,
                      .is_cluster = IsRemote(path.store)});
  if (is_typed) EndAtInterrupts();
  std::unique_ptr<shell::Lines> lines;
  if (script != nullptr) {
    lines = std::move(script);
  } else if (is_typed && !is_alone) {
    output.Line("HBase's shell on " + target + ". \"help\" lists the commands, \"exit\" ends it.\n");
    lines = shell::TerminalLines([&](const std::string& begin) { return typed.Completions(begin); });
  } else {
    lines = shell::StandardInputLines();
  }
  return typed.Run(*lines);
}

}  // namespace

const Command kShellCommand{
    .name = "shell",
    .group = Group::kData,
    .summary = "HBase's shell: its commands, typed or from a script",
    .description =
        "What HBase's book shows can be typed as it stands there. 'help' in it lists the commands. Off a "
        "terminal there is no prompt, and errors go to standard error; the exit code is then 1 where a "
        "command failed, or what 'exit' says.",
    .example = "shell ~/m\nshell -n ~/m <commands.txt\nshell hbase://localhost/ commands.txt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Flag("-n,--noninteractive", "noninteractive", "no prompt; ends at the first error");
          syntax.Target("a store or a mount point");
          syntax.Word("script", "SCRIPT", "a file of commands, instead of standard input",
                      /*is_required=*/false);
        },
    .run = RunShell,
};

}  // namespace cellfs
