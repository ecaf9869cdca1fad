// SPDX-License-Identifier: MIT
#include "src/commands/command_app.h"

#include <memory>
#include <sstream>

namespace cellfs {
namespace {

constexpr ExitCode kExitCodes[] = {
    {kExitDone, "done"},
    {kExitNo, "no: not found, there already, a condition that did not hold, a difference, damage"},
    {kExitWrongCall, "called wrongly"},
    {kExitFailed, "the store or the daemon failed, or refused"},
};

// At most 79 columns wide.
std::string Wrapped(std::string_view paragraph) {
  std::string text;
  size_t width = 0;
  std::istringstream words{std::string(paragraph)};
  for (std::string word; words >> word;) {
    if (width > 0) {
      const bool fits = width + 1 + word.size() <= 79;
      text += fits ? " " : "\n";
      width = fits ? width + 1 : 0;
    }
    text += word;
    width += word.size();
  }
  return text;
}

std::string DescriptionOf(const Command& command) {
  const std::string summary = std::string(command.summary) + "\n";
  return command.description.empty() ? summary
                                     : summary + "\n" + Wrapped(command.description) + "\n";
}

// As people read it: operands by what they are, not by what the program calls them.
class HelpText : public CLI::Formatter {
 public:
  HelpText() { column_width(34); }

  std::string make_usage(const CLI::App* command, std::string /*name*/) const override {
    return "Usage: " + UsageOf(*command) + "\n";
  }
  std::string make_footer(const CLI::App* command) const override { return command->get_footer(); }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_type_name()
                         : CLI::Formatter::make_option_name(option, false);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool has_value = option->get_type_size() != 0 && !option->get_positional();
    return has_value ? " " + option->get_type_name() : "";
  }
};

std::string FooterOf(const Command& command) {
  std::string text = "Example:\n";
  for (const std::string& example : ExamplesOf(command)) text += "  " + example + "\n";
  return text;
}

}  // namespace

CLI::App& AddCommand(CLI::App& app, const Command& command, nlohmann::json& arguments) {
  CLI::App& added = *app.add_subcommand(std::string(command.name), DescriptionOf(command));
  added.formatter(std::make_shared<HelpText>());
  Syntax syntax(added, arguments);
  command.syntax(syntax);
  if (command.serve != nullptr) {
    syntax.Option("--config", "config", "FILE",
                  "as a mount of a cluster, or of a store that is not mounted, would have it");
  }
  if (command.serve != nullptr || command.prints_json)
    syntax.Flag("--json", "json", "print JSON, a line for each record");
  if (command.serve != nullptr || command.is_paged) {
    syntax.Option("--colour,--color", "colour", "WHEN",
                  "auto, always or never; NO_COLOR means never");
  }
  if (command.is_paged) syntax.Flag("--no-pager", "no_pager", "print at once");
  if (!command.example.empty()) added.footer(FooterOf(command));
  return added;
}

std::string UsageOf(const CLI::App& command) {
  std::string usage = "cellfs " + command.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string& name = option->get_type_name();
    const std::string dots = option->get_items_expected_max() > 1 ? "..." : "";
    usage += option->get_required() ? " " + name + dots : " [" + name + dots + "]";
  }
  return usage;
}

const char* TitleOf(Group group) {
  switch (group) {
    case Group::kMounts:
      return "Mounts";
    case Group::kHistory:
      return "History";
    case Group::kData:
      return "Data";
    case Group::kSchema:
      return "Schemas";
    case Group::kRights:
      return "Rights and quotas";
    case Group::kMaintenance:
      return "Maintenance";
    case Group::kHelp:
      break;
  }
  return "Help";
}

std::span<const ExitCode> ExitCodes() { return kExitCodes; }

std::string ExitCodesText() {
  std::string text;
  for (const auto& [code, meaning] : kExitCodes)
    text += "  " + std::to_string(code) + "  " + std::string(meaning) + "\n";
  return text;
}

std::vector<std::string> ExamplesOf(const Command& command) {
  std::vector<std::string> examples;
  std::istringstream lines{std::string(command.example)};
  for (std::string line; std::getline(lines, line);) examples.push_back("cellfs " + line);
  return examples;
}

}  // namespace cellfs
