// SPDX-License-Identifier: MIT
#include "src/shell/shell.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "fs/base/closest_word.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

constexpr std::array kConstants = {
    "BLOCKCACHE", "BLOCKSIZE", "BLOOMFILTER", "CACHE", "COLUMN", "COLUMNS", "COMPRESSION",
    "CONFIGURATION", "DATA_BLOCK_ENCODING", "DURABILITY", "FILTER", "FORMATTER", "IN_MEMORY",
    "INTERVAL", "KEEP_DELETED_CELLS", "LIMIT", "MAXLENGTH", "METADATA", "METHOD", "MIN_VERSIONS",
    "NAME", "NAMESPACE", "NUMREGIONS", "POLICY", "RAW", "READONLY", "REVERSED", "ROWPREFIXFILTER",
    "SPACE", "SPLITALGO", "SPLITS", "SPLITS_FILE", "STARTROW", "STOPROW", "TABLE", "TIMERANGE",
    "TIMESTAMP", "TTL", "TYPE", "VERSIONS"};
constexpr std::array kBuiltIns = {"exit", "help", "quit", "tools"};

std::string Seconds(std::chrono::steady_clock::duration duration) {
  char text[32];
  snprintf(text, sizeof text, "%.4f", std::chrono::duration<double>(duration).count());
  return text;
}

// What people write in HBase's shell and is the language beneath it.
constexpr std::string_view kOfRuby[] = {"puts",  "print", "p",      "require", "load",
                                        "def",   "for",   "while",  "until",   "if",
                                        "case",  "begin", "unless", "class",   "@shell"};

constexpr char kNoRuby[] =
    "of Ruby this shell reads values, names that keep what a command answers, and 'each' over a list; a "
    "loop can be a script that writes commands: for i in 1 2 3; do echo \"put 't', 'r$i', 'f:q', 'v'\"; "
    "done | cellfs shell STORE";

bool IsOfRuby(std::string_view word) {
  return std::find(std::begin(kOfRuby), std::end(kOfRuby), word) != std::end(kOfRuby);
}

std::string FirstWordOf(const std::string& text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  return text.substr(begin, text.find_first_of(" \t\n(.", begin) - begin);
}

Status NotKnown(const std::string& name) {
  if (IsOfRuby(name))
    return Refused("'" + name + "' is no command; " + kNoRuby);
  std::vector<std::string> names(kBuiltIns.begin(), kBuiltIns.end());
  for (const CommandGroup& group : CommandGroups())
    for (const ShellCommand& command : group.commands) names.emplace_back(command.name);
  const std::string closest = fs::ClosestTo(name, names);
  return Refused("'" + name + "' is no command, and nothing is kept under that name; " +
                 (closest.empty() ? "'help' lists all commands" : "did you mean '" + closest + "'?"));
}

std::string CountText(const ShellCommand& command) {
  if (command.least == command.most) return std::to_string(command.least);
  if (command.most >= 64) return std::to_string(command.least) + " or more";
  return std::to_string(command.least) + " to " + std::to_string(command.most);
}

}  // namespace

Shell::Shell(StoreAccess& its_store, Output& its_output, const Options& options)
    : Surroundings(its_store, its_output, options.is_cluster), options_(options) {}

std::string Shell::Prompt(bool goes_on) const {
  char text[32];
  snprintf(text, sizeof text, "cellfs:%03d:%d%c ", number_, goes_on ? 1 : 0, goes_on ? '*' : '>');
  return text;
}

StatusOr<int> Shell::Run(Lines& lines) {
  lines_ = &lines;
  std::string text;
  while (MayGoOn()) {
    std::string line;
    CELLFS_ASSIGN_OR_RETURN(const Lines::End end, lines.Next(Prompt(!text.empty()), &line));
    if (end == Lines::End::kInterrupt) {
      output.Begin();
      text.clear();
      continue;
    }
    if (end == Lines::End::kNoMore) break;
    ++lines_read_;
    if (text.empty()) begun_in_ = lines_read_;
    text += line + "\n";
    if (ParseStatements(text).status().code() == StatusCode::kUnavailable) continue;
    RunText(std::exchange(text, ""));
    output.Begin();  // what was ended is over: the next line is typed
  }
  if (!text.empty() && MayGoOn()) RunText(text);
  lines_ = nullptr;
  return exit_code_.value_or(has_failed_ && !options_.is_interactive ? kExitNo : kExitDone);
}

