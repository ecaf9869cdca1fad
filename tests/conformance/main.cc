// SPDX-License-Identifier: MIT
//
// conformance [--store memory|local|hbase|obkv] [--id ID] [--trace] FILE.jsonl...
//
// hbase: the cluster of the test run (tests/support/test_cluster.h); obkv: its database
// (tests/support/test_database.h).
//
// Plays every case of the files and prints one line for each that fails, then "N passed, N failed".
// Exit status: 0 all passed, 1 some failed, 2 a file could not be read or the command line is
// wrong.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "case_player.h"

namespace cellfs::conformance {
namespace {

struct CommandLine {
  StageKind stage = StageKind::kLocal;
  std::string id;
  bool trace = false;
  std::vector<std::string> files;
};

std::optional<StageKind> StageNamed(const std::string& name) {
  if (name == "memory") return StageKind::kMemory;
  if (name == "local") return StageKind::kLocal;
  if (name == "hbase") return StageKind::kCluster;
  if (name == "obkv") return StageKind::kDatabase;
  return std::nullopt;
}

std::optional<CommandLine> Parse(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool takes_value = argument == "--store" || argument == "--id";
    if (takes_value && i + 1 == arguments.size()) return std::nullopt;
    if (argument == "--store") {
      const auto stage = StageNamed(arguments[++i]);
      if (!stage) return std::nullopt;
      line.stage = *stage;
    } else if (argument == "--id") {
      line.id = arguments[++i];
    } else if (argument == "--trace") {
      line.trace = true;
    } else if (argument.starts_with("--")) {
      return std::nullopt;
    } else {
      line.files.push_back(argument);
    }
  }
  if (line.files.empty()) return std::nullopt;
  return line;
}

// Ids, each with its reason, of cases that fail on purpose. A missing list is an empty one.
std::map<std::string, std::string> KnownDifferences(StageKind stage) {
  std::map<std::string, std::string> known;
  const std::string folder = stage == StageKind::kCluster    ? "/hbase"
                             : stage == StageKind::kDatabase ? "/obkv"
                                                             : "";
  std::ifstream file(CELLFS_CONFORMANCE + folder + "/known_differences.txt");
  for (std::string line; std::getline(file, line);) {
    const size_t end = line.find(' ');
    if (!line.empty() && line[0] != '#') {
      known[line.substr(0, end)] = end == std::string::npos ? "" : line.substr(end + 1);
    }
  }
  return known;
}

class Runner {
 public:
  explicit Runner(const CommandLine& line) : line_(line), known_(KnownDifferences(line.stage)) {}

  bool PlayFile(const std::string& path) {
    std::ifstream file(path);
    if (!file) return false;
    for (std::string text; std::getline(file, text);) {
      if (text.find_first_not_of(" \t\r") != std::string::npos) PlayOne(Json::parse(text));
    }
    return !file.bad();
  }

  int Summarize() {
    if (!differing_.empty()) {
      std::cout << "known differences:\n";
      for (const std::string& id : differing_) std::cout << "  " << id << " " << known_[id] << "\n";
    }
    for (const auto& [why, count] : not_played_)
      std::cout << count << " not played: " << why << "\n";
    std::cout << passed_ << " passed, " << failed_ << " failed" << std::endl;
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void PlayOne(const Json& test_case) {
    const std::string id = Text(test_case, "id");
    if (!line_.id.empty() && id != line_.id) return;
    std::string failure;
    try {
      failure = Failure(test_case);
    } catch (const NotPlayable& why) {
      ++not_played_[why.what()];
      return;
    }
    if (failure.empty()) {
      ++passed_;
    } else if (known_.contains(id)) {
      differing_.insert(id);
    } else {
      ++failed_;
      std::cout << id << " " << failure << "\n";
    }
  }

  // The first difference; empty where the case passed. Throws NotPlayable.
  std::string Failure(const Json& test_case) const {
    try {
      std::function<void(const Json&, const Answer&)> trace;
      if (line_.trace) {
        trace = [](const Json& step, const Answer& answer) {
          std::cout << "  " << step.dump() << " -> " << answer.ToString() << "\n";
        };
      }
      const auto differences = PlayCase(test_case, line_.stage, trace);
      if (differences.empty()) return "";
      const Difference& first = differences.front();
      return "step " + std::to_string(first.step) + " expected " + first.expected + " got " +
             first.got;
    } catch (const NotPlayable&) {
      throw;
    } catch (const std::exception& error) {
      return std::string("could not be played: ") + error.what();
    }
  }

  const CommandLine& line_;
  std::map<std::string, std::string> known_;
  std::set<std::string> differing_;
  std::map<std::string, int> not_played_;  // by the reason
  int passed_ = 0;
  int failed_ = 0;
};

int Main(const std::vector<std::string>& arguments) {
  const auto line = Parse(arguments);
  if (!line) {
    std::cerr << "usage: conformance [--store memory|local|hbase|obkv] [--id ID] [--trace] FILE.jsonl...\n";
    return 2;
  }
  Runner runner(*line);
  bool readable = true;
  for (const std::string& path : line->files) {
    try {
      if (runner.PlayFile(path)) continue;
      std::cerr << "conformance: cannot read " << path << "\n";
    } catch (const std::exception& error) {
      std::cerr << "conformance: " << path << ": " << error.what() << "\n";
    }
    readable = false;
  }
  const int status = runner.Summarize();
  return readable ? status : 2;
}

}  // namespace
}  // namespace cellfs::conformance

int main(int argc, char** argv) { return cellfs::conformance::Main({argv + 1, argv + argc}); }
