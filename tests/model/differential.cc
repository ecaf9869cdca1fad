// SPDX-License-Identifier: MIT
//
// differential [--seed N] [--count M] [--steps S]
//
// Plays random operations on a memory and a local store side by side, closing and opening the local
// one now and then, and compares all answers; at the end of each sequence also a raw scan of
// everything. A sequence that differs is printed with its seed, after leaving out all steps that
// the difference does not need.
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "case_player.h"
#include "random_case.h"

namespace cellfs::conformance {
namespace {

// The sequence, with its reopenings and the scan at the end.
Json Sequence(uint64_t seed, int steps) {
  Json made = RandomCase(seed, {.steps = steps, .raw_scans = true});
  Json with_reopening = Json::array();
  size_t place = 0;
  for (const Json& step : made["steps"]) {
    with_reopening.push_back(step);
    if ((++place + seed) % 11 == 0) with_reopening.push_back({{"op", "reopen"}});
  }
  with_reopening.push_back({{"op", "scan"}, {"raw", true}, {"versions", "all"}});
  made["steps"] = std::move(with_reopening);
  return made;
}

// The first step whose answers differ, told in words.
std::optional<std::string> FirstDifference(const Json& sequence) {
  CasePlayer memory(sequence, StoreKind::kMemory);
  CasePlayer local(sequence, StoreKind::kLocal);
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
