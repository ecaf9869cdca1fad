// SPDX-License-Identifier: MIT
//
// differential [--seed N] [--count M] [--steps S]
//
// Plays random operations on a memory and a local store side by side, closing and opening the local
// one now and then, and compares all answers; some puts are withdrawn again; at the end of each
// sequence also a raw scan of everything. A sequence that differs is printed with its seed, after
// leaving out all steps that the difference does not need.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "case_player.h"
#include "random_case.h"

namespace cellfs::conformance {
namespace {

// What takes back a put of one column at a time of its own. Where deleted cells are kept, a major
// compaction asks how old the file's oldest put is, and that of the local store still has those
// whose withdrawal is not flushed.
std::optional<Json> WithdrawalOf(const Json& families, const Json& step) {
  if (Text(step, "op") != "put" || !Has(step, "col") || !Has(step, "ts")) return std::nullopt;
  const std::string column = Text(step, "col");
  const auto family = families.find(column.substr(0, column.find(':')));
  if (step["ts"] < 0 || family == families.end()) return std::nullopt;
  if (Text(*family, "KEEP_DELETED_CELLS") != "FALSE") return std::nullopt;
  return Json{{"op", "withdraw"}, {"row", step["row"]}, {"col", step["col"]}, {"ts", step["ts"]}};
}

// The sequence, with its reopenings, withdrawals at once or some steps later, and the scan at the
// end.
Json Sequence(uint64_t seed, int steps) {
  constexpr size_t kLater = 7;
  Json made = RandomCase(seed, {.steps = steps, .raw_scans = true});
  Json sequence = Json::array();
  std::map<size_t, Json> withdrawals;
  size_t place = 0;
  for (const Json& step : made["steps"]) {
    sequence.push_back(step);
    ++place;
    if (auto withdrawal = WithdrawalOf(made["schema"]["families"], step);
        withdrawal && (place + seed) % 3 == 0) {
      withdrawals[place + (place * seed) % kLater] = *std::move(withdrawal);
    }
    if (const auto due = withdrawals.find(place); due != withdrawals.end()) {
      sequence.push_back(due->second);
    }
    if ((place + seed) % 11 == 0) sequence.push_back({{"op", "reopen"}});
  }
  sequence.push_back({{"op", "scan"}, {"raw", true}, {"versions", "all"}});
  made["steps"] = std::move(sequence);
  return made;
}

// The first step whose answers differ, told in words.
std::optional<std::string> FirstDifference(const Json& sequence) {
  CasePlayer memory(sequence, StageKind::kMemory);
  CasePlayer local(sequence, StageKind::kLocal);
  for (const Json& step : sequence["steps"]) {
    if (Text(step, "op") == "reopen") {
      memory.Play({{"op", "flush"}});  // as a store that closes does
      local.Reopen();
      continue;
    }
    const Answer expected = memory.Play(step);
    const Answer got = local.Play(step);
    if (!(expected == got)) {
      return step.dump() + "\n  memory: " + expected.ToString() + "\n  local:  " + got.ToString();
    }
  }
  return std::nullopt;
}

// Leaves out steps, from the last to the first, as long as some difference remains.
Json Shrunk(Json sequence) {
  for (size_t i = sequence["steps"].size(); i-- > 0;) {
    Json shorter = sequence;
    shorter["steps"].erase(i);
    if (FirstDifference(shorter)) sequence = std::move(shorter);
  }
  return sequence;
}

int Main(const std::vector<std::string>& arguments) {
  uint64_t seed = 1;
  uint64_t count = 40;
  int steps = 60;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--seed") seed = std::stoull(arguments[i + 1]);
    if (arguments[i] == "--count") count = std::stoull(arguments[i + 1]);
    if (arguments[i] == "--steps") steps = std::stoi(arguments[i + 1]);
  }
  std::cout << "seeds " << seed << " to " << seed + count - 1 << "\n";
  for (uint64_t i = seed; i < seed + count; ++i) {
    const Json sequence = Sequence(i, steps);
    if (!FirstDifference(sequence)) continue;
    const Json shrunk = Shrunk(sequence);
    std::cout << "seed " << i << " differs:\n" << shrunk["schema"].dump() << "\n";
    for (const Json& step : shrunk["steps"]) std::cout << "  " << step.dump() << "\n";
    std::cout << FirstDifference(shrunk).value_or("") << std::endl;
    return 1;
  }
  std::cout << "no difference" << std::endl;
  return 0;
}

}  // namespace
}  // namespace cellfs::conformance

int main(int argc, char** argv) {
  try {
    return cellfs::conformance::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "differential: " << error.what() << "\n";
    return 1;
  }
}
