// SPDX-License-Identifier: MIT
//
// StoreFileReader: one connection to a store file, with its tree of cells and the statements that
// read all else, each prepared when it is first needed. It serves one cursor at a time.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_READER_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_READER_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file/cell_format.h"
#include "engine/file/cell_tree.h"
#include "engine/file/database.h"

namespace cellfs {

enum class MarkerKind { kWithdrawals, kTombstones };

// Not thread-safe.
class StoreFileReader {
 public:
  StoreFileReader(std::unique_ptr<Database> database, int64_t format)
      : database_(std::move(database)), format_(format) {}

  int64_t format() const { return format_; }

  StatusOr<CellTree*> Cells(CellSet set);
  // K, Q, T, Y, S, X of all markers of the kind, in cell order, by its index or by all cells.
  // Withdrawals are shown.
  StatusOr<Statement*> MarkersOf(MarkerKind kind, CellSet set, bool by_index);
  StatusOr<Statement*> RowBefore(CellSet set);  // the largest K below ?1
  StatusOr<Statement*> LastRow(CellSet set);
  StatusOr<Statement*> Value();  // V of reference ?1
  // The same of a long value, which SQLite would hold once more. False: there is none.
  StatusOr<bool> LongValue(int64_t reference, std::string* value);
  // Of the column; family tombstones lie in the column of the empty qualifier.
  StatusOr<bool> HasTombstones(CellSet set, std::string_view row, std::string_view qualifier);
  // A block of the Bloom filter.
  StatusOr<std::string> FilterBlock(int64_t number);

  Database& database() { return *database_; }
  const std::string& path() const { return database_->path(); }

 private:
  StatusOr<Statement*> Prepared(std::optional<Statement>& statement, const std::string& sql);

  const std::unique_ptr<Database> database_;
  const int64_t format_;
  // What reads a set of cells.
  struct OfSet {
    std::optional<CellTree> cells;
    std::array<std::optional<Statement>, 2> markers, unindexed_markers;  // by MarkerKind
    std::optional<Statement> row_before, last_row, tombstone;
  };
  OfSet& Of(CellSet set) { return sets_[static_cast<size_t>(set)]; }

  std::array<OfSet, 2> sets_;
  std::optional<Statement> value_, has_value_, filter_block_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_READER_H_
