// SPDX-License-Identifier: MIT
//
// Writes what is documented from the program's own tables; the build calls it.
//
//     cellfs_documentation pages DIRECTORY    cellfs-COMMAND.1, one for each command
//     cellfs_documentation fill TEMPLATE      TEMPLATE with its @MARKS@ filled, to standard output
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "src/documentation/command_page.h"
#include "src/documentation/completions.h"
#include "src/documentation/manual_pages.h"

namespace cellfs {
namespace {

std::string Words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

const std::pair<std::string, std::function<std::string()>> kMarks[] = {
    {"@VERSION@", [] { return std::string(CELLFS_VERSION); }},
    {"@COMMAND_LIST@\n", CommandList},
    {"@EXIT_CODE_LIST@\n", ExitCodeList},
    {"@CONFIGURATION_LIST@\n", ConfigurationList},
    {"@BASH_COMMANDS@", BashCommands},
    {"@BASH_TABLE@\n", BashTable},
    {"@ZSH_COMMANDS@\n", ZshCommands},
    {"@ZSH_TABLE@\n", ZshTable},
    {"@FISH_TABLE@\n", FishTable},
    {"@TIME_WORDS@", [] { return Words(TimeWords()); }},
    {"@MOUNT_OPTION_WORDS@", [] { return Words(MountOptionWords()); }},
};

std::string Filled(std::string text) {
  for (const auto& [mark, value] : kMarks) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), value());
  }
  return text;
}

// The directory is made anew: nothing stays of commands that are no more, and its time is now's.
bool WritePages(const std::filesystem::path& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  for (const CommandPage& page : CommandPages()) {
    std::ofstream file(directory / ("cellfs-" + page.name + ".1"));
    file << CommandManual(page);
    if (!file.flush()) return false;
  }
  return true;
}

bool Fill(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::cout << Filled(text.str()) << std::flush;
  return file.good() && std::cout.good();
}

int Run(const std::string& what, const std::string& path) {
  if (what == "pages") return WritePages(path) ? 0 : 1;
  if (what == "fill") return Fill(path) ? 0 : 1;
  std::cerr << "usage: cellfs_documentation pages DIRECTORY | fill TEMPLATE\n";
  return 2;
}

}  // namespace
}  // namespace cellfs

int main(int argc, char** argv) {
  return argc == 3 ? cellfs::Run(argv[1], argv[2]) : cellfs::Run("", "");
}
