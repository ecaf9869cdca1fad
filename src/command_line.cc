// SPDX-License-Identifier: MIT
#include "src/command_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <utility>

#include "fs/base/closest_word.h"
#include "src/commands/command.h"
#include "src/commands/command_app.h"
#include "src/commands/pager.h"
#include "src/mount_helper.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Of a message in which a key may hold anything.
std::string OneLine(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return message;
}

int Fail(const std::string& message, int code) {
  std::cerr << "cellfs: " << OneLine(message) << '\n';
  return code;
}

int FailToWrite(int error) {
  return Fail(std::string("the output cannot be written: ") + strerror(error), kExitFailed);
}

// Of what was printed without a Printer.
int AfterPrinting() {
  errno = 0;
  std::cout.flush();
  return std::cout.good() || errno == EPIPE ? kExitDone : FailToWrite(errno);
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

// "--lmit" in "The following argument was not expected: --lmit".
std::string UnknownOption(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string closest = fs::ClosestTo(word, known);
  std::string text = "'" + word + "' is not understood";
  if (!closest.empty()) return text + "; did you mean '" + closest + "'?";
  if (!word.starts_with('-')) return text;
  return text + "; where it is a word and no option, '--' goes before the first word";
}

bool IsOption(const std::string& word) { return word.starts_with('-') && word != "-"; }

// Of the options that may be said once; empty: none.
std::string SaidTwice(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() && option->get_items_expected_max() == 1 && option->count() > 1)
      return option->get_name();
  }
  return "";
}

// Of a command line that is none.
std::string WordsOf(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return "name a command; 'cellfs --help' lists all of them";
  const CLI::App& command = *commands.front();
  std::string reason = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const auto left = command.remaining();
    const auto option = std::find_if(left.begin(), left.end(), IsOption);
    reason = option == left.end() ? "missing: " + MissingIn(command)
                                  : UnknownOption(command, *option);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const std::string twice = SaidTwice(command); !twice.empty())
      reason = "'" + twice + "' is said twice; say it once";
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    auto words = command.remaining();
    if (words.empty()) words = app.remaining();
    if (!words.empty()) reason = UnknownOption(command, words.front());
  }
  return reason + "; it is called " + UsageOf(command) + " ('cellfs " + command.get_name() +
         " --help')";
}

std::string UnknownCommand(const std::string& word) {
  std::vector<std::string> known;
  for (const Command* command : AllCommands()) known.emplace_back(command->name);
  const std::string closest = fs::ClosestTo(word, known);
  return "unknown command '" + word + "'; " +
         (closest.empty() ? "'cellfs --help' lists all of them" : "did you mean '" + closest + "'?");
}

// ---- Help ---------------------------------------------------------------------------------------

std::string AllHelp() {
  std::string text =
      "cellfs mounts a store of versioned cells, with HBase's data model, as a directory tree.\n\n"
      "usage: cellfs COMMAND [OPTIONS] STORE|MOUNT|PATH ...\n";
  const char* title = nullptr;
  for (const Command* command : AllCommands()) {
    if (const char* next = TitleOf(command->group); next != title) {
      title = next;
      text += std::string("\n") + title + "\n";
    }
    char line[160];
    snprintf(line, sizeof line, "  %-19s %s\n", std::string(command->name).c_str(),
             std::string(command->summary).c_str());
    text += line;
  }
  return text +
         "\n'cellfs help COMMAND' has more. A path below a mount, or STORE/namespace/table/row/..., "
         "is enough\nwhere a command is about what lies there.\nExit codes:\n" +
         ExitCodesText();
}

// ---- Running ------------------------------------------------------------------------------------

bool IsWanted(const char* variable) {
  const char* const value = getenv(variable);
  return value != nullptr && *value != '\0';
}

