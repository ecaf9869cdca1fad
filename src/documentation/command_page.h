// SPDX-License-Identifier: MIT
//
// CommandPage: what there is to say of a command, from its syntax, for manual pages and completions.
#ifndef CELLFS_SRC_DOCUMENTATION_COMMAND_PAGE_H_
#define CELLFS_SRC_DOCUMENTATION_COMMAND_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

namespace cellfs {

struct Command;

struct OptionPage {
  std::vector<std::string> switches;  // "-n", "--limit"
  std::string type;                   // "N"; empty: a flag
  std::string help;
  bool is_repeated = false;
};

struct OperandPage {
  std::string type;  // "STORE"
  std::string help;
  bool is_required = false;
  bool is_repeated = false;  // and then the last one
};

struct CommandPage {
  const Command* command = nullptr;
  std::string name;
  std::string summary;
  std::vector<OptionPage> options;  // with --help, first
  std::vector<OperandPage> operands;
};

// In the order in which they are listed; `help` is none of them.
std::vector<CommandPage> CommandPages();

// What a word of `type` is, for who completes it.
enum class WordKind { kAny, kPath, kDirectory, kUser, kTime, kMountOptions, kChoice };

struct Completion {
  WordKind kind = WordKind::kAny;
  std::vector<std::string> choices;  // of kChoice; of kTime those beside times
};

Completion CompletionOf(const std::string& type);

// Times as people begin to say them (fs/tree/time_text.h).
std::vector<std::string> TimeWords();

// What -o takes: "ro", "names=posix", "cache_size=".
std::vector<std::string> MountOptionWords();

}  // namespace cellfs

#endif  // CELLFS_SRC_DOCUMENTATION_COMMAND_PAGE_H_
