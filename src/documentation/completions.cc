// SPDX-License-Identifier: MIT
#include "src/documentation/completions.h"

#include <string_view>
#include <vector>

#include "src/documentation/command_page.h"

namespace cellfs {
namespace {

constexpr char kHelpSummary[] = "print help of all commands, or of one";

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

// In single quotes. Bash and zsh leave them for a quote; fish escapes it.
std::string Quoted(const std::string& text, std::string_view quote = "'\\''") {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += quote;
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string QuotedForFish(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') escaped += '\\';
    escaped += c;
  }
  return Quoted(escaped, "\\'");
}

// ---- bash ---------------------------------------------------------------------------------------

std::string KindForBash(const std::string& type) {
  const Completion completion = CompletionOf(type);
  switch (completion.kind) {
    case WordKind::kAny:
      return "any";
    case WordKind::kPath:
      return "path";
    case WordKind::kDirectory:
      return "directory";
    case WordKind::kUser:
      return "user";
    case WordKind::kTime:
      return completion.choices.empty() ? "time" : "time|" + Join(completion.choices, "|");
    case WordKind::kMountOptions:
      return "mount_options";
    case WordKind::kChoice:
      return Join(completion.choices, "|");
  }
  return "any";
}

std::string BranchForBash(const CommandPage& page) {
  std::vector<std::string> switches;
  std::vector<std::string> valued;
  std::vector<std::string> operands;
  for (const OptionPage& option : page.options) {
    for (const std::string& name : option.switches) {
      switches.push_back(name);
      if (!option.type.empty()) valued.push_back(name + "=" + KindForBash(option.type));
    }
  }
  for (const OperandPage& operand : page.operands)
    operands.push_back(KindForBash(operand.type) + (operand.is_repeated ? "*" : ""));
  return "    " + page.name + ")\n      options='" + Join(switches, " ") +
         "'\n      valued='" + Join(valued, " ") + "'\n      operands='" + Join(operands, " ") +
         "'\n      ;;\n";
}

// ---- zsh ----------------------------------------------------------------------------------------

// What stands within [...] of a specification.
std::string EscapedForZsh(const std::string& text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// ":message:action". After a blank the action is called as it stands.
std::string ActionForZsh(const std::string& type) {
  const Completion completion = CompletionOf(type);
  const std::string message = ":" + EscapedForZsh(type, ":\\") + ":";
  switch (completion.kind) {
    case WordKind::kAny:
      break;
    case WordKind::kPath:
      return message + "_files";
    case WordKind::kDirectory:
      return message + "_directories";
    case WordKind::kUser:
      return message + "_users";
    case WordKind::kTime:
      return message + " _cellfs_times " + Join(completion.choices, " ");
    case WordKind::kMountOptions:
      return message + "_cellfs_mount_options";
    case WordKind::kChoice:
      return message + " _cellfs_words " + Join(completion.choices, " ");
  }
  return message + " ";
}

std::string OptionForZsh(const OptionPage& option) {
  const std::string text =
      "[" + EscapedForZsh(option.help, "[]\\") + "]" +
      (option.type.empty() ? "" : ActionForZsh(option.type));
  std::string specifications;
  const std::string others = "(" + Join(option.switches, " ") + ")";
  for (const std::string& name : option.switches) {
    specifications +=
        " \\\n        " + Quoted((option.is_repeated ? "*" : others) + name + text);
  }
  return specifications;
}

std::string BranchForZsh(const CommandPage& page) {
  std::string text = "    " + page.name + ")\n      _arguments -S";
  for (const OptionPage& option : page.options) text += OptionForZsh(option);
  for (const OperandPage& operand : page.operands) {
    text += " \\\n        " + Quoted((operand.is_repeated ? "*" : "") + ActionForZsh(operand.type));
  }
  return text + "\n      ;;\n";
}

// ---- fish ---------------------------------------------------------------------------------------

// What "complete" is told of values of that type; empty: nothing is known of them.
std::string ValuesForFish(const std::string& type) {
  const Completion completion = CompletionOf(type);
  switch (completion.kind) {
    case WordKind::kAny:
      break;
    case WordKind::kPath:
      return " -F";
    case WordKind::kDirectory:
      return " -f -a '(__fish_complete_directories)'";
    case WordKind::kUser:
      return " -f -a '(__fish_complete_users)'";
    case WordKind::kTime:
      return " -f -a " + Quoted(Join(TimeWords(), " ") + (completion.choices.empty() ? "" : " ") +
                                Join(completion.choices, " "));
    case WordKind::kMountOptions:
      return " -f -a '(__cellfs_mount_options)'";
    case WordKind::kChoice:
      return " -f -a " + Quoted(Join(completion.choices, " "));
  }
  return "";
}

std::string SwitchForFish(const std::string& name) {
  return name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
}

std::string BranchForFish(const CommandPage& page) {
  const std::string& name = page.name;
  std::string text = "complete -c cellfs -n __cellfs_needs_command -f -a " + name + " -d " +
                     QuotedForFish(page.summary) + "\n";
  std::vector<std::string> valued;
  for (const OptionPage& option : page.options) {
    text += "complete -c cellfs -n '__cellfs_has " + name + "'";
    for (const std::string& one : option.switches) {
      text += SwitchForFish(one);
      if (!option.type.empty()) valued.push_back(one);
    }
    if (!option.type.empty()) {
      const std::string values = ValuesForFish(option.type);
      text += " -r" + (values.empty() ? " -f" : values);
    }
    text += " -d " + QuotedForFish(option.help) + "\n";
  }
  for (size_t i = 0; i < page.operands.size(); ++i) {
    const std::string values = ValuesForFish(page.operands[i].type);
    if (values.empty()) continue;
    // The call is "NAME FIRST LAST VALUED-SWITCH...": which operands it is about.
    text += "complete -c cellfs -n '__cellfs_operand " + name + " " + std::to_string(i + 1) + " " +
            std::to_string(page.operands[i].is_repeated ? 1000 : i + 1) + " " + Join(valued, " ") +
            "'" + values + "\n";
  }
  return text;
}

}  // namespace

std::string BashTable() {
  std::string text;
  for (const CommandPage& page : CommandPages()) text += BranchForBash(page);
  return text;
}

std::string ZshTable() {
  std::string text;
  for (const CommandPage& page : CommandPages()) text += BranchForZsh(page);
  return text;
}

std::string FishTable() {
  std::string text = "complete -c cellfs -n __cellfs_needs_command -f -a help -d '" +
                     std::string(kHelpSummary) + "'\n";
  for (const CommandPage& page : CommandPages()) {
    text += BranchForFish(page) + "complete -c cellfs -n '__cellfs_operand help 1 1' -f -a " +
            page.name + "\n";
  }
  return text;
}

std::string ZshCommands() {
  std::string text = "    " + Quoted(std::string("help:") + kHelpSummary) + "\n";
  for (const CommandPage& page : CommandPages()) {
    text += "    " + Quoted(page.name + ":" + page.summary) +
            "\n";
  }
  return text;
}

std::string BashCommands() {
  std::string text = "help";
  for (const CommandPage& page : CommandPages()) text += " " + page.name;
  return text;
}

}  // namespace cellfs
