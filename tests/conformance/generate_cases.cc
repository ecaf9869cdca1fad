// SPDX-License-Identifier: MIT
//
// generate_cases --seed N --count M [--before-2.6.6]
//
// Writes M random cases, a line each, with the memory store's answers as what is expected: for
// playing on another store, or on a real HBase.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "case_player.h"
#include "random_case.h"

namespace cellfs::conformance {
namespace {

void Expect(Json& step, const Answer& answer) {
  if (!answer.error.empty()) {
    step["error"] = answer.error;
  } else if (!answer.answer.empty()) {
    const std::string op = Text(step, "op");
    const bool one_value = (op == "increment" || op == "append") && !Has(step, "cells");
    step[one_value ? "expect_value" : "expect"] = Json::parse(answer.answer);
  }
}

int Main(const std::vector<std::string>& arguments) {
  uint64_t seed = 1;
  uint64_t count = 100;
  RandomCaseOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--before-2.6.6") {
      options.raw_scans = false;
    } else if (i + 1 < arguments.size() && arguments[i] == "--seed") {
      seed = std::stoull(arguments[++i]);
    } else if (i + 1 < arguments.size() && arguments[i] == "--count") {
      count = std::stoull(arguments[++i]);
    } else {
      std::cerr << "usage: generate_cases --seed N --count M [--before-2.6.6]\n";
      return 2;
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    Json made = RandomCase(seed + i, options);
    made["id"] = "gen-" + std::to_string(seed + i);
    made["source"] = "generate_cases --seed " + std::to_string(seed + i) + " --count 1" +
                     (options.raw_scans ? "" : " --before-2.6.6");
    CasePlayer player(made, StageKind::kMemory);
    for (Json& step : made["steps"]) Expect(step, player.Play(step));
    std::cout << made.dump() << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace cellfs::conformance

int main(int argc, char** argv) {
  try {
    return cellfs::conformance::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "generate_cases: " << error.what() << "\n";
    return 1;
  }
}
