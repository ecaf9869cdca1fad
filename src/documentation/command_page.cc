// SPDX-License-Identifier: MIT
#include "src/documentation/command_page.h"

#include <map>

#include "src/commands/command.h"
#include "src/commands/command_app.h"
#include "src/configuration.h"

namespace cellfs {
namespace {

OptionPage OptionPageOf(const CLI::Option& option) {
  OptionPage page;
  for (const std::string& name : option.get_snames()) page.switches.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.switches.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) page.type = option.get_type_name();
  page.help = option.get_description();
  page.is_repeated = !is_flag && option.get_items_expected_max() > 1;
  return page;
}

CommandPage PageOf(const Command& command) {
  CLI::App app;
  nlohmann::json arguments;
  CommandPage page{.command = &command,
                   .name = std::string(command.name),
                   .summary = std::string(command.summary),
                   .options = {},
                   .operands = {}};
  for (const CLI::Option* option : AddCommand(app, command, arguments).get_options()) {
    if (option->get_positional()) {
      page.operands.push_back({.type = option->get_type_name(),
                               .help = option->get_description(),
                               .is_required = option->get_required(),
                               .is_repeated = option->get_items_expected_max() > 1});
    } else {
      page.options.push_back(OptionPageOf(*option));
    }
  }
  // The parser's own words for it are no line of ours.
  if (!page.options.empty()) page.options.front().help = "print how it is called, and end";
  return page;
}

const std::map<std::string, Completion>& Completions() {
  static const std::map<std::string, Completion> completions = {
      {"STORE|MOUNT|PATH", {WordKind::kPath, {}}},
      {"PATH", {WordKind::kPath, {}}},
      {"FILE", {WordKind::kPath, {}}},
      {"STORE", {WordKind::kDirectory, {}}},
      {"MOUNTPOINT", {WordKind::kDirectory, {}}},
      {"MOUNTPOINT|STORE", {WordKind::kDirectory, {}}},
      {"USER", {WordKind::kUser, {}}},
      {"TIME", {WordKind::kTime, {}}},
      {"TIME|all", {WordKind::kTime, {"all"}}},
      {"OPTIONS", {WordKind::kMountOptions, {}}},
      {"WHEN", {WordKind::kChoice, {"auto", "always", "never"}}},
      {"FORMAT", {WordKind::kChoice, {"text", "hex", "long"}}},
      {"DURABILITY", {WordKind::kChoice, {"SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"}}},
      {"ALGORITHM", {WordKind::kChoice, {"hex", "uniform"}}},
      {"SETTING=VALUE",
       {WordKind::kChoice,
        {"log_level=", "cache_size=", "maintenance=paused", "maintenance=running"}}},
  };
  return completions;
}

}  // namespace

std::vector<CommandPage> CommandPages() {
  std::vector<CommandPage> pages;
  for (const Command* command : AllCommands()) pages.push_back(PageOf(*command));
  return pages;
}

Completion CompletionOf(const std::string& type) {
  const auto found = Completions().find(type);
  return found == Completions().end() ? Completion{} : found->second;
}

std::vector<std::string> TimeWords() {
  return {"now", "today", "yesterday", "-10m", "-1h", "-2h", "-1d", "-1w"};
}

std::vector<std::string> MountOptionWords() {
  std::vector<std::string> words = {"ro"};
  for (const ConfigurationSection& section : ConfigurationSections({})) {
    if (section.name != "mount" && section.name != "store" && section.name != "log") continue;
    for (const ConfigurationKey& key : section.keys) {
      if (key.value.starts_with('[')) continue;  // a list, which -o does not take
      const std::string name = (section.name == "log" ? "log_" : "") + key.name;
      if (key.choices.empty()) words.push_back(name + "=");
      for (const std::string& choice : key.choices) words.push_back(name + "=" + choice);
    }
  }
  return words;
}

}  // namespace cellfs
