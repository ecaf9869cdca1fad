// SPDX-License-Identifier: MIT
//
// StoreFileCursor: a set of the cells of a store file, in cell order.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_CURSOR_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_CURSOR_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file/cell_format.h"
#include "engine/file/store_file.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

class StoreFileCursor : public CellCursor {
 public:
  // Cells with a sequence id up to `read_point`; with `only_row`, which outlives the cursor, of
  // that row only. REQUIRES: the file has hidden cells, where these are asked for.
  StoreFileCursor(StoreFile::Lease file, CellSet set, SequenceId read_point, bool lengths_only,
                  std::optional<std::string_view> only_row = std::nullopt);
  ~StoreFileCursor() override;
  StoreFileCursor(const StoreFileCursor&) = delete;
  StoreFileCursor& operator=(const StoreFileCursor&) = delete;

  // kCorruption: there is no way on from here. Of LoadValue: Next goes on behind it.
  Status Seek(const CellPlace& place) override;
  Status SeekToRowBefore(std::string_view row) override;
  Status Next() override;
  bool valid() const override { return valid_; }
  const CellView& cell() const override { return stored_.cell; }
  Status LoadValue() override;
  void TakeValue(std::string* value) override;
  StatusOr<bool> MayHaveFamilyTombstones(std::string_view row) override;
  Timestamp newest() const override { return file_.facts().newest; }

 private:
  Status LoadSeen();  // the cell here, or the next one that may be seen
  Status Load();      // the cell here
  bool TakeValueAndLength(RecordReader& reader, std::string_view* value, int64_t* length) const;
  Status LoadReferenced();
  Status Damaged(std::string_view what) const;
  bool IsKnownAt(const CellPlace& place) const;

  StoreFile::Lease file_;
  const CellSet set_;
  const SequenceId read_point_;
  const bool lengths_only_;
  const std::optional<std::string_view> only_row_;

  CellTree* cells_ = nullptr;
  Statement* value_ = nullptr;  // at the value of the present cell, where that is not in its row
  // What was sought last, and whether it still stands at the first cell from there.
  std::string row_, qualifier_;
  Timestamp timestamp_ = 0;
  bool at_first_ = false;
  std::string next_row_, next_qualifier_;  // of a place, which may lie in our own cell
  StoredCell stored_;
  std::string owned_;        // the value of the present cell, where it was long or compressed
  char withdrawn_type_ = 0;  // the value of the present cell, where it is a withdrawal
  bool valid_ = false;
};

// The withdrawals of a file alone, or the tombstones of a set of its cells, from the first to the
// last: sought once, to its beginning.
std::unique_ptr<CellCursor> OpenWithdrawals(StoreFile::Lease file);
std::unique_ptr<CellCursor> OpenTombstones(StoreFile::Lease file, CellSet set);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_CURSOR_H_