// By default where people read; NO_COLOR and TERM=dumb say no (no-color.org).
bool WantsColour(const Arguments& arguments, bool is_terminal) {
  const std::string wish = arguments.Text("colour");
  if (wish == "always") return true;
  if (wish == "never" || IsWanted("NO_COLOR") || !is_terminal) return false;
  const char* const terminal = getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

StatusOr<int> CallOnce(const Command& command, const Front& front, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(
      const Answer answer,
      CallAndPrint(front, command, arguments.Text("target"), arguments.values()));
  return ExitCodeOf(answer);
}

int Run(const Command& command, const Arguments& arguments) {
  const std::string colour = arguments.Text("colour");
  if (!colour.empty() && colour != "auto" && colour != "always" && colour != "never")
    return Fail("--colour is '" + colour + "'; there are auto, always and never", kExitWrongCall);
  const bool is_json = arguments.Flag("json");
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  const Printer::Style style{.json = is_json,
                             .terminal = is_terminal && !is_json,
                             .colour = !is_json && WantsColour(arguments, is_terminal)};
  std::unique_ptr<Pager> pager;
  if (command.is_paged && style.terminal && !arguments.Flag("no_pager")) pager = Pager::Start();
  Printer printer(stdout, style);
  const Front front{printer};
  const StatusOr<int> code = command.run != nullptr ? command.run(front, arguments)
                                                    : CallOnce(command, front, arguments);
  printer.Finish();
  pager.reset();
  // Who has read enough of a pipe (head) is content.
  if (printer.failure() == EPIPE && !code.ok()) return command.prints_no ? kExitNo : kExitDone;
  if (!printer.ok() && printer.failure() != EPIPE) return FailToWrite(printer.failure());
  return code.ok() ? *code : Fail(code.status().message(), ExitCodeOf(code.status()));
}

void AddAction(CLI::App& app, const Command& command, json& arguments,
               std::function<int()>& action) {
  CLI::App& added = AddCommand(app, command, arguments);
  added.callback([&] { action = [&] { return Run(command, Arguments(arguments)); }; });
}

// What is opened later must not be taken for one that the caller has closed. Such a one is used in
// vain still: it can only be written to where it is to be read, and the other way.
void OpenStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_closed = fcntl(descriptor, F_GETFD) < 0 && errno == EBADF;
    if (is_closed) open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Options of every command that prints may stand before it, as of git. The first one that may not,
// or stands alone; empty: there is none.
std::string MoveBehindCommand(std::vector<std::string>& words) {
  size_t count = 0;
  while (count < words.size() && IsOption(words[count])) {
    const std::string& word = words[count];
    const bool has_value = word == "--colour" || word == "--color";
    const bool may_move = has_value || word == "--json" || word == "--no-pager" ||
                          word.starts_with("--colour=") || word.starts_with("--color=");
    if (!may_move) return word;
    count += has_value ? 2 : 1;
  }
  if (count >= words.size()) return count == 0 ? "" : words.front();
  std::rotate(words.begin(), words.begin() + static_cast<ptrdiff_t>(count),
              words.begin() + static_cast<ptrdiff_t>(count) + 1);
  return "";
}

// "cellfs help get"
int Help(int argc, char** argv) {
  if (argc < 3) {
    std::cout << AllHelp();
    return AfterPrinting();
  }
  const Command* const command = FindCommand(argv[2]);
  if (command == nullptr) return Fail(UnknownCommand(argv[2]), kExitWrongCall);
  CLI::App app("", "cellfs");
  json arguments;
  std::cout << AddCommand(app, *command, arguments).help("cellfs");
  return AfterPrinting();
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  OpenStandardDescriptors();
  // The store is its owner's, and his rights are not to be masked.
  const mode_t umask_before = umask(S_IRWXG | S_IRWXO);
  if (IsCallOfMount(argc, argv)) return RunMountHelper(argc, argv);
  json arguments = {{"umask", umask_before}};
  std::function<int()> action;
  CLI::App app("", "cellfs");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("cellfs ") + CELLFS_VERSION);
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") return Help(1, argv);
  if (first == "help") return Help(argc, argv);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::string before = MoveBehindCommand(words);
  if (!before.empty() && before != "--version")
    return Fail("'" + before + "' stands before the command; options go behind it: cellfs COMMAND "
                "[OPTIONS]", kExitWrongCall);
  if (before.empty() && !words.empty()) {
    const Command* const command = FindCommand(words.front());
    if (command == nullptr) return Fail(UnknownCommand(words.front()), kExitWrongCall);
    AddAction(app, *command, arguments, action);  // to declare all takes 5 million instructions
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return AfterPrinting();
    }
    return Fail(WordsOf(app, error), kExitWrongCall);
  }
  return action();
}

}  // namespace cellfs
