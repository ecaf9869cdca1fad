// SPDX-License-Identifier: MIT
//
// What to write. Put, Delete, Increment and Append change one row each, as in HBase; RowMutations
// is a list of them done in one atomic step; CheckAndMutate does one if a condition holds.
//
// A mutation is atomic over all families of its row; there is nothing atomic over rows.
#ifndef CELLFS_ENGINE_MUTATION_H_
#define CELLFS_ENGINE_MUTATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cell.h"
#include "engine/filters.h"
#include "engine/read.h"

namespace cellfs {

// What survives what, once a write has returned. kUseDefault: the family's DURABILITY as the table
// says, else the store's default (SYNC_WAL).
enum class Durability {
  kUseDefault,
  kSkipWal,   // may be lost with the process
  kAsyncWal,  // on disk within a second
  kSyncWal,   // survives the death of the process at any moment
  kFsyncWal,  // survives power loss too
};

// How a Put, Append or Delete gets its timestamp.
enum class Stamping {
  // HBase's letter: the given timestamp, or the server's clock.
  kAsGiven,
  // Ours, for a caller to whom "written last" must mean "read next". The given timestamp is taken
  // if it is above every version and tombstone of the column, or is its newest version's, not
  // later than the clock, and a read would find it there (no TTL ends it at once). Else: the
  // clock, or one more than the newest version or tombstone where that is not earlier; a version
  // tombstone counts only if equal. kTimestampsExhausted where none is left.
  kAboveColumn,
  // Ours: the given timestamp, but kTimestampUnreadable, and nothing stored, where a Get of exactly
  // that timestamp would not find the cell right after (under a tombstone, expired).
  kReadable,
};

struct PutCell {
  std::string family;
  std::string qualifier;
  Timestamp timestamp = kLatestTimestamp;
  std::string value;
  // With kAboveColumn: the timestamp that the same writer gave this column before. It is taken
  // again as long as nothing newer has come to the column, so that what is put again stays one
  // version.
  std::optional<Timestamp> rewrites;
};

struct Put {
  std::string row;
  std::vector<PutCell> cells;         // at least one
  int64_t time_to_live = kNoCellTtl;  // milliseconds, of all its cells
  Stamping stamping = Stamping::kAsGiven;
};

// One of the four tombstones. Without a timestamp kDelete looks up the newest visible version
// (twice in one Delete: the second newest as well); the others take the clock.
struct DeleteMarker {
  CellType type = CellType::kDeleteColumn;
  std::string family;
  std::string qualifier;  // empty for family tombstones
  Timestamp timestamp = kLatestTimestamp;
};

struct Delete {
  std::string row;
  std::vector<DeleteMarker> markers;  // empty: a family tombstone in every family, at `timestamp`
  Timestamp timestamp = kLatestTimestamp;
  int64_t time_to_live = kNoCellTtl;  // refused: kUnsupportedOperation, as in HBase
  Stamping stamping = Stamping::kAsGiven;
};

struct IncrementCell {
  std::string family;
  std::string qualifier;
  int64_t amount = 0;
  Timestamp timestamp = kLatestTimestamp;  // taken only where the column was absent
};

struct Increment {
  std::string row;
  std::vector<IncrementCell> cells;
  TimeRange time_range;  // of the old values
  int64_t time_to_live = kNoCellTtl;
  bool return_results = true;
};

struct AppendCell {
  std::string family;
  std::string qualifier;
  std::string value;
  Timestamp timestamp = kLatestTimestamp;  // taken only where the column was absent
};

struct Append {
  std::string row;
  std::vector<AppendCell> cells;
  TimeRange time_range;
  int64_t time_to_live = kNoCellTtl;
  bool return_results = true;
  Stamping stamping = Stamping::kAsGiven;  // kAboveColumn or kAsGiven
};

// Ours: takes back cells as if they had never been written, where nobody but their writer is to
// know of them (temporary files). Names cells by column, timestamp and type; what is not there is
// no error, and what the same RowMutations write there stays. A Moment that was pinned before goes
// on seeing them.
struct WithdrawCell {
  std::string family;
  std::string qualifier;
  Timestamp timestamp = 0;
  CellType type = CellType::kPut;
};
struct Withdraw {
  std::string row;
  std::vector<WithdrawCell> cells;
};

// Ours: a put that is to come, to ask before what it would be refused for.
struct PutToCome {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  uint64_t bytes = 0;         // for which the table is to have room; 0: that is not asked
  bool above_column = false;  // whether a timestamp is to be left above all that lies on the column
};

using Mutation = std::variant<Put, Delete, Increment, Append, Withdraw>;
const std::string& RowOf(const Mutation& mutation);

// All or none, with one sequence id. The rows of the mutations must be `row` (kWrongRow).
struct RowMutations {
  std::string row;
  std::vector<Mutation> mutations;
  Durability durability = Durability::kUseDefault;

  static RowMutations Of(Mutation mutation, Durability durability = Durability::kUseDefault);
};

// What a mutation did.
struct MutationResult {
  // New cells of Increments and Appends that return results, in cell order.
  RowCells results;
  // The timestamps that the cells of Puts and the markers of Deletes were stored with, in the order
  // they were given; for an Append with kAboveColumn its cells' too.
  std::vector<Timestamp> timestamps;
  // Ours: nothing, not even a tombstone, had lain on the columns that were stamped with
  // kAboveColumn.
  bool columns_were_empty = false;
};

// Holds if GIVEN op STORED, as HBase's checkAndMutate has it (filters compare the other way). An
// empty given value means "absent or empty".
struct ColumnCondition {
  std::string family;
  std::string qualifier;
  CompareOperator op = CompareOperator::kEqual;
  std::string value;
};

struct CheckAndMutate {
  std::string row;
  std::variant<ColumnCondition, FilterPtr>
      condition;         // a filter: holds if a Get with it finds a cell
  TimeRange time_range;  // of what is checked
  RowMutations action;   // on the same row (kDoNotRetry)
};

struct CheckAndMutateResult {
  bool done = false;
  MutationResult result;  // where done
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MUTATION_H_
