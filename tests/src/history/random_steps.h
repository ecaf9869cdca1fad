// SPDX-License-Identifier: MIT
//
// Random puts and deletes, for laws of history.
#ifndef CELLFS_TESTS_SRC_HISTORY_RANDOM_STEPS_H_
#define CELLFS_TESTS_SRC_HISTORY_RANDOM_STEPS_H_

#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/history/replay.h"
#include "tests/src/history/history_fixture.h"

namespace cellfs {

struct Step {
  std::string row;
  Cell cell;
};

class RandomSteps {
 public:
  explicit RandomSteps(unsigned seed) : random_(seed) {}

  // None that writes a tombstone or put again: a raw scan tells the last of those only.
  Step Next() {
    while (true) {
      Step step = Any();
      const Cell& cell = step.cell;
      if (taken_.insert({step.row, cell.family, cell.qualifier, cell.timestamp, cell.type}).second)
        return step;
    }
  }
  Step Any() {
    Step step{Pick({"r", "s"}), {}};
    Cell& cell = step.cell;
    cell.family = Pick({"f", "g"});
    cell.qualifier = Pick({"", "p", "q"});
    cell.timestamp = 500 * Number(1, 24);
    const int kind = Number(0, 9);
    if (kind == 0) cell.type = CellType::kDelete;
    if (kind == 1) cell.type = CellType::kDeleteColumn;
    if (kind == 2) cell.type = CellType::kDeleteFamily;
    if (kind == 3) cell.type = CellType::kDeleteFamilyVersion;
    if (kind == 4) cell.time_to_live = 500 * Number(1, 10);
    if (IsFamilyTombstone(cell.type)) cell.qualifier.clear();
    cell.value = std::string(1, static_cast<char>('a' + Number(0, 3)));
    return step;
  }
  // The same without deletes of versions, of which no time is known.
  Step NextOfKnownTime() {
    while (true) {
      Step step = Next();
      if (!IsVersionTombstone(step.cell.type)) return step;
    }
  }
  int Number(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  std::string Pick(const std::vector<std::string>& from) {
    return from[static_cast<size_t>(Number(0, static_cast<int>(from.size()) - 1))];
  }

 private:
  std::mt19937 random_;
  std::set<std::tuple<std::string, std::string, std::string, Timestamp, CellType>> taken_;
};

inline void Write(const Step& step, HistoryStore& store) {
  const Cell& cell = step.cell;
  if (IsTombstone(cell.type))
    return store.DeleteAt(cell.timestamp, cell.type, cell.qualifier, step.row, cell.family);
  Put put{.row = step.row, .time_to_live = cell.time_to_live};
  put.cells.push_back({cell.family, cell.qualifier, cell.timestamp, cell.value});
  store.Do(std::move(put));
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_SRC_HISTORY_RANDOM_STEPS_H_
