// SPDX-License-Identifier: MIT
//
// SqliteCursor: the cells of one family in a store file, in cell order, over prepared statements
// that outlive it. It sees what the transaction open on its connection sees.
#ifndef CELLFS_ENGINE_LOCAL_SQLITE_CURSOR_H_
#define CELLFS_ENGINE_LOCAL_SQLITE_CURSOR_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/cell_format.h"
#include "engine/local/database.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// Where the cells of a statement begin. SQLite checks a condition on K, Q and T together again at
// every cell (a tenth of a step), so it stands only where the others do not say it.
enum class CellsFrom {
  kRow,      // row ?1; all that follows
  kColumn,   // column ?2 of row ?1; to the end of the row
  kVersion,  // version ?3 of column ?2 of row ?1; all that follows
};

// The statements that read one family on one connection, each prepared when it is first needed.
// They serve one cursor at a time.
class FamilyReader {
 public:
  FamilyReader(Database& database, std::string_view family)
      : database_(database), family_(family) {}

  // K (NULL where it is known), Q, T, Y, S, L, X of the cells in their order and, unless
  // `lengths_only`, H, R, Z, V.
  StatusOr<Statement*> Cells(CellsFrom from, bool lengths_only);
  StatusOr<Statement*> RowBefore();  // the largest K below ?1
  StatusOr<Statement*> LastRow();
  StatusOr<Statement*> Value();  // H, V of reference ?1
  // The same of a long value, which SQLite would hold once more; nullopt: there is none.
  StatusOr<std::optional<int64_t>> LongValue(int64_t reference, std::string* value);
  StatusOr<bool> HasTombstones(std::string_view row, std::string_view qualifier);

  const std::string& path() const { return database_.path(); }
  const std::string& family() const { return family_; }

 private:
  StatusOr<Statement*> Tombstone();  // any of row ?1, qualifier ?2
  StatusOr<Statement*> Prepared(std::optional<Statement>& statement, std::string_view select,
                                std::string_view rest);

  Database& database_;
  const std::string family_;
  std::array<std::optional<Statement>, 3> cells_, lengths_;  // by CellsFrom
  std::optional<Statement> row_before_, last_row_, value_, checksum_, tombstone_;
};

// Readers of one family that no cursor uses at the moment.
using FreeReaders = std::vector<std::unique_ptr<FamilyReader>>;

class SqliteCursor : public CellCursor {
 public:
  // Cells with a sequence id up to `read_point`; with `only_row`, which outlives the cursor, of
  // that row only. Without `any_tombstones` the family has none. Gives the reader to `free` in the
  // end.
  SqliteCursor(std::unique_ptr<FamilyReader> reader, FreeReaders& free, SequenceId read_point,
               bool lengths_only, const std::string* only_row = nullptr,
               bool any_tombstones = true);
  ~SqliteCursor() override;

  // kCorruption where valid(): the cell does not match its checksum; Next goes on behind it. Not
  // valid: there is no way on from here.
  Status Seek(const CellPlace& place) override;
  Status SeekToRowBefore(std::string_view row) override;
  Status Next() override;
  bool valid() const override { return valid_; }
  const CellView& cell() const override { return stored_.cell; }
  Status LoadValue() override;
  void TakeValue(std::string* value) override;
  StatusOr<bool> MayHaveFamilyTombstones(std::string_view row) override;

 private:
  Status StepForward();  // to the next row of the statement that may be seen
  Status Load();         // the row's cell
  Status LoadPacked();   // and its value, or where that is, checked
  Status LoadReferenced();
  Status Damaged(std::string_view what) const;
  bool IsKnownAt(const CellPlace& place) const;
  CellsFrom FromHere() const;        // the statement for what is sought
  std::string_view RowHere() const;  // of the statement's present row

  std::unique_ptr<FamilyReader> reader_;
  FreeReaders& free_;
  const SequenceId read_point_;
  const bool lengths_only_;
  const std::string* const only_row_;
  const bool any_tombstones_;  // in the family

  Statement* cells_ = nullptr;  // running while valid_
  Statement* value_ = nullptr;  // at the value of the present cell, where that is not in its row
  CellsFrom from_ = CellsFrom::kRow;
  // What cells_ is bound to, and whether it still stands at the first cell from there.
  std::string row_, qualifier_;
  Timestamp timestamp_ = 0;
  bool at_first_ = false;
  std::string next_row_, next_qualifier_;  // a place while it is sought; it may lie in our own cell
  StoredCell stored_;
  std::string owned_;  // the value of the present cell, where it was long or compressed
  bool valid_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_SQLITE_CURSOR_H_
