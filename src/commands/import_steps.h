// SPDX-License-Identifier: MIT
//
// ImportSteps: cells on their way into a store, where the store is: those of a row are put into the
// order in which they were written, and go in as few steps as their meaning lets.
#ifndef CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_
#define CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/mutation.h"
#include "engine/names.h"
#include "src/commands/command.h"

namespace cellfs {

// What is wrong with a line itself, and would be the next time: others may still be done.
inline bool IsOfLine(const Status& status) { return ExitCodeOf(status) != kExitFailed; }

// What may be written in one step, which has one sequence id: of a put and a tombstone, or of two puts,
// at one time the order counts.
class OneTime {
 public:
  // False: it has to wait until what was added is stored.
  bool Add(const Mutation& mutation, uint64_t sequence);

 private:
  using Place = std::tuple<std::string, std::string, Timestamp>;
  bool AddPlaces(const Put& put);

  bool has_any_ = false;
  bool only_puts_ = true;
  uint64_t sequence_ = 0;
  std::vector<Place> ascending_;  // of puts
  std::set<Place> others_;        // likewise
};

// One thread. Each line that is refused is a record {"line", "refused"}.
class ImportSteps {
 public:
  // The session outlives it.
  ImportSteps(Session& session, Durability durability)
      : session_(session), durability_(durability) {}

  bool IsInRow(const TableName& table, const std::string& row) const {
    return !row_.empty() && row == RowOf(row_.front().mutation) && table == table_of_row_;
  }
  // A line's. `sequence`: when it was written; 0: behind what came before. REQUIRES: IsInRow, or the
  // row before has ended.
  void Add(const TableName& table, Mutation mutation, uint64_t sequence, int64_t line);
  // A line in which nothing can be done, told with the row that it stands in.
  void Refuse(int64_t line, const Status& why);
  // No more of the row comes. An error that is none of a line's ends all.
  Status EndRow();
  // More of the row comes, and all of it comes again: as if nothing of it had been added.
  void DropRow();
  // All rows that have ended are stored.
  Status Finish();

  uint64_t cells() const { return cells_; }  // stored

 private:
  struct Added {
    Mutation mutation;
    uint64_t sequence = 0;
    int64_t line = 0;
  };
  struct Refused {
    int64_t line = 0;
    std::string why;
  };
  struct OfLine {
    int64_t number = 0;
    size_t cells = 0;
  };
  struct Step {
    RowMutations mutations;
    std::vector<OfLine> lines;  // whose cells they are, in order
    size_t cells = 0;
  };

  Status AddToSteps(Added added);
  void BeginStep(const std::string& row);
  Status Apply(std::vector<Step> steps);
  void TakeRefused(int64_t line, const std::string& why) const;

  Session& session_;
  const Durability durability_;
  TableName table_of_row_;
  std::vector<Added> row_;  // the one that is added
  bool in_order_ = true;    // it is as it was written
  std::vector<Refused> refused_;  // in it
  TableName table_;
  std::vector<Step> steps_;  // of that table
  size_t cells_of_steps_ = 0;
  uint64_t cells_ = 0;

  OneTime one_time_;        // of the row's steps that are not stored
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_
