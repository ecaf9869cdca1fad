// SPDX-License-Identifier: MIT
#include "random_scene.h"

#include <algorithm>

namespace cellfs::conformance {
namespace {

constexpr int64_t kStart = 1000000;
// Cases share so many schemas, so that a real HBase need not make a table for each.
constexpr uint64_t kSchemas = 80;

}  // namespace

RandomScene::RandomScene(uint64_t seed) : dice_(seed % kSchemas), now_(kStart) {
  ChooseSchema();
  dice_ = Dice(seed);
  if (!new_behavior_ && dice_.Chance(25)) {
    qualifiers_.push_back("");
    empty_qualifier_ = true;
  }
}

void RandomScene::ChooseSchema() {
  const int count = 1 + dice_.Below(3);
  new_behavior_ = dice_.Chance(25);
  near_ = dice_.Chance(50);
  for (int i = 0; i < count; ++i) {
    families_.push_back(std::string(1, static_cast<char>('f' + i)));
    families_json_[families_.back()] = FamilyAttributes();
  }
  keeps_markers_for_a_while_ = !new_behavior_ && dice_.Chance(15);
}

Json RandomScene::FamilyAttributes() {
  const int versions = 1 + dice_.Below(4);
  Json attributes = {{"VERSIONS", versions},
                     {"MIN_VERSIONS", 0},
                     {"TTL", nullptr},
                     {"KEEP_DELETED_CELLS", "FALSE"},
                     {"NEW_VERSION_BEHAVIOR", new_behavior_}};
  if (near_ && dice_.Chance(40)) {
    attributes["TTL"] = 1 + dice_.Below(4);
    if (dice_.Chance(60)) attributes["MIN_VERSIONS"] = 1 + dice_.Below(versions);
    if (attributes["MIN_VERSIONS"] == 0) expiring_ = true;
    if (new_behavior_ && attributes["MIN_VERSIONS"] > 1) doubling_ = true;
  }
  if (!new_behavior_ && dice_.Chance(40)) {
    attributes["KEEP_DELETED_CELLS"] = dice_.Chance(50) ? "TRUE" : "TTL";
    keeping_ = true;
  }
  return attributes;
}

std::string RandomScene::AnyBound() {
  static const std::vector<std::string> others = {"r", "r0", "r1a", "r2a", "r3a", "r5", "s"};
  return dice_.Chance(70) ? AnyRow() : dice_.Any(others);
}

std::string RandomScene::AnyColumn() {
  if (dice_.Chance(1)) return "nowhere:q";
  return AnyOwnColumn();
}

std::string RandomScene::AnyOwnColumn() {
  const std::string& family = AnyFamily();
  return family + ":" + AnyQualifier();
}

std::string RandomScene::AnyValue() {
  static const std::vector<std::string> values = {"", "a", "b", "bb", "c", "long:7", "long:-1"};
  return dice_.Any(values);
}

int64_t RandomScene::AnyTime() {
  static const std::vector<int64_t> offsets = {-6000, -3000, -2000, -1000, -999, -500,
                                               -2,    -1,    0,     1,     500};
  return near_ ? now_ + dice_.Any(offsets) : 1 + dice_.Below(8);
}

Json RandomScene::AnyRange() {
  const int64_t a = AnyTime();
  const int64_t b = AnyTime();
  if (dice_.Chance(20)) return {a, nullptr};
  if (dice_.Chance(30)) return {0, b};
  return {std::min(a, b), std::max(a, b)};
}

std::string RandomScene::AnyOperator() {
  static const std::vector<std::string> operators = {
      "EQUAL", "NOT_EQUAL", "LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL"};
  return dice_.Any(operators);
}

}  // namespace cellfs::conformance