std::optional<std::string> Shell::NextLine() {
  std::string line;
  const auto end = lines_->Next("", &line);
  if (!end.ok() || *end != Lines::End::kLine) return std::nullopt;
  return line;
}

void Shell::RunText(const std::string& text) {
  const auto statements = ParseStatements(text);
  if (statements.status().code() == StatusCode::kUnavailable)
    return ShowError(Refused("the command that begins in line " + std::to_string(begun_in_) +
                             " is not complete: it lacks a closing quote or bracket"),
                     "");
  if (!statements.ok())
    return ShowError(IsOfRuby(FirstWordOf(text)) ? NotKnown(FirstWordOf(text)) : statements.status(), "");
  RunAll(*statements);
}

void Shell::RunAll(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements)
    if (MayGoOn()) RunOne(statement);
}

void Shell::RunOne(const Statement& statement) {
  ++number_;
  output.Begin();
  if (TakeBuiltIn(statement)) return;
  const auto begun = std::chrono::steady_clock::now();
  const bool is_kept =
      statement.receiver.empty() && variables_.contains(statement.command) &&
      statement.arguments.empty() && FindShellCommand(statement.command) == nullptr;
  const auto value = Evaluate(statement);
  if (!value.ok()) ShowError(value.status(), statement.command);
  if (!is_kept) output.Line("Took " + Seconds(std::chrono::steady_clock::now() - begun) + " seconds");
  if (!value.ok()) return;
  if (!statement.kept_as.empty()) variables_[statement.kept_as] = *value;
  if (statement.block != nullptr) return RunBlock(statement, *value);
  if (options_.is_interactive && !value->IsNil()) output.Line("=> " + value->Inspect());
}

void Shell::RunBlock(const Statement& statement, const Value& value) {
  const auto* const list = value.As<List>();
  if (list == nullptr)
    return ShowError(Refused("that is no list: " + value.Inspect()), statement.command);
  for (const Value& one : *list) {
    variables_[statement.block->parameter] = one;
    RunAll(statement.block->statements);
  }
  variables_.erase(statement.block->parameter);
}

StatusOr<Value> Shell::Evaluate(const Statement& statement) {
  CELLFS_ASSIGN_OR_RETURN(List arguments, ArgumentsOf(statement));
  if (statement.receiver.empty()) {
    const auto kept = variables_.find(statement.command);
    const bool is_command = FindShellCommand(statement.command) != nullptr;
    if (kept != variables_.end() && arguments.empty() && !is_command) return kept->second;
    return RunCommand(statement.command, arguments);
  }
  const auto kept = variables_.find(statement.receiver);
  if (kept == variables_.end()) return NotKnown(statement.receiver);
  if (kept->second.As<TableReference>() == nullptr)
    return Refused("what is kept under '" + statement.receiver + "' is no table");
  arguments.insert(arguments.begin(), Value{kept->second.Text()});
  return RunCommand(statement.command, arguments);
}

StatusOr<List> Shell::ArgumentsOf(const Statement& statement) const {
  List arguments;
  for (const Argument& argument : statement.arguments) {
    if (argument.variable.empty()) {
      arguments.push_back(argument.value);
      continue;
    }
    const auto kept = variables_.find(argument.variable);
    if (kept == variables_.end())
      return Refused("nothing is kept under '" + argument.variable + "'; names of tables, rows and "
                     "columns stand in quotes");
    arguments.push_back(kept->second);
  }
  return arguments;
}

StatusOr<Value> Shell::RunCommand(const std::string& name, const List& arguments) {
  const ShellCommand* const command = FindShellCommand(name);
  if (command == nullptr) {
    const std::string why = WhyNotHere(name, is_cluster);
    if (why.empty()) return NotKnown(name);
    if (!IsAsIfDone(name, is_cluster)) return Refused(name + ": " + why);
    output.Line(name + ": " + why);
    return Value{};
  }
  if (arguments.size() < command->least || arguments.size() > command->most) {
    return Refused("wrong number of arguments (given " + std::to_string(arguments.size()) +
                   ", expected " + CountText(*command) + ")");
  }
  Call call(*this, name, arguments);
  return command->run(call);
}

