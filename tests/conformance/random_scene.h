// SPDX-License-Identifier: MIT
//
// RandomScene: what a random case is about (its table, the rows, columns, values and times that its
// steps draw from) and the dice that draw. The same seed gives the same draws everywhere.
#ifndef CELLFS_TESTS_CONFORMANCE_RANDOM_SCENE_H_
#define CELLFS_TESTS_CONFORMANCE_RANDOM_SCENE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "case_json.h"

namespace cellfs::conformance {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& Any(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937_64 random_;
};

class RandomScene {
 public:
  explicit RandomScene(uint64_t seed);

  Dice& dice() { return dice_; }
  // The clock of the case as far as its steps have brought it.
  int64_t now() const { return now_; }
  void PassTime(int64_t ms) { now_ += ms; }

  const Json& families_json() const { return families_json_; }
  const std::vector<std::string>& families() const { return families_; }
  bool keeps_markers_for_a_while() const { return keeps_markers_for_a_while_; }
  bool new_behavior() const { return new_behavior_; }
  bool empty_qualifier() const { return empty_qualifier_; }
  bool near() const { return near_; }          // timestamps lie around the clock
  bool keeping() const { return keeping_; }    // a family keeps deleted cells
  bool expiring() const { return expiring_; }  // a family's cells expire all
  // HBase may find two cells of a column where it has asked for one, and then fails.
  bool doubling() const { return doubling_; }

  std::string AnyRow() { return "r" + std::to_string(1 + dice_.Below(4)); }
  // A row, or what lies between, before or behind the rows.
  std::string AnyBound();
  const std::string& AnyFamily() { return dice_.Any(families_); }
  const std::string& AnyQualifier() { return dice_.Any(qualifiers_); }
  std::string AnyOwnColumn();  // of a family of the table
  std::string AnyColumn();     // now and then of none
  std::string AnyValue();
  int64_t AnyTime();
  Json AnyRange();
  std::string AnyOperator();

 private:
  void ChooseSchema();
  Json FamilyAttributes();

  Dice dice_;
  Json families_json_ = Json::object();
  std::vector<std::string> families_;
  std::vector<std::string> qualifiers_ = {"a", "b", "ab", "n"};
  bool keeps_markers_for_a_while_ = false;
  bool new_behavior_ = false;
  bool empty_qualifier_ = false;
  bool near_ = false;
  bool keeping_ = false;
  bool expiring_ = false;
  bool doubling_ = false;
  int64_t now_;
};

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_RANDOM_SCENE_H_
