// SPDX-License-Identifier: MIT
#include "src/documentation/manual_pages.h"

#include <algorithm>

#include "src/commands/command_app.h"
#include "src/configuration.h"

namespace cellfs {
namespace {

// Text as roff prints it: ASCII's signs themselves, not what typesetters make of them.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// As a line of its own, which is no request.
std::string Line(std::string_view text) {
  const std::string escaped = Escaped(text);
  return (escaped.starts_with('.') ? "\\&" : "") + escaped + "\n";
}

std::string Bold(std::string_view text) { return "\\fB" + Escaped(text) + "\\fR"; }

// What stands for something: "STORE|MOUNT".
std::string Variable(std::string_view text) { return "\\fI" + Escaped(text) + "\\fR"; }

// 'man cellfs log' looks for it by this name.
std::string PageName(const Command& command) { return "cellfs-" + std::string(command.name); }

// "cellfs log [OPTIONS] PATH..."
std::string SynopsisOf(const CommandPage& page) {
  std::string line = Bold("cellfs " + page.name) + " [" + Variable("OPTIONS") + "]";
  for (const OperandPage& operand : page.operands) {
    const std::string name = Variable(operand.type) + (operand.is_repeated ? "..." : "");
    line += operand.is_required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

std::string OperandsOf(const CommandPage& page) {
  std::string text;
  for (const OperandPage& operand : page.operands)
    text += ".TP\n" + Variable(operand.type) + "\n" + Line(operand.help);
  return text;
}

std::string OptionText(const OptionPage& option) {
  std::string heading;
  for (const std::string& name : option.switches) heading += (heading.empty() ? "" : ", ") + Bold(name);
  if (!option.type.empty()) heading += " " + Variable(option.type);
  const std::string more = option.is_repeated ? "; may be given several times" : "";
  return ".TP\n" + heading + "\n" + Line(option.help + more);
}

std::string OptionsOf(const CommandPage& page) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionPage& option : page.options) text += OptionText(option);
  return text;
}

std::string ExamplesText(const Command& command) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : ExamplesOf(command)) text += Line(example);
  return text + ".fi\n";
}

std::string SeeAlso(const Command& command) {
  std::string text = ".SH SEE ALSO\n.BR cellfs (1)";
  for (const Command* other : AllCommands()) {
    if (other->group == command.group && other != &command)
      text += ",\n.BR " + Escaped(PageName(*other)) + " (1)";
  }
  return text + "\n";
}

std::string KeyText(const ConfigurationKey& key) {
  std::string value = key.value;
  std::replace(value.begin(), value.end(), '\n', ' ');
  return ".TP\n" + Bold(key.name) + " = " + Escaped(value) + "\n" +
         (key.meaning.empty() ? "" : Line(key.meaning));
}

std::string SectionText(const ConfigurationSection& section) {
  std::string text = ".SS [" + section.name + "]\n";
  if (!section.meaning.empty()) text += Line(section.meaning);
  // Keys that their section explains stand close together.
  if (!section.keys.empty() && section.keys.front().meaning.empty()) {
    text += ".PP\n.nf\n";
    for (const ConfigurationKey& key : section.keys)
      text += Bold(key.name) + " = " + Escaped(key.value) + "\n";
    return text + ".fi\n";
  }
  for (const ConfigurationKey& key : section.keys) text += KeyText(key);
  return text;
}

}  // namespace

std::string CommandManual(const CommandPage& page) {
  const Command& command = *page.command;
  std::string title = PageName(command);
  const std::string name = Escaped(title);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return static_cast<char>(toupper(static_cast<unsigned char>(c))); });
  std::string text = ".\\\" Made from the program's own help. SPDX-License-Identifier: MIT\n.TH " +
                     Escaped(title) + " 1 \"\" \"cellfs " CELLFS_VERSION "\" \"User commands\"\n" +
                     ".SH NAME\n" + name + " \\- " + Line(command.summary) + ".SH SYNOPSIS\n" +
                     SynopsisOf(page);
  const std::string operands = OperandsOf(page);
  if (!command.description.empty() || !operands.empty()) {
    text += ".SH DESCRIPTION\n" +
            (command.description.empty() ? "" : Line(command.description)) + operands;
  }
  return text + OptionsOf(page) + ExamplesText(command) + ".SH EXIT STATUS\n" + ExitCodeList() +
         SeeAlso(command);
}

std::string CommandList() {
  std::string text;
  const char* title = nullptr;
  for (const Command* command : AllCommands()) {
    if (const char* next = TitleOf(command->group); next != title) {
      title = next;
      text += ".SS " + std::string(title) + "\n";
    }
    text += ".TP\n.BR " + Escaped(PageName(*command)) + " (1)\n" + Line(command->summary);
  }
  return text;
}

std::string ExitCodeList() {
  std::string text;
  for (const auto& [code, meaning] : ExitCodes())
    text += ".TP\n" + Bold(std::to_string(code)) + "\n" + Line(meaning);
  return text;
}

std::string ConfigurationList() {
  std::string text;
  for (const ConfigurationSection& section : ConfigurationSections({})) text += SectionText(section);
  return text;
}

}  // namespace cellfs
