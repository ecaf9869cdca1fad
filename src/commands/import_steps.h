// SPDX-License-Identifier: MIT
//
// ImportSteps: makes steps of cells that are to be imported: those of a row are put into the order in
// which they were written, and go in as few steps as their meaning lets. Knows no store: what comes out
// is for import_applier.h.
#ifndef CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_
#define CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "engine/mutation.h"
#include "engine/names.h"
#include "engine/status.h"

namespace cellfs {

// How many cells of a step are a line's.
struct CellsOfLine {
  int64_t line = 0;
  size_t cells = 0;
};
struct ImportStep {
  RowMutations mutations;
  std::vector<CellsOfLine> lines;  // whose cells they are, in order
  size_t cells = 0;
};

// What is to be done next: one after the other.
struct ImportBatch {
  TableName table;
  std::vector<ImportStep> steps;  // some may be of one row
};
struct RefusedLine {
  int64_t line = 0;
  std::string why;
};
struct SchemaLine {
  int64_t line = 0;
  nlohmann::json schema;
};
using ImportWork = std::variant<ImportBatch, RefusedLine, SchemaLine>;

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

// One thread.
class ImportSteps {
 public:
  // Takes what is made, in order; an error of it ends all.
  using Take = std::function<Status(ImportWork work)>;

  ImportSteps(Durability durability, Take take)
      : durability_(durability), take_(std::move(take)) {}

  bool IsInRow(const TableName& table, const std::string& row) const {
    return !row_.empty() && row == RowOf(row_.front().mutation) && table == table_of_row_;
  }
  // A line's. `sequence`: when it was written; 0: behind what came before. REQUIRES: IsInRow, or the
  // row before has ended.
  void Add(const TableName& table, Mutation mutation, uint64_t sequence, int64_t line);
  // A line in which nothing can be done, told with the row that it stands in.
  Status Refuse(int64_t line, const Status& why);
  // No more of the row comes.
  Status EndRow();
  // More of the row comes, and all of it comes again: as if nothing of it had been added.
  void DropRow();
  // All rows that have ended are taken.
  Status Finish();

 private:
  struct Added {
    Mutation mutation;
    uint64_t sequence = 0;
    int64_t line = 0;
  };

  Status AddToSteps(Added added, bool is_alone);
  void BeginStep(const std::string& row);

  const Durability durability_;
  const Take take_;
  TableName table_of_row_;
  std::vector<Added> row_;            // the one that is added
  bool in_order_ = true;              // it is as it was written
  std::vector<RefusedLine> refused_;  // in it
  ImportBatch batch_;
  size_t cells_ = 0;  // of the batch
  OneTime one_time_;  // of the row's steps in it
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_STEPS_H_
