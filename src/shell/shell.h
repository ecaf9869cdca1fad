// SPDX-License-Identifier: MIT
//
// Shell: HBase's shell on a store of cellfs: reads statements, runs their commands one after the
// other, and shows what HBase's shows.
#ifndef CELLFS_SRC_SHELL_SHELL_H_
#define CELLFS_SRC_SHELL_SHELL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/shell/call.h"
#include "src/shell/lines.h"
#include "src/shell/statement.h"

namespace cellfs::shell {

// One thread.
class Shell : private Surroundings {
 public:
  struct Options {
    bool is_interactive = false;  // prompts, and shows what commands answer
    bool ends_at_error = false;
    bool is_cluster = false;
  };

  // All outlive it.
  Shell(StoreAccess& store, Output& output, const Options& options);

  // To the end of the lines, or `exit`. The exit code: what `exit` says; 1 where a command failed and
  // nobody sat before it; else 0. An error of the lines themselves.
  StatusOr<int> Run(Lines& lines);
  bool has_ended() const { return exit_code_.has_value(); }

  // Commands, constants and tables that begin so.
  std::vector<std::string> Completions(const std::string& begin);

 private:
  std::optional<std::string> NextLine() override;
  std::string Prompt(bool goes_on) const;
  bool MayGoOn() const { return !exit_code_ && !(has_failed_ && options_.ends_at_error); }

  void RunText(const std::string& text);
  void RunAll(const std::vector<Statement>& statements);
  void RunOne(const Statement& statement);
  void RunBlock(const Statement& statement, const Value& value);
  StatusOr<Value> Evaluate(const Statement& statement);
  StatusOr<Value> RunCommand(const std::string& name, const List& arguments);
  StatusOr<List> ArgumentsOf(const Statement& statement) const;
  bool TakeBuiltIn(const Statement& statement);
  void Help(const std::string& about);
  void HelpCommand(const ShellCommand& command);
  void ShowError(const Status& status, const std::string& command);

  const Options options_;
  Lines* lines_ = nullptr;  // while Run reads them
  std::map<std::string, Value> variables_;
  std::optional<int> exit_code_;
  bool has_failed_ = false;
  int number_ = 1;  // of the next statement
  // Of what is typed, or of the script.
  uint64_t lines_read_ = 0;
  uint64_t begun_in_ = 0;  // where the command that is being read begins
};

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_SHELL_H_
