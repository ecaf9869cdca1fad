// SPDX-License-Identifier: MIT
//
// TableView: a version of a table up to a sequence id, for one read: which memstores and files can
// matter to it, and their cells as one cursor.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_VIEW_H_
#define CELLFS_ENGINE_LOCAL_TABLE_VIEW_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/local/table_version.h"
#include "engine/read.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// What a read looks at in one family; what is named outlives it.
struct ReadScope {
  std::optional<std::string_view> row;  // of this row only
  WantedColumns columns;                  // of that row
  TimeRange times;                      // whose puts are wanted
  bool raw = false;                     // also what is hidden or expired
  bool hidden_rows = false;             // also rows that have nothing else
  Timestamp now = 0;                    // decides what is expired
};

// Not thread-safe.
class TableView {
 public:
  TableView(TableVersionPtr version, SequenceId read_point)
      : version_(std::move(version)), read_point_(read_point) {}

  const std::shared_ptr<const TableSchema>& schema() const { return version_->schema; }
  // The cells that the scope needs, and maybe others. With lengths only, values are left out.
  // kNoSuchColumnFamily.
  StatusOr<std::unique_ptr<CellCursor>> OpenCursor(std::string_view family, bool lengths_only,
                                                   const ReadScope& scope) const;
  bool MayHaveTombstones() const;
  // Of the column; family tombstones lie in the column of the empty qualifier. Also such as have
  // been withdrawn.
  StatusOr<bool> MayHaveTombstones(std::string_view family, std::string_view row,
                                   std::string_view qualifier) const;

 private:
  // The files of the run that can matter.
  StatusOr<FileRun> PartOf(const FileRun& run, const FamilySchema& family,
                           const ReadScope& scope) const;
  StatusOr<bool> MayMatter(StoreFile& file, const FamilySchema& family,
                           const ReadScope& scope) const;
  // Those whose hidden cells can change the answer.
  FileRun WithHiddenThatMatter(const FileRun& run, const FamilySchema& family,
                               const ReadScope& scope, Timestamp oldest_in_memory) const;
  StatusOr<std::unique_ptr<CellCursor>> OpenSet(FileRun run, CellSet set, bool lengths_only,
                                                const ReadScope& scope) const;

  const TableVersionPtr version_;
  const SequenceId read_point_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_VIEW_H_
