// SPDX-License-Identifier: MIT
//
// What a Get or a Scan sees: row by row, family by family, column by column, and then what its
// filter makes of it (HBase's StoreScanner under NormalUserScanQueryMatcher and
// RawScanQueryMatcher, and RegionScannerImpl above it).
#ifndef CELLFS_ENGINE_MEMORY_NAIVE_READ_H_
#define CELLFS_ENGINE_MEMORY_NAIVE_READ_H_

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/memory/family_row.h"
#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs {

// Reads rows in the order in which it is asked for them; the filter remembers what it has seen.
class NaiveReader {
 public:
  NaiveReader(const Scan& scan, std::shared_ptr<const TableSchema> schema, int64_t max_row_size);

  // kDoNotRetry: a raw scan with columns; a reversed one that would load families on demand.
  Status Check() const;

  // The families whose cells make a row a row of this read; the others are only read for rows that
  // the filter has let through.
  bool IsEssential(const std::string& family) const;
  // True once no further row can come back.
  bool done() const { return done_; }

  // What comes back of a row, given its stored cells of all families; empty: nothing.
  // REQUIRES: an essential family has a cell in it.
  StatusOr<RowCells> ReadRow(const std::string& row,
                             const std::map<std::string, CellList>& families, Timestamp now);

 private:
  bool IsAsked(const std::string& family) const;
  Status ReadEssential(const std::map<std::string, CellList>& families, Timestamp now,
                       RowCells& result);
  Status ReadFamily(const std::string& family, const CellList& cells, Timestamp now,
                    RowCells& result);
  // The cells that the read would see without its filter, in order.
  CellList Visible(const FamilySchema& family, const CellList& cells, Timestamp now) const;
  Status Judge(const FamilySchema& family, const CellList& visible, RowCells& result);
  bool IsRowExcluded(RowCells& cells);
  void LeaveRow();

  const Scan scan_;
  const std::shared_ptr<const TableSchema> schema_;
  const int64_t max_row_size_;
  std::unique_ptr<Filter> filter_;
  std::set<std::string> closed_;  // families in which the filter has ended the scan
  bool done_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_NAIVE_READ_H_