// ---- What is no command of the store ------------------------------------------------------------

bool Shell::TakeBuiltIn(const Statement& statement) {
  const std::string& name = statement.command;
  if (!statement.receiver.empty() && name != "help") return false;
  const Value first = statement.arguments.empty() ? Value{} : statement.arguments[0].value;
  if (name == "exit" || name == "quit") {
    const auto* const code = first.As<int64_t>();
    const bool says_failure = !options_.is_interactive && has_failed_;
    exit_code_ = code != nullptr ? static_cast<int>(*code) & 0xff : says_failure ? kExitNo : kExitDone;
    return true;
  }
  if (name == "help") {
    const bool is_bare = !statement.arguments.empty() && !statement.arguments[0].variable.empty();
    Help(is_bare ? statement.arguments[0].variable : first.Text());
    return true;
  }
  // What it names is known here already, or not at all.
  if (name == "import" || name == "java_import" || name == "include") return true;
  if (name == "tools") {
    Help("tools");
    return true;
  }
  return false;
}

void Shell::HelpCommand(const ShellCommand& command) {
  const std::string_view help = command.help;
  const size_t end = help.find('\n');
  output.Line(help.substr(0, end));
  if (end == help.npos) return;
  output.Line("");
  std::string_view calls = help.substr(end + 1);
  while (!calls.empty()) {
    const size_t line = std::min(calls.find('\n'), calls.size());
    output.Line("  " + std::string(calls.substr(0, line)));
    calls.remove_prefix(std::min(line + 1, calls.size()));
  }
}

void Shell::Help(const std::string& about) {
  if (const ShellCommand* const command = FindShellCommand(about)) return HelpCommand(*command);
  const auto groups = CommandGroups();
  const auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const CommandGroup& one) { return one.name == about; });
  if (group != groups.end()) {
    for (const ShellCommand& command : group->commands) {
      output.Line("Command: " + std::string(command.name));
      HelpCommand(command);
      output.Line("");
    }
    return;
  }
  if (!about.empty()) {
    const std::string why = WhyNotHere(about, is_cluster);
    if (!why.empty()) return output.Line(about + ": " + why);
    return ShowError(Refused("'" + about + "' is no command and no group of commands"), "");
  }
  output.Line("Type 'help \"COMMAND\"' (help \"get\") for one command, 'help \"GROUP\"' (help \"ddl\") "
              "for a group.\n\nCOMMAND GROUPS:");
  for (const CommandGroup& one : groups) {
    std::string names;
    for (const ShellCommand& command : one.commands)
      names += (names.empty() ? "" : ", ") + std::string(command.name);
    output.Line("  Group name: " + std::string(one.name) + "\n  Commands: " + names + "\n");
  }
  output.Line(
      "Names of tables, rows and columns stand in quotes; arguments are separated by commas. What is\n"
      "no text is written in double quotes: \"t\\x00\\xFF\". Attributes are pairs, in braces or not:\n"
      "{NAME => 'f1', VERSIONS => 5}. What a command answers can be kept: t = get_table 't1'.");
}

void Shell::ShowError(const Status& status, const std::string& command) {
  has_failed_ = true;
  if (!options_.is_interactive) {
    output.Flush();
    std::fprintf(stderr, "ERROR: %s\n", status.message().c_str());
    return;
  }
  output.Line("\nERROR: " + status.message() + "\n");
  if (FindShellCommand(command) != nullptr)
    output.Line("For usage try 'help \"" + command + "\"'\n");
}

std::vector<std::string> Shell::Completions(const std::string& begin) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view word) {
    if (word.starts_with(begin)) found.emplace_back(word);
  };
  for (const char* word : kBuiltIns) add(word);
  for (const CommandGroup& group : CommandGroups())
    for (const ShellCommand& command : group.commands) add(command.name);
  if (!begin.empty()) {
    for (const char* word : kConstants) add(word);
    static_cast<void>(store.Call("list", json::object(), [&](const json& record) {
      add(record["table"].get_ref<const std::string&>());
      return true;
    }));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace cellfs::shell
